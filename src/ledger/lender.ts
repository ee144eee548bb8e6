import { monotonicMs } from "../base/clock.ts";
import { budgetName, type LeaseStore, type Loan, type Want } from "./lease-store.ts";
import type { BudgetPot, Pot } from "./purse.ts";

interface WaitingCall {
  readonly nano: bigint;
  /** All that it needs it of. */
  readonly leased: readonly LeasedPot[];
  /** It has waited long enough. */
  isLast: boolean;
  /** Money has come; it may be for another call. */
  wake: () => void;
}

/** A pot that is filled from a lease. */
interface LeasedPot {
  readonly pot: Pot;
  readonly source:
    | { readonly accountId: string }
    | {
        readonly ownerId: string;
        readonly isKey: boolean;
        readonly periodStartMs: number;
        version: number;
        nano: bigint;
      };
  /** Calls that wait for it. */
  readonly waiting: Set<WaitingCall>;
  /** Of the last loan: a quarter of it left means that more is asked for. */
  slice: bigint;
  /** The tick in which it was last used. */
  usedTick: number;
  last: Loan | undefined;
  /** Until then it is known that no process has any of it. */
  emptyUntilMs: number;
  /** The limits have changed, and this process has not heard of it yet. */
  isStale: boolean;
  /** The store did not answer: it may have lent or taken back more than this process knows. */
  isUnsure: boolean;
}

/** `short`: there is not enough. `silent`: there would be, with a process that does not answer. */
export type Uncovered = "short" | "silent";

export interface Wanted<T> {
  readonly pots: readonly Pot[];
  readonly nano: bigint;
  /** Enough to go on with, where an answer can be made shorter. */
  readonly least: bigint;
  /** Takes the money; undefined where there is not enough. The last time, less is enough. */
  readonly take: (isLast: boolean) => T | undefined;
}

/**
 * Other processes read recalls with each tick. A waiting call asks again in the same interval; where
 * nothing is left, calls are refused for so long without asking.
 */
const askEveryMs = 250;
const recallMs = 1_000;
/** An account that was not used for so many ticks gives everything back. */
const idleTicks = 120;

/**
 * Fills this process's pots from the shared store. Calls never wait for it while their pot has
 * money; a pot that runs low is filled beside them. One request to the store is under way at a time,
 * and carries all that is wanted by then: this makes what the store answers the last word.
 */
export class Lender {
  readonly #store: LeaseStore;
  readonly #elapsedMs: () => number;
  readonly #leased = new Map<Pot, LeasedPot>();
  readonly #wanted = new Set<LeasedPot>();
  readonly #returned = new Map<LeasedPot, bigint>();
  #tick = 0;
  #running: Promise<void> | undefined;

  constructor(store: LeaseStore, elapsedMs = monotonicMs) {
    this.#store = store;
    this.#elapsedMs = elapsedMs;
  }

  addAccount(pot: Pot, accountId: string): void {
    this.#add(pot, { accountId });
  }

  addBudget(
    pot: BudgetPot,
    of: { readonly isKey: boolean; readonly version: number; readonly nano: bigint },
  ): void {
    const { ownerId, periodStartMs } = pot;
    this.#add(pot, { ownerId, periodStartMs, ...of });
  }

