import { toDateText } from "../../base/dates.ts";
import type { Freshness } from "../../base/freshness.ts";
import { newId } from "../../base/ids.ts";
import { toUsd } from "../../base/money.ts";
import { Mutex } from "../../base/mutex.ts";
import { conflict, invalid } from "../../base/problem.ts";
import { type BudgetLimit, periodStartMs } from "../../call/limits.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import type { Account } from "../../ledger/account.ts";
import type { Rollup } from "../../ledger/rollups.ts";
import type { RejectionStore } from "../../rejections/rejection.ts";
import type { ResponseStore, StoredTotals } from "../../responses/response.ts";
import {
  type Audited,
  type Audits,
  type Author,
  before as beforeOf,
  omit,
  type Unbound,
} from "../audit/author.ts";
import type { BudgetView } from "../http/schemas.ts";
import {
  checkNamed,
  isSameLimits,
  type LimitInputs,
  readLimits,
  toLimitsView,
} from "../input/limits.ts";
import { findAccount } from "../input/values.ts";
import type { KeyView } from "../keys/schemas.ts";
import { keyViews } from "../keys/views.ts";
import { SumsBy, sumsByDay } from "../reports/sums.ts";
import { closeSums, fundsOf, type MoneyDependencies, setLimits } from "./funds.ts";
import type { AccountBalanceView, AccountSpendView, AccountView } from "./schemas.ts";

export interface AccountDependencies extends MoneyDependencies {
  readonly keys: KeyStore;
  readonly rejections: RejectionStore;
  readonly responses: ResponseStore;
}

export interface AccountDetails extends AccountBalanceView, Freshness {
  readonly receipts: number;
  /** What calls cost beyond what could be taken. */
  readonly shortfall_usd: string;
  readonly spend: AccountSpendView;
  readonly stored_responses: StoredTotals;
  readonly key_list: readonly KeyView[];
}

