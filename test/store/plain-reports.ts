import { idTimeMs } from "../../src/base/ids.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { replyStatus } from "../../src/ledger/reply-status.ts";
import {
  latencyBoundsMs,
  mostListed,
  mostNames,
  othersName,
  type ReceiptQuery,
  type UsagePoint,
  type UsageQuery,
} from "../../src/ledger/reports.ts";

/** Reports in the plainest way, out of a list of receipts: what real ones are compared with. */
const stepsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const isFailure = ({ outcome }: Receipt) => outcome !== "ok" && outcome !== "left";

export function receiptsOf(
  receipts: readonly Receipt[],
  query: Omit<ReceiptQuery, "limit">,
): readonly Receipt[] {
  const is = (wanted: string | undefined, value: string | undefined) =>
    wanted === undefined || wanted === value;
  return receipts
    .filter(
      (receipt) =>
        is(query.accountId, receipt.accountId) &&
        is(query.keyId, receipt.keyId) &&
        is(query.model, receipt.model) &&
        is(query.endpoint, receipt.endpoint) &&
        is(query.dialect, receipt.dialect) &&
        is(query.provider, receipt.provider) &&
        (query.outcome === "failed" ? isFailure(receipt) : is(query.outcome, receipt.outcome)) &&
        (query.status === undefined || replyStatus(receipt) === query.status) &&
        receipt.id.startsWith(query.idPrefix ?? "") &&
        idTimeMs(receipt.id) >= (query.fromMs ?? 0) &&
        idTimeMs(receipt.id) < (query.toMs ?? Number.POSITIVE_INFINITY),
    )
    .toSorted((one, other) => (one.id < other.id === (query.oldestFirst === true) ? -1 : 1));
}

export function usageOf(receipts: readonly Receipt[], query: UsageQuery): readonly UsagePoint[] {
  const stepMs = stepsMs[query.grain];
  const { accountId, keyId, model } = query;
  const firstMs = Math.floor(query.fromMs / stepMs) * stepMs;
  const stepStart = ({ id }: Receipt) => Math.floor(idTimeMs(id) / stepMs) * stepMs;
  const isIn = (receipt: Receipt) =>
    query.dayOffsets === undefined
      ? stepStart(receipt) >= firstMs && stepStart(receipt) < query.toMs
      : idTimeMs(receipt.id) >= query.fromMs && idTimeMs(receipt.id) < query.toMs;
  const startOf = (receipt: Receipt) => {
    if (query.isWhole === true) return query.fromMs;
    const atMs = idTimeMs(receipt.id);
    const offset = query.dayOffsets?.findLast(({ fromMs }) => fromMs <= atMs)?.offsetMs ?? 0;
    return Math.floor((atMs + offset) / stepMs) * stepMs;
  };
  const some = receiptsOf(receipts, { accountId, keyId, model }).filter(isIn);
  const nameOf = (receipt: Receipt) =>
    ({ none: "", model: receipt.model, key: receipt.keyId, account: receipt.accountId })[query.by];
  const totals = Object.entries(Object.groupBy(some, nameOf)).map(([name, all = []]) => ({
    name,
    charged: all.reduce((sum, { charged }) => sum + charged, 0n),
    receipts: all.length,
  }));
  totals.sort(
    (one, other) =>
      Number(other.charged > one.charged) - Number(other.charged < one.charged) ||
      other.receipts - one.receipts ||
      (one.name < other.name ? -1 : 1),
  );
  const kept = new Set(
    totals.slice(0, query.isWhole === true ? mostListed : mostNames).map(({ name }) => name),
  );
  const shown = (receipt: Receipt) => (kept.has(nameOf(receipt)) ? nameOf(receipt) : othersName);
  const groups = Map.groupBy(some, (receipt) => JSON.stringify([startOf(receipt), shown(receipt)]));
  return [...groups.values()]
    .flatMap((all) => {
      const [first] = all;
      return first === undefined
        ? []
        : [{ startMs: startOf(first), name: shown(first), ...countedOf(all) }];
    })
    .toSorted((one, other) => one.startMs - other.startMs || (one.name < other.name ? -1 : 1));
}

function countedOf(all: readonly Receipt[]): Omit<UsagePoint, "startMs" | "name"> {
  const sum = (value: (receipt: Receipt) => number) =>
    all.reduce((total, receipt) => total + value(receipt), 0);
  const counts = (times: readonly number[]) =>
    [...latencyBoundsMs, Number.POSITIVE_INFINITY].map(
      (end, at, ends) =>
        times.filter((ms) => ms <= end && (at === 0 || ms > (ends[at - 1] ?? 0))).length,
    );
  const durations = all.map(({ durationMs }) => durationMs);
  const firstBytes = all
    .filter(({ firstByteMs: ms, durationMs }) => ms !== undefined && ms < durationMs)
    .map(({ firstByteMs }) => firstByteMs ?? 0);
  return {
    receipts: all.length,
    failures: all.filter(isFailure).length,
    inputTokens: sum(
      ({ units }) => (units.input ?? 0) + (units.cached_input ?? 0) + (units.cache_write ?? 0),
    ),
    outputTokens: sum(({ units }) => (units.output ?? 0) + (units.audio_output ?? 0)),
    charged: all.reduce((total, { charged }) => total + charged, 0n),
    shortestMs: Math.min(...durations),
    longestMs: Math.max(...durations),
    shortestFirstByteMs: Math.min(...firstBytes, Number.MAX_SAFE_INTEGER),
    longestFirstByteMs: Math.max(...firstBytes, 0),
    durations: counts(durations),
    firstBytes: counts(firstBytes),
  };
}