  #add(pot: Pot, source: LeasedPot["source"]): void {
    const usedTick = this.#tick;
    this.#leased.set(pot, {
      pot,
      source,
      waiting: new Set(),
      slice: 0n,
      usedTick,
      last: undefined,
      emptyUntilMs: 0,
      isStale: false,
      isUnsure: false,
    });
  }

  /** The limits have changed: what is free goes back, and more is lent by the new limits alone. */
  changeBudget(pot: BudgetPot, of: { readonly version: number; readonly nano: bigint }): void {
    const leased = this.#leased.get(pot);
    if (leased === undefined || "accountId" in leased.source) return;
    Object.assign(leased.source, of);
    leased.emptyUntilMs = 0;
    this.#return(leased);
    this.#work().catch(() => {});
  }

  /** What is on its way back stays so; what its calls still hold is given back with the epoch. */
  drop(pot: Pot): void {
    const leased = this.#leased.get(pot);
    if (leased === undefined) return;
    this.#return(leased);
    this.#leased.delete(pot);
    this.#work().catch(() => {});
  }

  /** Money has come in, or gone out. */
  heard(pot: Pot): void {
    const leased = this.#leased.get(pot);
    if (leased !== undefined) leased.emptyUntilMs = 0;
  }

  /** What there is besides what this process may spend, as the store last said. */
  beside(pot: Pot): Pick<Loan, "free" | "elsewhere"> | undefined {
    const leased = this.#leased.get(pot);
    return leased && (leased.last ?? { free: 0n, elsewhere: 0n });
  }

  /** After money was taken from it. */
  used(pot: Pot): void {
    const leased = this.#leased.get(pot);
    if (leased === undefined) return;
    leased.usedTick = this.#tick;
    if (pot.free * 4n >= leased.slice || (leased.last !== undefined && leased.last.free === 0n))
      return;
    this.#wanted.add(leased);
    this.#work().catch(() => {});
  }

  /** Waits for money, until others had the time to give back what they do not use. */
  async cover<T>({ pots, nano, least, take }: Wanted<T>): Promise<T | Uncovered> {
    const leased = pots.flatMap((pot) => this.#leased.get(pot) ?? []);
    const nowMs = this.#elapsedMs();
    if (leased.some(({ pot, emptyUntilMs }) => pot.free < least && nowMs < emptyUntilMs))
      return "short";
    const call: WaitingCall = { nano, leased, isLast: false, wake: () => {} };
    for (const { waiting } of leased) waiting.add(call);
    try {
      for (;;) {
        for (const one of leased) if (one.pot.free < nano) this.#wanted.add(one);
        await this.#work();
        const taken = take(false);
        if (taken !== undefined) return taken;
        const short = leased.filter(({ pot }) => pot.free < nano);
        if (call.isLast || short.some((one) => !mayCome(one, least)))
          return take(true) ?? verdict(short, least);
        const isAwake = await untilWoken(call);
        const woken = isAwake ? take(false) : undefined;
        if (woken !== undefined) return woken;
        call.isLast = this.#elapsedMs() - nowMs >= recallMs;
      }
    } finally {
      for (const { waiting } of leased) waiting.delete(call);
    }
  }

  /**
   * With every tick: what others wait for goes back, and what nobody has used for a while. While
   * this process drains, all that its calls do not need.
   */
  async tick(recalled: readonly string[], isDraining = false): Promise<void> {
    this.#tick++;
    const owners = new Set(recalled);
    for (const leased of this.#leased.values()) {
      const { source, usedTick } = leased;
      const owner = "accountId" in source ? source.accountId : `budget ${source.ownerId}`;
      // What it may have without knowing is found out first, and given back with a later tick.
      if (leased.isUnsure) this.#wanted.add(leased);
      else if (isDraining || owners.has(owner) || this.#tick - usedTick > idleTicks)
        this.#return(leased);
    }
    if (this.#returned.size > 0 || this.#wanted.size > 0) await this.#work();
  }

  /** From here on no call can spend it; what the store then says counts. */
  #return(leased: LeasedPot): void {
    const { pot, waiting } = leased;
    leased.slice = 0n;
    const free = pot.free - usable(pot.free, waiting);
    if (free <= 0n) return;
    pot.limit -= free;
    this.#returned.set(leased, (this.#returned.get(leased) ?? 0n) + free);
  }

  /** Resolves when all that was wanted before this call has been asked for. */
  async #work(): Promise<void> {
    // What is under way does not have it yet.
    if (this.#running !== undefined) await this.#running.catch(() => {});
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #exchange(): Promise<void> {
    // Everything that comes in this turn of the event loop goes along.
    await Promise.resolve();
    await this.#giveBack();
    await this.#ask();
  }

  async #giveBack(): Promise<void> {
    if (this.#returned.size === 0) return;
    const rows = [...this.#returned];
    this.#returned.clear();
    const accounts = rows.flatMap(([{ source }, nano]) =>
      "accountId" in source ? [{ accountId: source.accountId, nano }] : [],
    );
    const budgets = rows.flatMap(([{ source }, nano]) =>
      "accountId" in source
        ? []
        : [{ ownerId: source.ownerId, periodStartMs: source.periodStartMs, nano }],
    );
    // Where this fails the money stays with this process, unspent, until it asks for more.
    await this.#sure(
      rows.map(([leased]) => leased),
      async () => {
        if (accounts.length > 0) await this.#store.giveBack(accounts);
        if (budgets.length > 0) await this.#store.giveBackBudgets(budgets);
      },
    );
  }

  async #ask(): Promise<void> {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    const ofAccounts = wanted.filter(({ source }) => "accountId" in source);
    const ofBudgets = wanted.filter(({ source }) => !("accountId" in source));
    if (ofAccounts.length > 0)
      await this.#sure(ofAccounts, async () => {
        const requests = ofAccounts.flatMap((leased) =>
          "accountId" in leased.source ? [{ ...leased.source, ...wantOf(leased) }] : [],
        );
        this.#take(ofAccounts, await this.#store.lend(requests));
      });
    if (ofBudgets.length > 0)
      await this.#sure(ofBudgets, async () => {
        const requests = ofBudgets.flatMap((leased) =>
          "accountId" in leased.source ? [] : [{ ...leased.source, ...wantOf(leased) }],
        );
        this.#take(ofBudgets, await this.#store.lendBudgets(requests));
      });
  }

  /** What the store has done is not known when it does not answer. */
  async #sure(leased: readonly LeasedPot[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      for (const one of leased) one.isUnsure = true;
      throw error;
    }
  }

  #take(wanted: readonly LeasedPot[], loans: ReadonlyMap<string, Loan>): void {
    for (const leased of wanted) {
      const { source, pot } = leased;
      const name =
        "accountId" in source ? source.accountId : budgetName(source.ownerId, source.periodStartMs);
      const loan = loans.get(name);
      leased.isStale = loan === undefined && !("accountId" in source);
      leased.isUnsure = false;
      leased.last = loan;
      const isEmpty = loan?.free === 0n && loan.elsewhere === 0n && !this.#returned.has(leased);
      leased.emptyUntilMs = isEmpty ? this.#elapsedMs() + askEveryMs : 0;
      if (loan === undefined) continue;
      // What is on its way back is not ours any more.
      const limit = loan.granted - (this.#returned.get(leased) ?? 0n);
      leased.slice = limit - pot.limit;
      pot.limit = limit;
      if (leased.slice > 0n) for (const { wake } of leased.waiting) wake();
    }
  }
}

