import type { Rejection, RejectionBatch, RejectionCount } from "../../../rejections/rejection.ts";
import type { Tables } from "../../sql/schema.ts";

/*
 * One statement must not name a row twice, and all processes must name rows in one order. What has
 * the same key is added up here, and sorted by it.
 */

export function toRows(rejections: readonly Rejection[]): readonly Tables["rejections"][] {
  const byId = new Map<string, Tables["rejections"]>();
  for (const { accountId, keyId, count, ...rest } of rejections) {
    const known = byId.get(rest.id)?.count ?? 0;
    byId.set(rest.id, { ...rest, account_id: accountId, key_id: keyId, count: known + count });
  }
  return sorted(byId);
}

const hourMs = 3_600_000;

export function toCounts(
  counts: readonly RejectionCount[],
  grain: "minute" | "hour",
): readonly Tables["rejection_minutes"][] {
  const byKey = new Map<string, Tables["rejection_minutes"]>();
  for (const { minuteMs, accountId, keyId, model, code, status, count } of counts) {
    const startMs = grain === "minute" ? minuteMs : minuteMs - (minuteMs % hourMs);
    const key = JSON.stringify([startMs, accountId, keyId, model, code, status]);
    const known = byKey.get(key)?.count ?? 0;
    byKey.set(key, {
      start_ms: startMs,
      account_id: accountId,
      key_id: keyId,
      model,
      code,
      status,
      count: known + count,
    });
  }
  return sorted(byKey);
}

export function toKeys(keys: RejectionBatch["keys"]): RejectionBatch["keys"] {
  const byId = new Map<string, RejectionBatch["keys"][number]>();
  for (const key of keys) {
    const known = byId.get(key.keyId);
    if (known === undefined || known.lastMs < key.lastMs) byId.set(key.keyId, key);
  }
  return sorted(byId);
}

const sorted = <T>(byKey: ReadonlyMap<string, T>): readonly T[] =>
  [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
