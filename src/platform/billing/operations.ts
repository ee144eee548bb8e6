import { toDateText } from "../../base/dates.ts";
import type { Freshness } from "../../base/freshness.ts";
import { toUsd } from "../../base/money.ts";
import { invalid } from "../../base/problem.ts";
import {
  dayStart,
  hasWholeHours,
  localMs,
  type ZoneOffset,
  zoneOffsets,
} from "../../base/time-zone.ts";
import { periodEndMs, periodStartMs } from "../../call/limits.ts";
import type { Account } from "../../ledger/account.ts";
import { dayMs, toDay, toHour } from "../../ledger/rollups.ts";
import type { Entry } from "../../ledger/store.ts";
import { closeSums, fundsOf, type MoneyDependencies } from "../accounts/funds.ts";
import type { SpendView } from "../accounts/schemas.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { toTimeZone } from "../input/days.ts";
import { findAccount } from "../input/values.ts";
import { type DaySum, daySums, toDayText } from "../reports/sums.ts";
import { paceDays, toForecast } from "./forecast.ts";
import type { BillingView, LedgerLine, LedgerPage } from "./schemas.ts";

export interface BillingOperations {
  /** Balance, ledger lines of a month (default: this month), spend and forecast of an account. */
  show(input: {
    account: string;
    month?: string | undefined;
    time_zone?: string | undefined;
  }): Promise<BillingView>;
}

export const billingAudits = { show: null } satisfies Audits<BillingOperations>;

export function billingOperations(
  dependencies: MoneyDependencies,
): Unbound<BillingOperations, typeof billingAudits> {
  return {
    async show({ account: name, month, time_zone }) {
      const found = await findAccount(dependencies.accounts, name);
      const realMs = dependencies.clock.nowMs();
      const zone = zoneOf({ name: time_zone, fromMs: found.createdAtMs, toMs: realMs });
      // From here on, times are what the clocks of the zone show.
      const nowMs = zone.local(realMs);
      const account = { ...found, createdAtMs: zone.local(found.createdAtMs) };
      const thisMonthMs = periodStartMs("month", nowMs);
      const monthMs = month === undefined ? thisMonthMs : readMonth({ month, account, nowMs });
      const { held } = await fundsOf(dependencies, account.id);
      const books = await readBooks(dependencies, account, {
        zone,
        fromMs: Math.min(monthMs, toDay(nowMs) - paceDays * dayMs),
        toMs: toDay(nowMs) + dayMs,
      });
      const { balance, sums } = books;
      const free = balance - held;
      const spent = sumUp(sums.filter((sum) => sum.dayMs >= thisMonthMs));
      return {
        account: account.id,
        time_zone: zone.timeZone,
        ...books.freshness,
        balance_usd: toUsd(balance),
        held_usd: toUsd(held),
        // A call that is being settled may be counted in both for a moment.
        free_usd: toUsd(free < 0n ? 0n : free),
        ledger: toPage({ books, account, monthMs, nowMs }),
        spend: {
          month: toMonthText(thisMonthMs),
          ...toSpend(spent),
          by_model: byModel(sums.filter((sum) => sum.dayMs >= thisMonthMs)),
        },
        ...toForecast({ account, balance, spent: spent.charged, sums, nowMs, realMs }),
      };
    },
  };
}

const readTries = 5;

interface LocalEntry extends Entry {
  readonly localMs: number;
}

/** A zone whose days hours add up to; else UTC. */
interface Zone {
  readonly timeZone: string;
  readonly local: (atMs: number) => number;
  /** The offsets from a moment on; undefined where they are none. */
  readonly offsetsFrom: (atMs: number) => readonly ZoneOffset[] | undefined;
}

function zoneOf(of: {
  readonly name: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}): Zone {
  const timeZone = toTimeZone(of.name);
  // A month before the account, for what the forecast looks back at.
  const fromMs = toHour(of.fromMs) - 40 * dayMs;
  const offsets = zoneOffsets({ timeZone, fromMs, toMs: toHour(of.toMs) + 2 * dayMs });
  if (timeZone === "UTC" || !hasWholeHours(offsets))
    return { timeZone: "UTC", local: (atMs) => atMs, offsetsFrom: () => undefined };
  return {
    timeZone,
    local: (atMs) => localMs(atMs, offsets),
    offsetsFrom: (atMs) => {
      const at = offsets.findLastIndex((one) => one.fromMs <= atMs);
      const [first, ...later] = offsets.slice(Math.max(0, at));
      return first === undefined ? undefined : [{ ...first, fromMs: atMs }, ...later];
    },
  };
}

interface Books {
  readonly freshness: Freshness;
  readonly balance: bigint;
  /** When they were made is local. */
  readonly entries: readonly LocalEntry[];
  /** By day and model. */
  readonly sums: readonly DaySum[];
}

/**
 * The balance is that of the store, which is the sum of the same entries and sums: where some were
 * written while they were read, they are read again.
 */
