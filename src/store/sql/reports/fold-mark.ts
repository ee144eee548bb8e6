import type { FoldMark } from "../../../ledger/rollups.ts";
import type { SqlReader } from "./sql-reader.ts";

/** As `meta` has it: an hour and, in the middle of one, the account and key that were the last. */
export function toFoldMark(text: string | undefined): FoldMark {
  const [hour = "0", accountId = "", keyId = ""] = (text ?? "0").split(" ");
  return { hourMs: Number(hour), accountId, keyId };
}

export const foldMarkSql = "select value from meta where key = 'rollups_folded_to_ms'";

export async function readFoldMark(reader: SqlReader): Promise<FoldMark> {
  const [row] = await reader.rows<{ value: string }>(foldMarkSql);
  return toFoldMark(row?.value);
}
