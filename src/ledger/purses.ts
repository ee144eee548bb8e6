import { type BudgetLimit, type Limits, periodStartMs } from "../call/limits.ts";
import type { Account, AccountStore } from "./account.ts";
import { budgetName } from "./lease-store.ts";
import type { Lender, Uncovered } from "./lender.ts";
import { BudgetPot, type HeldCall, Hold, Pot } from "./purse.ts";
import type { LedgerStore, LimitsOwner, LimitsSet } from "./store.ts";

/** An account with its money, as this process knows it. */
export interface Purse {
  account: Account;
  readonly pot: Pot;
}

/** The budget of an account or a key, in the present period and in the one before. */
interface OwnerBudget {
  /** Of the owner's limits. */
  readonly version: number;
  /** Undefined: it was taken away. */
  readonly limit: BudgetLimit | undefined;
  pot: BudgetPot | undefined;
  /** Calls that came at the end of the period before may be admitted a moment later. */
  previous: BudgetPot | undefined;
}

/** What a key or an account record has of its limits. */
export interface RecordedLimits {
  readonly limits?: Limits | undefined;
  readonly limitsVersion?: number | undefined;
}

const dayMs = 86_400_000;
const noBudgets: readonly BudgetPot[] = [];

/** What to tell somebody who is refused. */
export interface ShownPot {
  readonly limit: bigint;
  readonly free: bigint;
  readonly held: bigint;
}

/**
 * The money of all accounts in memory. What calls spend is counted here first and becomes durable
 * with their receipts; money in and out comes from the store. About 0.5 kB per account.
 *
 * Where several processes share the accounts, a pot has what was lent to this one, and is empty to
 * begin with.
 */
export class Purses {
  readonly #accounts: AccountStore;
  readonly #store: LedgerStore;
  readonly #purses = new Map<string, Purse>();
  /** Of an owner that is here, this is what counts: its record may be a moment behind. */
  readonly #budgets = new Map<string, OwnerBudget>();
  /** Calls whose receipts do not stand yet, by the id of the receipt. */
  readonly #calls = new Map<string, Hold>();
  /** What budgets had used up when this process began; taken out as they are first asked for. */
  readonly #spentBefore = new Map<string, { periodStartMs: number; spent: bigint }[]>();

  /** While all are read: those that have been read again meanwhile. */
  #readAgain: Set<string> | undefined;
  readonly #lender: Lender | undefined;
  /** What budgets are, where pots have a part of them. */
  readonly #announced = new WeakMap<Pot, bigint>();
  /** By owner and period: pots of budgets that were taken away or changed their kind of period. */
  readonly #retired = new Map<string, BudgetPot>();

  constructor(accounts: AccountStore, store: LedgerStore, lender?: Lender) {
    this.#accounts = accounts;
    this.#store = store;
    this.#lender = lender;
  }

  /** Whether accounts are shared with other processes. */
  get isLeased(): boolean {
    return this.#lender !== undefined;
  }

  /** Before the first call: reads everything. */
  async start(nowMs = 0): Promise<void> {
    await this.readSpends(nowMs);
    await this.reloadAll();
  }

  /** What budgets have used up. */
  async readSpends(nowMs: number): Promise<void> {
    // Calls of yesterday, and of last month, may still be on their way in.
    const fromMs = periodStartMs("month", nowMs - dayMs);
    const spends = this.isLeased ? [] : await this.#store.budgetSpends(fromMs);
    for (const spend of spends) {
      const { ownerId, spent, periodStartMs: startMs } = spend;
      const known = this.#spentBefore.get(ownerId) ?? [];
      this.#spentBefore.set(ownerId, [...known, { periodStartMs: startMs, spent }]);
    }
  }

