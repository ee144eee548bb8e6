import { sql } from "kysely";
import { idFloor } from "../../base/ids.ts";
import type { LostTail } from "../../ledger/store.ts";
import { readMeta, writeMeta } from "./meta.ts";
import type { Db } from "./schema.ts";

/** The newest of what the database has confirmed; kept outside of it, to be compared with it. */
export interface LedgerMark {
  /** A receipt of the newest commit with receipts; "" where there was none. */
  readonly receiptId: string;
  /** The number of the newest change. */
  readonly sequence: number;
}

/** More losses than that say nothing new. */
const maxKept = 20;

/** What the mark knows of and the database lacks; undefined when nothing is missing. */
export async function findLostTail(
  db: Db,
  mark: LedgerMark | undefined,
  nowMs: number,
): Promise<LostTail | undefined> {
  if (mark === undefined) return undefined;
  const { rows } = await sql<{
    has_receipt: number | boolean;
    kept_from_ms: number | null;
    sequence: number;
  }>`select
    exists (select 1 from receipts where id = ${mark.receiptId}) as has_receipt,
    (select max(kept_from_ms) from receipt_marks) as kept_from_ms,
    (select sequence from feed where id = 1) as sequence`.execute(db);
  const [found] = rows;
  const keptFromMs = found?.kept_from_ms ?? 0;
  const isKept = keptFromMs === 0 || mark.receiptId >= idFloor("req", keptFromMs);
  const isReceiptLost = mark.receiptId !== "" && isKept && Number(found?.has_receipt) !== 1;
  const isChangeLost = mark.sequence > (found?.sequence ?? 0);
  if (!isReceiptLost && !isChangeLost) return undefined;
  return {
    receiptId: isReceiptLost ? mark.receiptId : "",
    sequence: isChangeLost ? mark.sequence : 0,
    foundAtMs: nowMs,
  };
}

export async function readLostTails(db: Db): Promise<readonly LostTail[]> {
  const text = await readMeta(db, "lost_tails");
  return text === undefined ? [] : JSON.parse(text);
}

/** In the database: the next mark no longer shows it. */
export async function rememberLostTail(db: Db, lost: LostTail): Promise<void> {
  const known = await readLostTails(db);
  if (known.some((one) => isSame(one, lost))) return;
  await writeMeta(db, "lost_tails", JSON.stringify([...known, lost].slice(0, maxKept)));
}

export const isSame = (one: LostTail, other: LostTail) =>
  one.receiptId === other.receiptId && one.sequence === other.sequence;