export const accountName = {
  // Never like an id: by a name and by an id the same account must be meant.
  pattern: /^(?!acct_[0-9a-fA-F]{32}$)[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u,
  words:
    "1 to 100 letters, digits, spaces or . _ @ -, start with a letter or digit, and not look like an account id",
};

export const retentionDays = {
  pattern: /^[1-9]\d{0,5}$/,
  words: "a whole number from 1 to 999999, or none",
};

type Changed = AccountView & { readonly changed: boolean };

export interface AccountOperations {
  create(input: { name: string } & LimitInputs): Promise<AccountView>;
  list(input: Record<never, never>): Promise<readonly AccountView[]>;
  show(input: { account: string }): Promise<AccountDetails>;
  /** The same without what was spent, which takes reading. */
  balance(input: { account: string }): Promise<AccountBalanceView>;
  /** Its keys are refused until it is resumed. */
  suspend(input: { account: string }): Promise<Changed>;
  resume(input: { account: string }): Promise<Changed>;
  setLimits(input: { account: string } & LimitInputs): Promise<AccountView>;
  /** Days, or `none`: for as long as those of all accounts. */
  setRetention(input: { account: string; days: string }): Promise<AccountView>;
}

export const accountAudits = {
  create: { action: "account.create", detail: (input) => omit(input, "name") },
  list: null,
  show: null,
  balance: null,
  suspend: { action: "account.suspend" },
  resume: { action: "account.resume" },
  setLimits: { action: "account.limit", detail: (input) => omit(input, "account") },
  setRetention: { action: "account.retention", detail: (input) => omit(input, "account") },
} satisfies Audits<AccountOperations>;

type Implementation = Unbound<AccountOperations, typeof accountAudits>;

const about = ({ id, name }: Account): Audited => ({ accountId: id, subject: name });

export function accountOperations(dependencies: AccountDependencies): Implementation {
  const { accounts, keys, clock, takeEffect } = dependencies;
  return {
    async create({ name, ...inputs }, { audit }) {
      if (!accountName.pattern.test(name))
        throw invalid({ name: `The account name must be ${accountName.words}.` });
      const limits = readLimits(undefined, inputs);
      const account: Account = {
        id: newId("acct"),
        name,
        createdAtMs: clock.nowMs(),
        ...(limits === undefined ? {} : { limits }),
      };
      if (!(await accounts.insert(account, audit(about(account)))))
        throw conflict({ name: `Account "${name}" already exists.` });
      await takeEffect();
      return toAccountView({ account, keys: 0, balance: 0n });
    },
    async list() {
      const counts = countKeys(await keys.all());
      const balanceOf = await balances(dependencies);
      return (await accounts.list()).map((account) =>
        toAccountView({
          account,
          keys: counts.get(account.id) ?? 0,
          balance: balanceOf(account.id),
        }),
      );
    },
    show: ({ account }) => showAccount(dependencies, account),
    async balance({ account: name }) {
      const account = await findAccount(accounts, name);
      const count = countKeys(await keys.all()).get(account.id) ?? 0;
      return toBalance(dependencies, account, count);
    },
    ...accountChanges(dependencies),
  };
}

function accountChanges(
  dependencies: AccountDependencies,
): Pick<Implementation, "suspend" | "resume" | "setLimits" | "setRetention"> {
  const { accounts, keys, clock, takeEffect, sync } = dependencies;
  const mutex = new Mutex();
  /** `edit` returns the same account where there is nothing to change. */
  const change = (name: string, edit: (account: Account) => Promise<Account>) =>
    mutex.run(async () => {
      const before = await findAccount(accounts, name);
      const after = await edit(before);
      // If nothing changed, an earlier request may have written it and failed before this.
      await takeEffect();
      await sync();
      const { granted, spent } = await fundsOf(dependencies, after.id);
      const count = countKeys(await keys.all()).get(after.id) ?? 0;
      const view = toAccountView({ account: after, keys: count, balance: granted - spent });
      return { view, changed: after !== before };
    });
  const setSuspended = async (name: string, atMs: number | undefined, { audit }: Author) => {
    const { view, changed } = await change(name, async (account) => {
      const { suspendedAtMs, ...rest } = account;
      if ((suspendedAtMs === undefined) === (atMs === undefined)) return account;
      await accounts.setSuspended(account.id, atMs, audit(about(account)));
      return atMs === undefined ? rest : { ...rest, suspendedAtMs: atMs };
    });
    return { ...view, changed };
  };
  return {
    suspend: ({ account }, author) => setSuspended(account, clock.nowMs(), author),
    resume: ({ account }, author) => setSuspended(account, undefined, author),
    async setLimits({ account: name, ...inputs }, { audit }) {
      checkNamed(inputs);
      const { view } = await change(name, async (account) => {
        const { limits: before, ...rest } = account;
        const limits = readLimits(before, inputs);
        if (isSameLimits(before, limits)) return account;
        const owner = { accountId: rest.id, keyId: undefined };
        const detail = beforeOf(toLimitsView(before), inputs);
        await setLimits(dependencies, { owner, limits, audit: audit({ ...about(rest), detail }) });
        return limits === undefined ? rest : { ...rest, limits };
      });
      return view;
    },
    async setRetention({ account: name, days: text }, { audit }) {
      const days = readDays(text);
      const { view } = await change(name, async (account) => {
        const { receiptsDays: before, ...rest } = account;
        if (before === days) return account;
        const detail = { before: { days: before === undefined ? "none" : String(before) } };
        await accounts.setReceiptsDays(rest.id, days, audit({ ...about(rest), detail }));
        return days === undefined ? rest : { ...rest, receiptsDays: days };
      });
      return view;
    },
  };
}

function readDays(text: string): number | undefined {
  if (text === "none") return undefined;
  if (retentionDays.pattern.test(text)) return Number(text);
  throw invalid({ days: `The number of days must be ${retentionDays.words}.` });
}

function countKeys(records: readonly KeyRecord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { accountId, revokedAtMs } of records)
    if (revokedAtMs === undefined) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  return counts;
}

async function balances({
  ledger,
  money,
}: MoneyDependencies): Promise<(accountId: string) => bigint> {
  const written = new Map(
    (await ledger.leases()).map((lease) => [lease.accountId, lease.granted - lease.spent]),
  );
  return (accountId) => {
    const pot = money?.purses.wholePot(accountId);
    return pot === undefined ? (written.get(accountId) ?? 0n) : pot.limit - pot.spent;
  };
}