  /** Where accounts are shared, `reload` may run beside it: what it has read is newer. */
  async reloadAll(): Promise<void> {
    const readAgain = new Set<string>();
    this.#readAgain = readAgain;
    const stored = this.isLeased ? [] : await this.#store.leases();
    const leases = new Map(stored.map((lease) => [lease.accountId, lease]));
    for await (const accounts of this.#accounts.pages())
      for (const account of accounts)
        if (!readAgain.has(account.id))
          this.#put(account, leases.get(account.id) ?? { granted: 0n, spent: 0n });
    this.#readAgain = undefined;
  }

  async reload(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#readAgain?.add(id);
    for (const account of await this.#accounts.getMany(ids)) {
      const stored = this.isLeased ? undefined : await this.#store.lease(account.id);
      this.#put(account, stored ?? { granted: 0n, spent: 0n });
    }
  }

  /** Accounts that may not call any more; those that may call again are left to `reloadAll`. */
  async endSuspended(): Promise<void> {
    for await (const accounts of this.#accounts.pages({ isSuspended: true }))
      for (const account of accounts) {
        this.#readAgain?.add(account.id);
        const known = this.#purses.get(account.id);
        if (known !== undefined) known.account = account;
      }
  }

  find(accountId: string): Purse | undefined {
    return this.#purses.get(accountId);
  }

  /** All of an account's money; undefined where this process may have a part of it alone. */
  wholePot(accountId: string): Pot | undefined {
    return this.isLeased ? undefined : this.#purses.get(accountId)?.pot;
  }

  shown(pot: Pot): ShownPot {
    const beside = this.#lender?.beside(pot);
    if (beside === undefined) return pot;
    return {
      limit: this.#announced.get(pot) ?? pot.limit,
      free: pot.free + beside.free,
      held: pot.held + beside.elsewhere,
    };
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
    readonly key: RecordedLimits & { readonly id: string };
    readonly nowMs: number;
  }): readonly BudgetPot[] {
    const { purse, key, nowMs } = options;
    const ofAccount = this.budgetOf(purse.account.id, purse.account, nowMs);
    const ofKey = this.budgetOf(key.id, key, nowMs, true);
    if (ofAccount === undefined) return ofKey === undefined ? noBudgets : [ofKey];
    return ofKey === undefined ? [ofAccount] : [ofAccount, ofKey];
  }

  /** The version of the limits that a call of this owner is admitted by. */
  limitsVersionOf(ownerId: string, record: RecordedLimits): number {
    const version = this.isLeased ? undefined : this.#budgets.get(ownerId)?.version;
    return version ?? record.limitsVersion ?? 0;
  }

  /**
   * Sets money aside for a call. It is known from now on until its receipt stands, so that a budget
   * that is set meanwhile counts it.
   */
  take(nano: bigint, options: TakeOptions): Hold | undefined {
    const { purse, budgets, id, keyId, startedMs } = options;
    // Spelled out: copying properties costs a microsecond.
    const call = { id, keyId, startedMs, accountId: purse.account.id, calls: this.#calls };
    const hold = Hold.take(nano, purse.pot, budgets, call);
    if (this.#lender !== undefined && hold !== undefined) {
      this.#lender.used(purse.pot);
      for (const pot of budgets) this.#lender.used(pot);
    }
    return hold;
  }

  /** Waits until other processes have lent what a call needs; only where accounts are shared. */
  cover<T>(
    pots: readonly Pot[],
    wanted: {
      readonly nano: bigint;
      readonly least: bigint;
      readonly take: (isLast: boolean) => T | undefined;
    },
  ): Promise<T | Uncovered> {
    return this.#lender?.cover({ pots, ...wanted }) ?? Promise.resolve("short");
  }

  /** Its receipt stands: the store's sums have it from now on. */
  committed(id: string): void {
    this.#calls.delete(id);
  }

  /** Calls whose receipts do not stand yet. */
  get uncommitted(): number {
    return this.#calls.size;
  }

  /** The pot of the period that the moment lies in. */
  budgetOf(
    ownerId: string,
    record: RecordedLimits,
    nowMs: number,
    isKey = false,
  ): BudgetPot | undefined {
    let known = this.#budgets.get(ownerId);
    if (this.#lender !== undefined && known !== undefined)
      known = this.#followRecord(ownerId, known, record);
    if (known === undefined) {
      const limit = record.limits?.budget;
      if (limit === undefined) return undefined;
      const version = record.limitsVersion ?? 0;
      known = { version, limit, pot: undefined, previous: undefined };
      this.#budgets.set(ownerId, known);
    }
    const { limit, pot, previous } = known;
    if (limit === undefined) return undefined;
    if (pot !== undefined && isWithin(pot, nowMs)) return pot;
    if (previous !== undefined && isWithin(previous, nowMs)) return previous;
    const fresh = new BudgetPot({ ownerId, budget: limit, spent: 0n, nowMs });
    return this.#openPot(ownerId, known, this.#leasedPot(fresh, { ...known, limit, isKey }));
  }

  /** Where pots are leased: one that this process had before is the same, with what it has spent. */
  #leasedPot(
    fresh: BudgetPot,
    { version, limit, isKey }: { version: number; limit: BudgetLimit; isKey: boolean },
  ): BudgetPot {
    const lender = this.#lender;
    if (lender === undefined) return fresh;
    const name = budgetName(fresh.ownerId, fresh.periodStartMs);
    const before = this.#retired.get(name);
    this.#retired.delete(name);
    this.#announced.set(before ?? fresh, limit.nano);
    if (before !== undefined) {
      lender.changeBudget(before, { version, nano: limit.nano });
      return before;
    }
    fresh.limit = 0n;
    lender.addBudget(fresh, { isKey, version, nano: limit.nano });
    return fresh;
  }

  /** It lends no more, but what it has spent and holds counts if its budget comes back. */
  #retire(pot: BudgetPot, version: number): void {
    this.#lender?.changeBudget(pot, { version, nano: 0n });
    this.#retired.set(budgetName(pot.ownerId, pot.periodStartMs), pot);
  }

  /** Where others set limits, the record is what counts. */
  #followRecord(
    ownerId: string,
    known: OwnerBudget,
    record: RecordedLimits,
  ): OwnerBudget | undefined {
    const version = record.limitsVersion ?? 0;
    // A call that has waited may still have the record from before.
    if (version <= known.version) return known;
    const limit = record.limits?.budget;
    const { pot, previous } = known;
    const pots = [pot, previous].filter((one) => one !== undefined);
    if (limit === undefined || limit.period !== known.limit?.period) {
      for (const one of pots) this.#retire(one, version);
      if (limit === undefined)
        this.#budgets.set(ownerId, { version, limit, pot: undefined, previous: undefined });
      else this.#budgets.delete(ownerId);
      return this.#budgets.get(ownerId);
    }
    for (const one of pots) {
      this.#announced.set(one, limit.nano);
      this.#lender?.changeBudget(one, { version, nano: limit.nano });
    }
    const changed = { version, limit, pot, previous };
    this.#budgets.set(ownerId, changed);
    return changed;
  }

