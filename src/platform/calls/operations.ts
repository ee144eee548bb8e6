import type { Clock } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/problem.ts";
import type { KeyStore } from "../../keys/directory.ts";
import type { AccountStore } from "../../ledger/account.ts";
import { Minutes } from "../../ledger/minutes.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import type { LedgerReports, ReceiptQuery } from "../../ledger/reports.ts";
import type { Rejection, RejectionReports } from "../../rejections/rejection.ts";
import type { MoneyDependencies, RunningMoney } from "../accounts/funds.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { accountNames, findAccount, toPastMoment } from "../input/values.ts";
import { type CallSources, type RecentCall, RecentCalls } from "./recent-calls.ts";
import { type CallView, fromReceipt, fromRejection } from "./views.ts";

export interface CallFilter {
  /** Id or name. */
  account?: string | undefined;
  key?: string | undefined;
  model?: string | undefined;
  dialect?: string | undefined;
  code?: string | undefined;
  /** Only rejected calls, or with `failed`: both kinds. */
  rejected?: boolean;
  /** Only admitted calls that failed, or with `rejected`: both kinds. */
  failed?: boolean;
}

export interface CallNewsView {
  /** Oldest first. */
  readonly calls: readonly CallView[];
  /** For the next question. */
  readonly after: number;
  /** Calls that were dropped because too many came at once. */
  readonly missed: number;
}

export interface CallOperations {
  /** Admitted and rejected calls by time, newest first. `since`: a date, or a duration such as `1h`. */
  list(input: CallFilter & { since?: string; limit?: number }): Promise<readonly CallView[]>;
  /** Calls that ended or were rejected since the last question. Needs a running server. */
  news(input: CallFilter & { after?: number }): Promise<CallNewsView>;
}

export const callAudits = { list: null, news: null } satisfies Audits<CallOperations>;

type Reports = Pick<LedgerReports, "receipts"> & Pick<RejectionReports, "rejections">;

export interface CallDependencies extends Pick<MoneyDependencies, "accounts" | "clock" | "money"> {
  readonly keys: KeyStore;
  /** Calls of all processes as they end, where several share the store. */
  readonly callSources?: CallSources | undefined;
  /** Reads what is stored, for a command that has opened the store itself. */
  readonly openReports: (options: {
    readonly clock: Clock;
    readonly flush: () => Promise<void>;
    readonly minutes: Minutes;
  }) => Reports & Pick<LedgerReports, "close">;
}

export const mostCalls = 1_000;
const usualCalls = 50;

export function callOperations(
  dependencies: CallDependencies,
): Unbound<CallOperations, typeof callAudits> {
  const { accounts, clock, money } = dependencies;
  const sources = dependencies.callSources ?? (money && sourcesOf(money));
  const recent = sources && new RecentCalls(sources);
  return {
    async list({ since, limit = usualCalls, ...filter }) {
      if (!(Number.isInteger(limit) && limit >= 1 && limit <= mostCalls))
        throw invalid({ limit: `limit must be a whole number between 1 and ${mostCalls}.` });
      const query = {
        accountId: await accountIdOf(accounts, filter.account),
        keyId: filter.key,
        model: filter.model,
        dialect: filter.dialect,
        fromMs:
          since === undefined
            ? undefined
            : toPastMoment({ text: since, field: "since", nowMs: clock.nowMs() }),
        limit,
      };
      const read = async (reports: Reports) => {
        const { admitted, rejected } = kindsOf(filter);
        const [receipts, rejections] = await Promise.all([
          admitted === undefined ? [] : readReceipts(reports, { ...query, ...admitted }),
          rejected === undefined
            ? []
            : reports.rejections({ ...query, ...rejected }).then((page) => page.rejections),
        ]);
        return [
          ...receipts.map((receipt) => ({ kind: "admitted", receipt }) as const),
          ...rejections.map((rejection) => ({ kind: "rejected", rejection }) as const),
        ];
      };
      const found = await (money?.reports === undefined
        ? readStored(dependencies, read)
        : read(money.reports));
      return toViews(dependencies, found.toSorted(newestFirst).slice(0, limit));
    },
    async news({ after, ...filter }) {
      if (recent === undefined)
        throw new Problem({
          code: "failed",
          message: "No server is running, so there are no calls to follow.",
          command: "serve",
        });
      const accountId = await accountIdOf(accounts, filter.account);
      const news = recent.since(after);
      if (after === undefined) await sources?.listening?.();
      const found = news.calls.filter((call) =>
        call.kind === "admitted"
          ? isAdmittedMatch(call.receipt, filter, accountId)
          : isRejectedMatch(call.rejection, filter, accountId),
      );
      const calls = await toViews(dependencies, found);
      return { calls, after: news.after, missed: news.missed };
    },
  };
}

