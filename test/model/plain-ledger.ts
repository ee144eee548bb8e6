/**
 * What the ledger should be, said in the plainest way: lists of what happened, added up anew for
 * every question. Nothing of it is taken from the product.
 */

export interface PlainPrice {
  readonly model: string;
  readonly version: number;
  readonly effectiveAtMs: number;
  /** Nano-USD for a million tokens. */
  readonly input: bigint;
  readonly cached: bigint | undefined;
  readonly output: bigint;
}

export interface PlainUnits {
  readonly input: number;
  readonly cached_input: number;
  readonly output: number;
}

export interface PlainCall {
  readonly id: string;
  readonly account: PlainAccount;
  readonly keyId: string;
  readonly model: string;
  readonly startedMs: number;
  readonly price: PlainPrice;
  readonly hold: bigint;
  readonly cap: number;
  /** In the order in which calls ended; undefined while it runs. */
  ended: number | undefined;
  units: PlainUnits;
  outcome: string;
  cost: bigint;
  charged: bigint;
  isDurable: boolean;
  mayTakeBack: boolean;
}

export interface PlainAccount {
  readonly id: string;
  readonly keyIds: readonly string[];
  readonly entries: { readonly reference: string; readonly kind: string; readonly nano: bigint }[];
  isSuspended: boolean;
}

type Period = "total" | "day" | "month";

interface PlainBudget {
  readonly nano: bigint;
  readonly period: Period;
}

/** What was spent and held of a period when its budget was set: a low one takes nothing back. */
interface UsedAtChange {
  readonly ownerId: string;
  readonly startMs: number;
  readonly nano: bigint;
}

export interface PlainNeed {
  readonly input: number;
  readonly cap: number;
  readonly choices: number;
  readonly isCapNamed: boolean;
}

const shortestUsefulAnswer = 256;
const sum = (amounts: readonly bigint[]) => amounts.reduce((one, other) => one + other, 0n);
const smallest = (amounts: readonly bigint[]) =>
  amounts.reduce((one, other) => (other < one ? other : one));

export class PlainLedger {
  accounts: PlainAccount[] = [];
  prices: PlainPrice[] = [];
  calls: PlainCall[] = [];
  readonly budgets = new Map<string, PlainBudget>();
  #usedAtChange: UsedAtChange[] = [];
  readonly concurrency = new Map<string, number>();
  #ends = 0;

  get open(): readonly PlainCall[] {
    return this.calls.filter(({ ended }) => ended === undefined);
  }

  get over(): readonly PlainCall[] {
    return this.calls.filter(({ ended }) => ended !== undefined);
  }

  granted({ entries }: PlainAccount): bigint {
    return sum(entries.map(({ nano }) => nano));
  }

  spent(account: PlainAccount, isDurableOnly = false): bigint {
    const mine = this.over.filter((call) => call.account === account);
    return sum(
      mine.filter(({ isDurable }) => isDurable || !isDurableOnly).map(({ charged }) => charged),
    );
  }

  held(account: PlainAccount): bigint {
    return sum(this.open.filter((call) => call.account === account).map(({ hold }) => hold));
  }

  free(account: PlainAccount): bigint {
    return this.granted(account) - this.spent(account) - this.held(account);
  }

  enter(
    account: PlainAccount,
    entry: { readonly reference: string; readonly kind: string; readonly nano: bigint },
  ): "added" | "repeated" | "refused" {
    const known = account.entries.find(({ reference }) => reference === entry.reference);
    if (known !== undefined)
      return known.kind === entry.kind && known.nano === entry.nano ? "repeated" : "refused";
    if (entry.nano < 0n && -entry.nano > this.free(account)) return "refused";
    account.entries.push(entry);
    return "added";
  }

  priceAt(model: string, nowMs: number): PlainPrice {
    const past = this.prices.filter(
      (price) => price.model === model && price.effectiveAtMs <= nowMs,
    );
    const latestMs = Math.max(...past.map(({ effectiveAtMs }) => effectiveAtMs));
    const price = past.filter(({ effectiveAtMs }) => effectiveAtMs === latestMs).at(-1);
    if (price === undefined) throw new Error(`${model} has no price`);
    return price;
  }

  setBudget(options: {
    readonly ownerId: string;
    readonly budget: { readonly nano: bigint; readonly period: Period } | undefined;
    readonly nowMs: number;
  }): void {
    const { ownerId, budget, nowMs } = options;
    this.#usedAtChange = this.#usedAtChange.filter((used) => used.ownerId !== ownerId);
    if (budget === undefined) {
      this.budgets.delete(ownerId);
      return;
    }
    this.budgets.set(ownerId, budget);
    const startMs = startOf(budget.period, nowMs);
    const nano = this.budgetSpent(ownerId, startMs) + this.budgetHeld(ownerId, startMs);
    this.#usedAtChange.push({ ownerId, startMs, nano });
  }

  /** What was spent in the period of a budget that began then, whenever the budget was set. */
  budgetSpent(ownerId: string, startMs: number, isDurableOnly = false): bigint {
    const counted = this.over.filter(
      (call) => this.#counts(call, ownerId, startMs) && (call.isDurable || !isDurableOnly),
    );
    return sum(counted.map(({ charged }) => charged));
  }

  budgetHeld(ownerId: string, startMs: number): bigint {
    const counted = this.open.filter((call) => this.#counts(call, ownerId, startMs));
    return sum(counted.map(({ hold }) => hold));
  }

  /** The most that may be spent and held of a budget now. */
  budgetCeiling(ownerId: string, startMs: number): bigint {
    const { nano } = this.#budgetOf(ownerId);
    const used = this.#usedAtChange.find(
      (one) => one.ownerId === ownerId && one.startMs === startMs,
    );
    return used !== undefined && used.nano > nano ? used.nano : nano;
  }