async function readBooks(
  dependencies: MoneyDependencies,
  { id }: Account,
  span: { readonly zone: Zone; readonly fromMs: number; readonly toMs: number },
): Promise<Books> {
  const { ledger } = dependencies;
  const { zone } = span;
  const [fromMs, toMs] = [span.fromMs, span.toMs].map((ms) =>
    dayStart(toDayText(ms), zone.timeZone),
  ) as [number, number];
  const query = { accountId: id, fromMs, toMs, dayOffsets: zone.offsetsFrom(fromMs) };
  const freshness = await closeSums(dependencies, id);
  for (let tries = 1; ; tries++) {
    const before = await ledger.lease(id);
    const sums = await daySums(dependencies, { ...query, by: "model" });
    const entries = (await ledger.entries(id)).map((entry) => ({
      ...entry,
      localMs: zone.local(entry.createdAtMs),
    }));
    const { granted, spent } = (await ledger.lease(id)) ?? { granted: 0n, spent: 0n };
    const isStill = before?.granted === granted && before.spent === spent;
    if (isStill || tries === readTries)
      return { freshness, balance: granted - spent, entries, sums };
  }
}

interface PageOptions {
  readonly books: Books;
  readonly account: Account;
  readonly monthMs: number;
  readonly nowMs: number;
}

/** Goes back from the balance of now: no more is read than what came since. */
function toPage({ books, account, monthMs, nowMs }: PageOptions): LedgerPage {
  const endMs = periodEndMs("month", monthMs);
  let balance = books.balance;
  let closing = balance;
  const lines: LedgerLine[] = [];
  for (const move of movesSince(books, monthMs)) {
    if (move.atMs < endMs) lines.push({ ...move.line, balance_usd: toUsd(balance) });
    balance -= move.nano;
    if (move.atMs >= endMs) closing = balance;
  }
  const firstMs = periodStartMs("month", account.createdAtMs);
  return {
    month: toMonthText(monthMs),
    previous_month: monthMs <= firstMs ? null : toMonthText(periodStartMs("month", monthMs - 1)),
    next_month: endMs > nowMs ? null : toMonthText(endMs),
    opening_usd: toUsd(balance),
    closing_usd: toUsd(closing),
    lines,
  };
}

interface Move {
  readonly atMs: number;
  readonly nano: bigint;
  readonly line: Omit<LedgerLine, "balance_usd">;
}

/** The newest first. */
function movesSince({ entries, sums }: Books, fromMs: number): readonly Move[] {
  const entered = entries
    .filter((entry) => entry.localMs >= fromMs)
    .toSorted((one, other) => one.createdAtMs - other.createdAtMs)
    .map((entry) => ({ day: toDay(entry.localMs), rank: 0, move: fromEntry(entry) }));
  const used = sums
    .filter((sum) => sum.dayMs >= fromMs)
    .toSorted((one, other) => byCharge(other, one))
    .map((sum) => ({ day: sum.dayMs, rank: 1, move: fromSum(sum) }));
  return [...entered, ...used]
    .toSorted((one, other) => one.day - other.day || one.rank - other.rank)
    .map(({ move }) => move)
    .toReversed();
}

function fromEntry({ kind, nano, createdAtMs, localMs: atMs, ...rest }: LocalEntry): Move {
  const { reference, note } = rest;
  const at = toDateText(createdAtMs);
  const what = { reference, note, model: null, receipts: null };
  return { atMs, nano, line: { kind, at, amount_usd: toUsd(nano), ...what } };
}

function fromSum({ dayMs: atMs, name: model, receipts, charged }: DaySum): Move {
  const at = toDayText(atMs);
  const what = { reference: null, note: null, model, receipts };
  return {
    atMs,
    nano: -charged,
    line: { kind: "usage", at, amount_usd: toUsd(-charged), ...what },
  };
}

type Spent = Pick<DaySum, "receipts" | "charged">;

const toSpend = ({ receipts, charged }: Spent): SpendView => ({
  receipts,
  charged_usd: toUsd(charged),
});

function sumUp(sums: readonly Spent[]): Spent {
  return sums.reduce(
    (total, { receipts, charged }) => ({
      receipts: total.receipts + receipts,
      charged: total.charged + charged,
    }),
    { receipts: 0, charged: 0n },
  );
}

/** The dearest first, then by name. */
function byCharge(one: Omit<DaySum, "dayMs">, other: Omit<DaySum, "dayMs">): number {
  if (one.charged !== other.charged) return one.charged > other.charged ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}

function byModel(sums: readonly DaySum[]): BillingView["spend"]["by_model"] {
  const models = Map.groupBy(sums, ({ name }) => name);
  return [...models]
    .map(([name, of]) => ({ name, ...sumUp(of) }))
    .toSorted(byCharge)
    .map(({ name, ...spent }) => ({ model: name, ...toSpend(spent) }));
}

const toMonthText = (ms: number) => new Date(ms).toISOString().slice(0, 7);

function readMonth(options: {
  readonly month: string;
  readonly account: Account;
  readonly nowMs: number;
}): number {
  const { month, account, nowMs } = options;
  const ms = /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? Date.parse(`${month}-01`) : Number.NaN;
  const firstMs = periodStartMs("month", account.createdAtMs);
  if (ms >= firstMs && ms <= nowMs) return ms;
  throw invalid({
    month: `The month must be from ${toMonthText(firstMs)} to ${toMonthText(nowMs)}, in the form YYYY-MM, not "${month}".`,
  });
}