function sourcesOf({ receiptWatchers, rejections }: RunningMoney): CallSources | undefined {
  if (receiptWatchers === undefined || rejections === undefined) return undefined;
  return { receipts: receiptWatchers, rejections: rejections.watchers };
}

async function readStored<T>(
  { openReports, clock }: CallDependencies,
  read: (reports: Reports) => Promise<T>,
): Promise<T> {
  const reports = openReports({ clock, flush: async () => {}, minutes: new Minutes() });
  return read(reports).finally(() => reports.close());
}

const recordOf = (call: RecentCall) => (call.kind === "admitted" ? call.receipt : call.rejection);

async function toViews(
  { accounts, keys }: Pick<CallDependencies, "accounts" | "keys">,
  calls: readonly RecentCall[],
): Promise<readonly CallView[]> {
  if (calls.length === 0) return [];
  const names = {
    accounts: await accountNames(accounts),
    keys: await keys.names(calls.map((call) => recordOf(call).keyId)),
  };
  return calls.map((call) =>
    call.kind === "admitted"
      ? fromReceipt(call.receipt, names)
      : fromRejection(call.rejection, names),
  );
}

/** Ids begin with the time. */
function newestFirst(one: RecentCall, other: RecentCall): number {
  const [id, otherId] = [recordOf(one).id, recordOf(other).id];
  return id < otherId ? 1 : id > otherId ? -1 : 0;
}

async function accountIdOf(
  accounts: AccountStore,
  idOrName: string | undefined,
): Promise<string | undefined> {
  return idOrName === undefined ? undefined : (await findAccount(accounts, idOrName)).id;
}

/** Which of the two kinds are wanted, and what of them. */
function kindsOf({ code, rejected = false, failed = false }: CallFilter): {
  readonly admitted: Pick<ReceiptQuery, "outcome"> | undefined;
  readonly rejected: { readonly code: string | undefined } | undefined;
} {
  const isAll = !rejected && !failed;
  return {
    admitted: isAll || failed ? { outcome: code ?? (failed ? "failed" : undefined) } : undefined,
    rejected: isAll || rejected ? { code } : undefined,
  };
}

/** Pages may be short where much had to be looked at: a few of them are worth the wait. */
const mostPages = 20;

async function readReceipts(reports: Reports, query: ReceiptQuery): Promise<readonly Receipt[]> {
  const found: Receipt[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < mostPages && found.length < query.limit; pages++) {
    const page = await reports.receipts({ ...query, after });
    found.push(...page.receipts);
    after = page.after;
    if (after === undefined) break;
  }
  return found.slice(0, query.limit);
}

function isAdmittedMatch(
  receipt: Receipt,
  filter: CallFilter,
  accountId: string | undefined,
): boolean {
  const { admitted } = kindsOf(filter);
  const { outcome } = receipt;
  if (admitted === undefined || !isOf(receipt, filter, accountId)) return false;
  if (admitted.outcome === "failed") return outcome !== "ok" && outcome !== "left";
  return admitted.outcome === undefined || admitted.outcome === outcome;
}

function isRejectedMatch(
  rejection: Rejection,
  filter: CallFilter,
  accountId: string | undefined,
): boolean {
  const { rejected } = kindsOf(filter);
  if (rejected === undefined || !isOf(rejection, filter, accountId)) return false;
  return rejected.code === undefined || rejected.code === rejection.code;
}

function isOf(
  call: Pick<Receipt | Rejection, "accountId" | "keyId" | "model" | "dialect">,
  { key, model, dialect }: CallFilter,
  accountId: string | undefined,
): boolean {
  return (
    (accountId === undefined || accountId === call.accountId) &&
    (key === undefined || key === call.keyId) &&
    (model === undefined || model === call.model) &&
    (dialect === undefined || dialect === call.dialect)
  );
}
