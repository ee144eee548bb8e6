import type { Pool } from "pg";
import {
  budgetName,
  type LeaseStore,
  LeasesClosedError,
  type Loan,
  type Want,
} from "../../../ledger/lease-store.ts";
import { deadlines } from "../deadlines.ts";
import { query } from "../query.ts";

interface Answer {
  readonly owner: string;
  readonly period?: number;
  readonly granted: string;
  readonly free: string;
  readonly elsewhere: string;
  readonly silent: string;
  readonly is_stale?: true;
}

/** Who has not renewed its epoch for so long is not waited for. */
export const silentAfter = "2 seconds";
const answerMs = deadlines.statement;

export function createLeaseStore(pool: Pool, epoch: number): LeaseStore {
  const call = async (text: string, rows: readonly object[], ...more: readonly unknown[]) => {
    const json = JSON.stringify(rows, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    const [row] = await query<{ answers: readonly Answer[] | null }>(pool, {
      text,
      values: [epoch, json, ...more],
      answerMs,
      isOrdered: true,
    });
    if (row === undefined || row.answers === null)
      throw new LeasesClosedError("the epoch is closed");
    return row.answers;
  };
  return {
    async lend(requests) {
      const answers = await call(
        "select svc_lend($1, $2, $3) as answers",
        requests.map(({ accountId, ...want }) => ({ account: accountId, ...toRow(want) })),
        silentAfter,
      );
      return new Map(answers.map((one) => [one.owner, toLoan(one)]));
    },
    async lendBudgets(requests) {
      const answers = await call(
        "select svc_lend_budgets($1, $2, $3) as answers",
        requests.map(({ ownerId, isKey, periodStartMs, version, nano, ...want }) => ({
          owner: ownerId,
          is_key: isKey,
          period: periodStartMs,
          version,
          nano,
          ...toRow(want),
        })),
        silentAfter,
      );
      return new Map(
        answers.flatMap((one) =>
          one.is_stale === true ? [] : [[nameOf(one), toLoan(one)] as const],
        ),
      );
    },
    async giveBack(rows) {
      await call(
        "select svc_give_back($1, $2) as answers",
        rows.map(({ accountId, nano }) => ({ account: accountId, nano })),
      );
    },
    async giveBackBudgets(rows) {
      await call(
        "select svc_give_back_budgets($1, $2) as answers",
        rows.map(({ ownerId, periodStartMs, nano }) => ({
          owner: ownerId,
          period: periodStartMs,
          nano,
        })),
      );
    },
  };
}

const toRow = ({ need, least, isLast }: Want) => ({ need, least, is_last: isLast });

const nameOf = ({ owner, period = 0 }: Answer) => budgetName(owner, period);

const toLoan = ({ granted, free, elsewhere, silent }: Answer): Loan => ({
  granted: BigInt(granted),
  free: BigInt(free),
  elsewhere: BigInt(elsewhere),
  silent: BigInt(silent),
});