async function showAccount(
  dependencies: AccountDependencies,
  name: string,
): Promise<AccountDetails> {
  const { accounts, keys } = dependencies;
  const account = await findAccount(accounts, name);
  const records = (await keys.all()).filter(({ accountId }) => accountId === account.id);
  const list = await keyViews(dependencies, records);
  const freshness = await closeSums(dependencies, account.id);
  const { sum, spend } = await spendOf(dependencies, account, records);
  const count = list.filter(({ status }) => status !== "revoked").length;
  return {
    ...(await toBalance(dependencies, account, count)),
    ...freshness,
    receipts: sum?.receipts ?? 0,
    shortfall_usd: toUsd(sum === undefined ? 0n : sum.cost - sum.charged),
    spend,
    stored_responses: await dependencies.responses.totals(account.id),
    key_list: list,
  };
}

async function toBalance(
  dependencies: AccountDependencies,
  account: Account,
  keys: number,
): Promise<AccountBalanceView> {
  const { granted, spent, held } = await fundsOf(dependencies, account.id);
  return {
    ...toAccountView({ account, keys, balance: granted - spent }),
    held_usd: toUsd(held),
    free_usd: toUsd(granted - spent - held),
    budget: await budgetOf(dependencies, account),
  };
}

async function budgetOf(
  dependencies: AccountDependencies,
  account: Account,
): Promise<BudgetView | null> {
  const { ledger, money, clock } = dependencies;
  const inForce = money?.purses.find(account.id)?.account ?? account;
  const budget = inForce.limits?.budget;
  if (budget === undefined) return null;
  const nowMs = clock.nowMs();
  const spent =
    money === undefined || money.purses.isLeased
      ? await writtenSpend(ledger, account.id, periodStartMs(budget.period, nowMs))
      : (money.purses.budgetOf(account.id, inForce, nowMs)?.spent ?? 0n);
  return toBudgetView(budget, spent);
}

const toBudgetView = ({ nano, period }: BudgetLimit, spent: bigint): BudgetView => ({
  limit_usd: toUsd(nano),
  period,
  spent_usd: toUsd(spent),
});

async function writtenSpend(ledger: AccountDependencies["ledger"], id: string, startMs: number) {
  const spends = await ledger.budgetSpends(startMs);
  return (
    spends.find(({ ownerId, periodStartMs: at }) => ownerId === id && at === startMs)?.spent ?? 0n
  );
}

/** Stands for all keys that were made for one command each; no list shows them. */
const temporaryKeys = "temporary";

async function spendOf(
  dependencies: AccountDependencies,
  { id: accountId, createdAtMs }: Account,
  records: readonly KeyRecord[],
): Promise<{ readonly sum: Rollup | undefined; readonly spend: AccountSpendView }> {
  const all = new SumsBy(() => "");
  const byDay = new SumsBy(({ hourMs }) => new Date(hourMs).toISOString().slice(0, 10));
  const byModel = new SumsBy(({ model }) => model);
  const names = new Map(records.map(({ id, name }) => [id, name]));
  const byKey = new SumsBy(({ keyId }) => (names.has(keyId) ? keyId : temporaryKeys));
  const filter = { accountId, fromMs: createdAtMs, toMs: dependencies.clock.nowMs() + 1 };
  for await (const rollups of sumsByDay(dependencies.ledger, filter))
    for (const rollup of rollups) for (const sums of [all, byDay, byModel, byKey]) sums.add(rollup);
  const [total] = all.all.map(([, sum]) => sum);
  return {
    sum: total,
    spend: {
      by_day: byDay.all.map(toRow).map(([day, row]) => ({ day, ...row })),
      by_model: byModel.dearestFirst.map(toRow).map(([model, row]) => ({ model, ...row })),
      by_key: byKey.dearestFirst.map(toRow).map(([key, row]) => ({
        key,
        name: names.get(key) ?? null,
        ...row,
      })),
    },
  };
}

const toRow = ([name, { receipts, charged }]: readonly [string, Rollup]) =>
  [name, { receipts, charged_usd: toUsd(charged) }] as const;

function toAccountView(options: {
  readonly account: Account;
  readonly keys: number;
  readonly balance: bigint;
}): AccountView {
  const { id, name, createdAtMs, suspendedAtMs, limits, receiptsDays } = options.account;
  return {
    id,
    name,
    created_at: toDateText(createdAtMs),
    keys: options.keys,
    status: suspendedAtMs === undefined ? "active" : "suspended",
    balance_usd: toUsd(options.balance),
    limits: toLimitsView(limits),
    receipts_days: receiptsDays ?? null,
  };
}
