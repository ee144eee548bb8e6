import {
  type LedgerReports,
  mostSteps,
  othersName,
  type UsageQuery,
} from "../../ledger/reports.ts";
import { dayMs, toDay, toHour } from "../../ledger/rollups.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { sumsByDay } from "./spend.ts";

/** What one model, key or account was charged for the calls that it began on one day of UTC. */
export interface DaySum {
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
  const { model: wanted, by, ...filter } = query;
  const pieces: DaySum[] = [];
  for await (const rollups of sumsByDay(ledger, filter))
    for (const { hourMs, accountId, keyId, model, receipts, charged } of rollups) {
      if (wanted !== undefined && model !== wanted) continue;
      const name = by === "model" ? model : by === "key" ? keyId : accountId;
      pieces.push({ dayMs: toDay(hourMs), name, receipts, charged });
    }
  return pieces;
}

/**
 * Off this thread. The first day may be a part of one: its hours are asked for. Undefined where
 * there are more names than a chart shows: here each has to be told.
 */
async function fromReports(
  reports: Pick<LedgerReports, "usage">,
  { fromMs, toMs, ...rest }: DayQuery,
): Promise<readonly DaySum[] | undefined> {
  const wholeMs = Math.min(toDay(fromMs + dayMs - 1), toMs);
  const spans: Pick<UsageQuery, "grain" | "fromMs" | "toMs">[] = [];
  if (fromMs < wholeMs) spans.push({ grain: "hour", fromMs: toHour(fromMs), toMs: wholeMs });
  for (let startMs = wholeMs; startMs < toMs; startMs += mostSteps * dayMs) {
    const endMs = Math.min(toMs, startMs + mostSteps * dayMs);
    spans.push({ grain: "day", fromMs: startMs, toMs: endMs });
  }
  const pieces: DaySum[] = [];
  for (const span of spans)
    for (const point of await reports.usage({ ...rest, ...span })) {
      const { startMs, name, receipts, charged } = point;
      if (name === othersName) return undefined;
      pieces.push({ dayMs: toDay(startMs), name, receipts, charged });
    }
  return pieces;
}

export const toDayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);
