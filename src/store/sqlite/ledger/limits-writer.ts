import type { Database, Statement } from "bun:sqlite";
import { type BudgetSpan, budgetSpans } from "../../../call/limits.ts";
import type { BudgetSpend, LedgerStore, LimitsChange, LimitsSet } from "../../../ledger/store.ts";
import { prepareAudit } from "../../sql/audit.ts";
import { keptChanges } from "../../sql/feed.ts";
import { fromLimits } from "../../sql/ledger/limits-text.ts";
import { toFoldMark } from "../../sql/reports/fold-mark.ts";

/** Runs work as one transaction, as soon as no other is open, and `then` in the same turn. */
export type Exclusive = <T>(work: () => T, then: (result: T) => void) => Promise<void>;

/**
 * Limits are changed in one turn of the event loop, because a budget starts with what was spent in
 * its period: no receipt may be written between the sum and the moment from which calls count for
 * it. The sum is read from the days and hours that are kept of all receipts, with one index lookup
 * for each of them, so that the turn is short.
 */
export function createLimitsWriter(raw: Database, exclusive: Exclusive): LedgerStore["setLimits"] {
  let statements: Statements | undefined;
  return (change) => {
    // On first use: most commands that open the store change no limits.
    const prepared = (statements ??= prepare(raw));
    return exclusive((): LimitsSet => {
      const nowMs = change.nowMs();
      const version = writeLimits(prepared, change, nowMs);
      const budget = change.limits?.budget;
      const periods = budget === undefined ? [] : budgetSpans(budget.period, nowMs);
      return {
        version,
        nowMs,
        spends: periods.map((period) => writeSpend(prepared, change, period)),
      };
    }, change.onSet);
  };
}

type Statements = ReturnType<typeof prepare>;
type Value = string | number | bigint | null;

function writeLimits(
  { limitsOf, nextChange, addChange, dropChanges, addVersion, addAudit }: Statements,
  { owner, limits, audit }: LimitsChange,
  nowMs: number,
): number {
  const { accountId, keyId } = owner;
  const ownerId = keyId ?? accountId;
  const topic = keyId === undefined ? "accounts" : "keys";
  const text = fromLimits(limits);
  const version = limitsOf[topic].get(text, ownerId)?.version;
  if (version === undefined) throw new Error(`${ownerId} does not exist`);
  addVersion.run(ownerId, version, nowMs, text);
  nextChange.run();
  addChange.run(topic, ownerId);
  dropChanges.run();
  addAudit(audit);
  return version;
}

function writeSpend(
  { mark, ofAccount, ofKey, setSpend, dropSpend }: Statements,
  { owner, unwritten }: LimitsChange,
  { fromMs, toMs }: BudgetSpan,
): BudgetSpend {
  const { accountId, keyId } = owner;
  const folded = toFoldMark(mark.get()?.value);
  const sums = keyId === undefined ? ofAccount : ofKey;
  const values = {
    account: accountId,
    ...(keyId === undefined ? {} : { key: keyId }),
    from: fromMs,
    to: toMs,
  };
  const days = sums.days.get(values)?.charged ?? 0n;
  const hours =
    sums.hours.get({
      ...values,
      mark: folded.hourMs,
      markAccount: folded.accountId,
      markKey: folded.keyId,
    })?.charged ?? 0n;
  const spent = days + hours + unwritten({ accountId, keyId, fromMs, toMs });
  const ownerId = keyId ?? accountId;
  if (spent === 0n) dropSpend.run(ownerId, fromMs);
  else setSpend.run(ownerId, fromMs, spent);
  return { ownerId, periodStartMs: fromMs, spent };
}

function prepare(raw: Database) {
  const run = (sql: string): Statement<unknown, Value[]> => raw.query<unknown, Value[]>(sql);
  const limits = (table: "accounts" | "keys") =>
    raw.query<{ version: number }, Value[]>(
      `update ${table} set limits = ?, limits_version = limits_version + 1 where id = ?
        returning limits_version as version`,
    );
  return {
    limitsOf: { accounts: limits("accounts"), keys: limits("keys") },
    addVersion: run(
      "insert into limit_versions (owner_id, version, effective_at_ms, limits) values (?, ?, ?, ?)",
    ),
    nextChange: run("update feed set sequence = sequence + 1 where id = 1"),
    addChange: run(
      "insert into changes (sequence, topic, subject) select sequence, ?, ? from feed where id = 1",
    ),
    dropChanges: run(
      `delete from changes where sequence <= (select sequence from feed where id = 1) - ${keptChanges}`,
    ),
    addAudit: prepareAudit(raw),
    mark: raw.query<{ value: string }, []>(
      "select value from meta where key = 'rollups_folded_to_ms'",
    ),
    setSpend: run(
      "insert into budget_spends (owner_id, period_start_ms, spent) values (?, ?, ?) on conflict do update set spent = excluded.spent",
    ),
    dropSpend: run("delete from budget_spends where owner_id = ? and period_start_ms = ?"),
    ofAccount: sumsOf(raw, "account_id = $account"),
    ofKey: sumsOf(raw, "account_id = $account and key_id = $key"),
  };
}

type SumsOf = Statement<{ charged: bigint | null }, [Record<string, string | number>]>;

/** What is charged within [from, to): by days as far as there are days, and then by hours. */
function sumsOf(raw: Database, owner: string): { readonly days: SumsOf; readonly hours: SumsOf } {
  const query = (options: {
    readonly table: string;
    readonly column: string;
    readonly from: string;
    readonly and: string;
  }): SumsOf => {
    const { table, column, from, and } = options;
    // From one to the next that there is: its key begins with the time, and then the owner.
    return raw
      .query<{ charged: bigint | null }, [Record<string, string | number>]>(
        `with recursive times (at) as (
          select min(${column}) from ${table} where ${column} >= ${from}
          union all
          select (select min(${column}) from ${table} where ${column} > at) from times
            where at < $to)
        select sum((select sum(charged) from ${table} where ${column} = at and ${owner}${and})) as charged
          from times where at < $to`,
      )
      .safeIntegers(true);
  };
  return {
    days: query({ table: "rollup_days", column: "day_ms", from: "$from", and: "" }),
    hours: query({
      table: "rollups",
      column: "hour_ms",
      from: "max($from, $mark)",
      and: " and (at > $mark or (account_id, key_id) > ($markAccount, $markKey))",
    }),
  };
}