function wantOf({ pot, waiting }: LeasedPot): Want {
  const { need, smallest, isLast } = sumUp(waiting);
  const missing = (nano: bigint) => (nano > pot.free ? nano - pot.free : 0n);
  return { need: missing(need), least: missing(smallest), isLast };
}

/** What calls that wait here are about to take, because they have all of it: others do not get that. */
function usable(free: bigint, waiting: ReadonlySet<WaitingCall>): bigint {
  let usable = 0n;
  for (const { nano, leased } of waiting)
    if (leased.every(({ pot }) => pot.free >= nano)) usable += nano;
  return usable < free ? usable : free;
}

function sumUp(waiting: ReadonlySet<WaitingCall>) {
  let need = 0n;
  let smallest: bigint | undefined;
  let isLast = false;
  for (const call of waiting) {
    need += call.nano;
    if (smallest === undefined || call.nano < smallest) smallest = call.nano;
    isLast ||= call.isLast;
  }
  return { need, smallest: smallest ?? 0n, isLast };
}

/** Whether money has come; false when it is time to ask again. */
function untilWoken(call: WaitingCall): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), askEveryMs);
    call.wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
}

/** Whether others may give back so much that it is worth to wait. */
function mayCome({ pot, last, isStale }: LeasedPot, least: bigint): boolean {
  if (last === undefined) return isStale;
  return pot.free + last.free + last.elsewhere - last.silent >= least;
}

function verdict(short: readonly LeasedPot[], least: bigint): Uncovered {
  const isSilent = ({ pot, last, isStale }: LeasedPot) =>
    isStale ||
    (last !== undefined && last.silent > 0n && pot.free + last.free + last.silent >= least);
  return short.length > 0 && short.every(isSilent) ? "silent" : "short";
}
