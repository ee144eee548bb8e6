import { type BudgetLimit, periodStartMs } from "../call/limits.ts";
import type { Account, AccountStore } from "./account.ts";
import { BudgetPot, Pot } from "./purse.ts";
import type { LedgerStore } from "./store.ts";

/** An account with its money, as this process knows it. */
export interface Purse {
  account: Account;
  readonly pot: Pot;
}

interface KnownBudget {
  readonly limit: BudgetLimit;
  readonly pot: BudgetPot;
  /** Of the period before: calls that came at its end may ask a moment later. */
  readonly previous: BudgetPot | undefined;
}

const dayMs = 86_400_000;
const noBudgets: readonly BudgetPot[] = [];

/**
 * The money of all accounts in memory. What calls spend is counted here first and becomes durable
 * with their receipts; money in and out comes from the store. About 0.5 KB an account.
 */
export class Purses {
  readonly #accounts: AccountStore;
  readonly #store: LedgerStore;
  readonly #purses = new Map<string, Purse>();
  readonly #budgets = new Map<string, KnownBudget>();
  /** Of budgets whose kind of period was changed while calls ran; by owner and period. */
  readonly #aside = new Map<string, BudgetPot>();
  /** What budgets had used up when this process began; taken out as they are first asked for. */
  readonly #spentBefore = new Map<string, { periodStartMs: number; spent: bigint }[]>();

  constructor(accounts: AccountStore, store: LedgerStore) {
    this.#accounts = accounts;
    this.#store = store;
  }

  /** Before the first call: reads everything. */
  async start(nowMs = 0): Promise<void> {
    // Calls of yesterday, and of last month, may still be on their way in.
    const fromMs = periodStartMs("month", nowMs - dayMs);
    for (const spend of await this.#store.budgetSpends(fromMs)) {
      const { ownerId, spent, periodStartMs: startMs } = spend;
      const known = this.#spentBefore.get(ownerId) ?? [];
      this.#spentBefore.set(ownerId, [...known, { periodStartMs: startMs, spent }]);
    }
    await this.reloadAll();
  }

