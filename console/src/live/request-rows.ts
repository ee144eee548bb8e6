import type { Reply } from "../api.ts";

export type RequestRow = Reply<"GET /api/requests">["requests"][number];

/** Each once, the newest first: an id begins with the time at which its request began. */
export function mergeRows(
  fresh: readonly RequestRow[],
  loaded: readonly RequestRow[],
): readonly RequestRow[] {
  const byId = new Map([...loaded, ...fresh].map((row) => [row.id, row]));
  return [...byId.values()].toSorted((one, other) =>
    one.id === other.id ? 0 : one.id > other.id ? -1 : 1,
  );
}
