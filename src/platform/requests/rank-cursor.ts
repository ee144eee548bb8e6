import { invalid } from "../../base/problem.ts";
import type { RankMark } from "../../ledger/reports.ts";

/** Opaque to callers: where a page sorted by an amount ended. */
export const toRankCursor = ({ value, id, newestId }: RankMark) => `${value}.${id}.${newestId}`;

/** Of an amount in the database. */
const most = 2n ** 63n - 1n;
const shape = /^(\d{1,19})\.(req_[\w-]{1,50})\.(req_[\w-]{1,50})$/;

export function fromRankCursor(text: string): RankMark {
  const [, value, id, newestId] = shape.exec(text) ?? [];
  if (value === undefined || id === undefined || newestId === undefined || BigInt(value) > most)
    throw invalid({ after: "after must be the cursor of a page with the same sort." });
  return { value: BigInt(value), id, newestId };
}