  async reloadAll(): Promise<void> {
    const leases = new Map((await this.#store.leases()).map((lease) => [lease.accountId, lease]));
    for (const account of await this.#accounts.list())
      this.#put(account, leases.get(account.id) ?? { granted: 0n, spent: 0n });
  }

  async reload(accountId: string): Promise<void> {
    const account = await this.#accounts.find(accountId);
    if (account === undefined) return;
    this.#put(account, (await this.#store.lease(accountId)) ?? { granted: 0n, spent: 0n });
  }

  find(accountId: string): Purse | undefined {
    return this.#purses.get(accountId);
  }

  get all(): Iterable<Purse> {
    return this.#purses.values();
  }

  /** What calls under way hold of all accounts; a walk through them. */
  heldNano(): bigint {
    let held = 0n;
    for (const { pot } of this.#purses.values()) if (pot.held !== 0n) held += pot.held;
    return held;
  }

  /** The budgets that a call of this key counts for, as they stand now. */
  budgetsOf(options: {
    readonly purse: Purse;
    readonly keyId: string;
    readonly keyBudget: BudgetLimit | undefined;
    readonly nowMs: number;
  }): readonly BudgetPot[] {
    const { purse, keyId, keyBudget, nowMs } = options;
    const ofAccount = purse.account.limits?.budget;
    if (ofAccount === undefined && keyBudget === undefined) return noBudgets;
    const pots: BudgetPot[] = [];
    if (ofAccount !== undefined) pots.push(this.budgetOf(purse.account.id, ofAccount, nowMs));
    if (keyBudget !== undefined) pots.push(this.budgetOf(keyId, keyBudget, nowMs));
    return pots;
  }

  /** The pot of the period that the moment lies in. */
  budgetOf(ownerId: string, limit: BudgetLimit, nowMs: number): BudgetPot {
    const known = this.#budgets.get(ownerId);
    if (known?.limit === limit) {
      if (isWithin(known.pot, nowMs)) return known.pot;
      if (known.previous !== undefined && isWithin(known.previous, nowMs)) return known.previous;
    }
    const fresh = new BudgetPot({ ownerId, budget: limit, spent: 0n, nowMs });
    const { periodStartMs, periodEndMs } = fresh;
    // Another sum for the same period keeps what was spent and is held of it.
    if (known?.pot.periodStartMs === periodStartMs) {
      known.pot.limit = limit.nano;
      known.pot.periodEndMs = periodEndMs;
      this.#budgets.set(ownerId, { ...known, limit });
      return known.pot;
    }
    const isSameKind = known?.limit.period === limit.period;
    // Of a period before the last one nobody knows any more what was spent: nothing is left of it.
    if (isSameKind && periodEndMs < known.pot.periodStartMs) {
      fresh.spent = limit.nano;
      return fresh;
    }
    const pot = this.#reopen(fresh, limit) ?? fresh;
    if (isSameKind && periodStartMs < known.pot.periodStartMs) {
      this.#budgets.set(ownerId, { limit, pot: known.pot, previous: pot });
      return pot;
    }
    if (known !== undefined && !isSameKind) this.#layAside(known.pot);
    this.#budgets.set(ownerId, { limit, pot, previous: isSameKind ? known.pot : undefined });
    return pot;
  }

  /** The pot of another kind of period may come back while its calls still run. */
  #layAside(pot: BudgetPot): void {
    for (const [name, { held }] of this.#aside) if (held === 0n) this.#aside.delete(name);
    if (pot.held > 0n) this.#aside.set(`${pot.ownerId} ${pot.periodStartMs}`, pot);
  }

  #reopen(fresh: BudgetPot, limit: BudgetLimit): BudgetPot | undefined {
    const { ownerId, periodStartMs, periodEndMs } = fresh;
    const spentBefore = this.#takeSpentBefore(ownerId, periodStartMs);
    const name = `${ownerId} ${periodStartMs}`;
    const pot = this.#aside.get(name);
    fresh.spent = spentBefore;
    if (pot === undefined) return undefined;
    this.#aside.delete(name);
    if (spentBefore > pot.spent) pot.spent = spentBefore;
    pot.limit = limit.nano;
    pot.periodEndMs = periodEndMs;
    return pot;
  }

  /** A budget was given to an owner that has spent already. */
  setBudgetSpent(ownerId: string, periodStartMs: number, spent: bigint): void {
    const pot = this.#budgets.get(ownerId)?.pot;
    // What counts already knows what is held, and what is spent but not yet written.
    if (pot?.periodStartMs === periodStartMs) {
      if (spent > pot.spent) pot.spent = spent;
      return;
    }
    if (pot !== undefined) this.#layAside(pot);
    this.#budgets.delete(ownerId);
    this.#spentBefore.set(ownerId, [{ periodStartMs, spent }]);
  }

  #takeSpentBefore(ownerId: string, periodStartMs: number): bigint {
    const spends = this.#spentBefore.get(ownerId) ?? [];
    // Those of other periods stay: the kind of the budget's period may change.
    this.#spentBefore.set(
      ownerId,
      spends.filter((one) => one.periodStartMs !== periodStartMs),
    );
    return spends.find((one) => one.periodStartMs === periodStartMs)?.spent ?? 0n;
  }

  #put(account: Account, lease: { readonly granted: bigint; readonly spent: bigint }): void {
    const known = this.#purses.get(account.id);
    if (known === undefined) {
      const pot = new Pot(lease.granted, lease.spent);
      this.#purses.set(account.id, { account, pot });
      return;
    }
    known.account = account;
    known.pot.limit = lease.granted;
  }
}

const isWithin = (pot: BudgetPot, nowMs: number) =>
  pot.periodStartMs <= nowMs && nowMs < pot.periodEndMs;
