import { localMs, type ZoneOffset } from "../../base/time-zone.ts";
import {
  type LedgerReports,
  mostHours,
  mostSteps,
  othersName,
  type UsageQuery,
} from "../../ledger/reports.ts";
import {
  dayMs,
  hourMs,
  mergeInto,
  type Rollup,
  type RollupFilter,
  toDay,
  toHour,
} from "../../ledger/rollups.ts";
import type { LedgerStore } from "../../ledger/store.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";

/** From the hour of a moment until another; a day at a time, so that calls are not held up. */
export async function* sumsByDay(
  ledger: LedgerStore,
  filter: RollupFilter & { readonly fromMs: number; readonly toMs: number },
): AsyncGenerator<readonly Rollup[]> {
  const { toMs } = filter;
  for (let fromMs = toHour(filter.fromMs); fromMs < toMs; fromMs += dayMs) {
    yield await ledger.rollups.list({ ...filter, fromMs, toMs: Math.min(fromMs + dayMs, toMs) });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type NamedSum = readonly [name: string, sum: Rollup];

/** Adds rows up by a name of each. */
export class SumsBy {
  readonly #nameOf: (rollup: Rollup) => string;
  readonly #sums = new Map<string, Rollup>();

  constructor(nameOf: (rollup: Rollup) => string) {
    this.#nameOf = nameOf;
  }

  add(rollup: Rollup): void {
    const name = this.#nameOf(rollup);
    const known = this.#sums.get(name);
    if (known === undefined) this.#sums.set(name, { ...rollup });
    else mergeInto(known, rollup);
  }

  /** In the order in which they first came. */
  get all(): readonly NamedSum[] {
    return [...this.#sums];
  }

  get dearestFirst(): readonly NamedSum[] {
    return this.all.toSorted(([, { charged: one }], [, { charged: other }]) =>
      one < other ? 1 : one > other ? -1 : 0,
    );
  }
}

/** What one model, key or account was charged for the calls that it began on one day. */
export interface DaySum {
  /** The midnight of its date in UTC, whatever zone it is a day of. */
  readonly dayMs: number;
  readonly name: string;
  readonly receipts: number;
  readonly charged: bigint;
}

export interface DayQuery {
  readonly accountId?: string;
  readonly model?: string;
  /** From the hour of this moment on. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly by: "model" | "key" | "account";
  /** Of days of another zone than UTC, from `fromMs` on, which is the start of one of them. */
  readonly dayOffsets?: readonly ZoneOffset[] | undefined;
}

type Dependencies = Pick<MoneyDependencies, "ledger" | "money">;

/** Sums by day and name, as far as they are written; each pair once. */
export async function daySums(
  dependencies: Dependencies,
  query: DayQuery,
): Promise<readonly DaySum[]> {
  const { reports } = dependencies.money ?? {};
  const told = reports && (await fromReports(reports, query));
  const sums = new Map<string, DaySum>();
  for (const { dayMs: day, name, receipts, charged } of told ??
    (await fromRollups(dependencies, query))) {
    const known = sums.get(`${day} ${name}`) ?? { receipts: 0, charged: 0n };
    sums.set(`${day} ${name}`, {
      dayMs: day,
      name,
      receipts: known.receipts + receipts,
      charged: known.charged + charged,
    });
  }
  return [...sums.values()];
}

async function fromRollups({ ledger }: Dependencies, query: DayQuery): Promise<readonly DaySum[]> {
  const { model: wanted, by, dayOffsets = [], ...filter } = query;
  const pieces: DaySum[] = [];
  for await (const rollups of sumsByDay(ledger, filter))
    for (const { hourMs: atMs, accountId, keyId, model, receipts, charged } of rollups) {
      if (wanted !== undefined && model !== wanted) continue;
      const name = by === "model" ? model : by === "key" ? keyId : accountId;
      pieces.push({ dayMs: toDay(localMs(atMs, dayOffsets)), name, receipts, charged });
    }
  return pieces;
}

/**
 * Off this thread. The first day may be a part of one: its hours are asked for. Undefined where
 * there are more names than a chart shows: here each has to be told.
 */
async function fromReports(
  reports: Pick<LedgerReports, "usage">,
  { fromMs, toMs, dayOffsets, ...rest }: DayQuery,
): Promise<readonly DaySum[] | undefined> {
  const spans =
    dayOffsets === undefined ? utcSpans(fromMs, toMs) : zoneSpans({ fromMs, toMs, dayOffsets });
  const pieces: DaySum[] = [];
  for (const span of spans)
    for (const point of await reports.usage({ ...rest, ...span })) {
      const { startMs, name, receipts, charged } = point;
      if (name === othersName) return undefined;
      pieces.push({ dayMs: toDay(startMs), name, receipts, charged });
    }
  return pieces;
}

type ReadSpan = Pick<UsageQuery, "grain" | "fromMs" | "toMs" | "dayOffsets">;

function utcSpans(fromMs: number, toMs: number): readonly ReadSpan[] {
  const wholeMs = Math.min(toDay(fromMs + dayMs - 1), toMs);
  const spans: ReadSpan[] = [];
  if (fromMs < wholeMs) spans.push({ grain: "hour", fromMs: toHour(fromMs), toMs: wholeMs });
  for (let startMs = wholeMs; startMs < toMs; startMs += mostSteps * dayMs) {
    const endMs = Math.min(toMs, startMs + mostSteps * dayMs);
    spans.push({ grain: "day", fromMs: startMs, toMs: endMs });
  }
  return spans;
}

/** Days of a zone are read by their hours; a day that two spans share is added up by its date. */
function zoneSpans(
  of: Required<Pick<DayQuery, "fromMs" | "toMs">> & {
    readonly dayOffsets: readonly ZoneOffset[];
  },
): readonly ReadSpan[] {
  const { toMs, dayOffsets } = of;
  const spans: ReadSpan[] = [];
  for (let fromMs = of.fromMs; fromMs < toMs; fromMs += mostHours * hourMs) {
    const endMs = Math.min(toMs, fromMs + mostHours * hourMs);
    spans.push({ grain: "day", fromMs, toMs: endMs, dayOffsets });
  }
  return spans;
}

export const toDayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);