  #counts({ account, keyId, startedMs }: PlainCall, ownerId: string, startMs: number): boolean {
    const { period } = this.#budgetOf(ownerId);
    return [account.id, keyId].includes(ownerId) && startOf(period, startedMs) === startMs;
  }

  #budgetOf(ownerId: string): PlainBudget {
    const budget = this.budgets.get(ownerId);
    if (budget === undefined) throw new Error(`${ownerId} has no budget`);
    return budget;
  }

  /** Why a call is refused, or what is held for it. */
  judge(options: {
    readonly account: PlainAccount;
    readonly keyId: string;
    readonly price: PlainPrice;
    readonly need: PlainNeed;
    readonly startedMs: number;
    readonly isStoreFailing: boolean;
  }): { readonly refusal: string } | { readonly hold: bigint; readonly cap: number } {
    const { account, keyId, price, need, startedMs } = options;
    if (account.isSuspended) return { refusal: "account_suspended" };
    const running = this.open.filter((call) => call.keyId === keyId).length;
    if (running >= (this.concurrency.get(keyId) ?? Number.POSITIVE_INFINITY))
      return { refusal: "rate_limit_exceeded" };
    if (options.isStoreFailing) return { refusal: "store_unavailable" };
    const inAccount = this.free(account);
    const inBudgets = this.#countsOf(account, keyId, startedMs).map((one) =>
      this.#budgetFree(one.ownerId, one.startMs),
    );
    const held = coverOf(need, price, smallest([inAccount, ...inBudgets]));
    if (held !== undefined) return held;
    const isAccountShort = coverOf(need, price, inAccount) === undefined;
    return { refusal: isAccountShort ? "insufficient_quota" : "budget_exceeded" };
  }

  admit(
    call: Omit<
      PlainCall,
      "ended" | "units" | "outcome" | "cost" | "charged" | "isDurable" | "mayTakeBack"
    >,
  ): PlainCall {
    const admitted: PlainCall = {
      ...call,
      ended: undefined,
      units: { input: 0, cached_input: 0, output: 0 },
      outcome: "",
      cost: 0n,
      charged: 0n,
      isDurable: false,
      mayTakeBack: false,
    };
    this.calls.push(admitted);
    return admitted;
  }

  end(
    call: PlainCall,
    how: {
      readonly units: PlainUnits;
      readonly outcome: string;
      readonly mayTakeBack: boolean;
      readonly isDurable: boolean;
    },
  ): void {
    Object.assign(call, how);
    call.cost = costOf(how.units, call.price);
    call.charged = smallest([call.cost, call.hold]);
    this.#ends++;
    call.ended = this.#ends;
  }

  /** It never was: nothing of it went out, and it could not be written. */
  takeBack(call: PlainCall): void {
    this.calls = this.calls.filter((other) => other !== call);
  }

  /** What memory held is gone; of what was being written, some is there. */
  crash(isWritten: (call: PlainCall) => boolean): void {
    this.calls = this.calls.filter((call) => call.isDurable || isWritten(call));
    for (const call of this.calls) call.isDurable = true;
  }

  #budgetFree(ownerId: string, startMs: number): bigint {
    const { nano } = this.#budgetOf(ownerId);
    return nano - this.budgetSpent(ownerId, startMs) - this.budgetHeld(ownerId, startMs);
  }

  #countsOf(account: PlainAccount, keyId: string, startedMs: number) {
    return [account.id, keyId].flatMap((ownerId) => {
      const budget = this.budgets.get(ownerId);
      return budget === undefined ? [] : [{ ownerId, startMs: startOf(budget.period, startedMs) }];
    });
  }
}

/** Midnight of the day or of the first of the month, in UTC. */
export function startOf(period: Period, ms: number): number {
  if (period === "total") return 0;
  const date = new Date(ms).toISOString().slice(0, period === "day" ? 10 : 7);
  return Date.parse(period === "day" ? `${date}T00:00:00Z` : `${date}-01T00:00:00Z`);
}

/** Millionths of nano-USD, rounded up to whole ones. */
function rounded(millionths: bigint): bigint {
  return millionths / 1_000_000n + (millionths % 1_000_000n === 0n ? 0n : 1n);
}

export function costOf(units: PlainUnits, price: PlainPrice): bigint {
  return rounded(
    BigInt(units.input) * price.input +
      BigInt(units.cached_input) * (price.cached ?? price.input) +
      BigInt(units.output) * price.output,
  );
}

/** Input counts as the dearest kind of it. */
function worstCase(need: PlainNeed, price: PlainPrice, cap: number): bigint {
  const cached = price.cached ?? price.input;
  const dearest = cached > price.input ? cached : price.input;
  const output = BigInt(need.choices * cap);
  return rounded(BigInt(need.input) * dearest + output * price.output);
}

/**
 * All of it, or, where nobody named a length, the longest answer that half of the money pays for
 * and at least the shortest that is of use.
 */
function coverOf(
  need: PlainNeed,
  price: PlainPrice,
  free: bigint,
): { readonly hold: bigint; readonly cap: number } | undefined {
  const whole = worstCase(need, price, need.cap);
  // What costs nothing needs no money.
  if (whole <= free || whole === 0n) return { hold: whole, cap: need.cap };
  if (need.isCapNamed || price.output === 0n || need.cap <= shortestUsefulAnswer) return undefined;
  let cap = need.cap;
  while (cap > shortestUsefulAnswer && worstCase(need, price, cap) > free / 2n) cap--;
  const hold = worstCase(need, price, cap);
  return hold <= free ? { hold, cap } : undefined;
}