  /** Another period than those that are known. */
  #openPot(ownerId: string, known: OwnerBudget, fresh: BudgetPot): BudgetPot {
    const { pot } = known;
    // Of a period before the last one nobody knows any more what was spent: nothing is left of it.
    if (pot !== undefined && fresh.periodEndMs < pot.periodStartMs) {
      fresh.spent = fresh.limit;
      this.#lender?.drop(fresh);
      return fresh;
    }
    if (!this.isLeased) fresh.spent = this.#takeSpentBefore(ownerId, fresh.periodStartMs);
    if (pot !== undefined && fresh.periodStartMs < pot.periodStartMs) known.previous = fresh;
    else {
      // Of a period that is over for good.
      if (known.previous !== undefined) this.#lender?.drop(known.previous);
      known.previous = pot;
      known.pot = fresh;
    }
    return fresh;
  }

  /**
   * The limits of an owner have changed, in this very turn. `spends` has all receipts that stand;
   * every other call of the owner is known here and counts for the new budget from now on, for its
   * hold or for what it was charged.
   */
  setBudget(
    options: LimitsSet & {
      readonly owner: LimitsOwner;
      readonly limit: BudgetLimit | undefined;
    },
  ): void {
    const { owner, limit, version, nowMs, spends } = options;
    // Told by the record, as of limits that another process sets.
    if (this.isLeased) return;
    const ownerId = owner.keyId ?? owner.accountId;
    const pots = spends.map(
      ({ spent, periodStartMs: startMs }, at) =>
        // The first is the present one, and each other lies before.
        limit &&
        new BudgetPot({ ownerId, budget: limit, spent, nowMs: at === 0 ? nowMs : startMs }),
    );
    this.#spentBefore.delete(ownerId);
    this.#budgets.set(ownerId, { version, limit, pot: pots[0], previous: pots[1] });
    for (const hold of this.#calls.values()) {
      const { call } = hold;
      if (
        call === undefined ||
        ownerId !== (owner.keyId === undefined ? call.accountId : call.keyId)
      )
        continue;
      hold.countFor(
        ownerId,
        pots.find((pot) => pot && isWithin(pot, call.startedMs)),
      );
    }
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
      this.#lender?.addAccount(pot, account.id);
      return;
    }
    known.account = account;
    this.#lender?.heard(known.pot);
    if (!this.isLeased) known.pot.limit = lease.granted;
  }
}

export interface TakeOptions extends Pick<HeldCall, "id" | "keyId" | "startedMs"> {
  readonly purse: Purse;
  readonly budgets: readonly BudgetPot[];
}

const isWithin = (pot: BudgetPot, nowMs: number) =>
  pot.periodStartMs <= nowMs && nowMs < pot.periodEndMs;
