import { type BudgetLimit, periodEndMs, periodStartMs } from "../call/limits.ts";

/**
 * Something that money is taken from: `limit` at most, of which some is spent and some is held for
 * calls under way. Nano-USD. What is held counts as gone for everybody else, which is why no
 * number of calls at the same moment can spend more than there is.
 */
export class Pot {
  limit: bigint;
  spent: bigint;
  held = 0n;

  constructor(limit: bigint, spent = 0n) {
    this.limit = limit;
    this.spent = spent;
  }

  get free(): bigint {
    return this.limit - this.spent - this.held;
  }
}

/** The pot of a budget in one of its periods; receipts of calls let in then are charged to it. */
export class BudgetPot extends Pot {
  readonly ownerId: string;
  readonly periodStartMs: number;
  periodEndMs: number;

  constructor(options: {
    readonly ownerId: string;
    readonly budget: BudgetLimit;
    readonly spent: bigint;
    readonly nowMs: number;
  }) {
    const { ownerId, budget, spent, nowMs } = options;
    super(budget.nano, spent);
    this.ownerId = ownerId;
    this.periodStartMs = periodStartMs(budget.period, nowMs);
    this.periodEndMs = periodEndMs(budget.period, nowMs);
  }
}

/** The call that a hold is for. Holds whose receipts are not written yet are kept in `calls`. */
export interface HeldCall {
  /** That of its receipt. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly startedMs: number;
  readonly calls: Map<string, Hold>;
}

/**
 * Money set aside for one call, in the account and in the budgets that it counts for. Settled
 * exactly once; whatever comes after that changes nothing.
 */
export class Hold {
  readonly nano: bigint;
  readonly account: Pot;
  readonly call: HeldCall | undefined;
  #budgets: readonly BudgetPot[];
  #charged: bigint | undefined;
  #isOpen = true;

  private constructor(
    nano: bigint,
    account: Pot,
    budgets: readonly BudgetPot[],
    call: HeldCall | undefined,
  ) {
    this.nano = nano;
    this.account = account;
    this.#budgets = budgets;
    this.call = call;
    call?.calls.set(call.id, this);
  }

  /** Undefined when one of the pots does not cover it: then nothing has changed. */
  static take(
    nano: bigint,
    account: Pot,
    budgets: readonly BudgetPot[],
    call?: HeldCall,
  ): Hold | undefined {
    if (nano < 0n || (nano > 0n && nano > leastFree(account, budgets))) return undefined;
    account.held += nano;
    for (const pot of budgets) pot.held += nano;
    return new Hold(nano, account, budgets, call);
  }

  /** Those that it counts for now: a budget may be set while the call runs. */
  get budgets(): readonly BudgetPot[] {
    return this.#budgets;
  }

  /** Counts for this budget of the owner from now on, and for no other of theirs. */
  countFor(ownerId: string, pot: BudgetPot | undefined): void {
    const others = this.#budgets.filter((known) => known.ownerId !== ownerId);
    this.#budgets = pot === undefined ? others : [...others, pot];
    if (pot === undefined) return;
    if (this.#isOpen) pot.held += this.nano;
    else pot.spent += this.#charged ?? 0n;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Takes what the call cost, but never more than was held; gives what was taken. */
  settle(cost: bigint): bigint {
    if (!this.#isOpen) return this.#charged ?? 0n;
    // Less than was held is there when money was withdrawn meanwhile.
    const left = this.account.limit - this.account.spent;
    const charged = least(cost, this.nano, left > 0n ? left : 0n);
    this.#close(charged);
    return charged;
  }

  /** Nothing was used: nothing is taken, and no receipt is written. */
  release(): void {
    if (this.#isOpen) this.#close(0n);
    this.call?.calls.delete(this.call.id);
  }

  /** Gives back what was taken: its receipt could not be written, and nothing was delivered. */
  giveBack(): void {
    const charged = this.#charged ?? 0n;
    this.#charged = 0n;
    this.account.spent -= charged;
    for (const pot of this.#budgets) pot.spent -= charged;
    this.call?.calls.delete(this.call.id);
  }

  #close(charged: bigint): void {
    this.#isOpen = false;
    this.#charged = charged;
    this.account.held -= this.nano;
    this.account.spent += charged;
    for (const pot of this.#budgets) {
      pot.held -= this.nano;
      pot.spent += charged;
    }
  }
}

function least(...amounts: readonly [bigint, ...bigint[]]): bigint {
  return amounts.reduce((one, other) => (other < one ? other : one));
}

export function leastFree(account: Pot, budgets: readonly BudgetPot[]): bigint {
  let least = account.free;
  for (const pot of budgets) if (pot.free < least) least = pot.free;
  return least;
}
