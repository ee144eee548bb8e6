/** Something that a request needs and that may have to be borrowed first. */
export interface Borrowed {
  readonly kind: "requests" | "tokens" | "concurrency";
  readonly limit: number;
  /** Takes nothing. */
  check(cost: number, nowMs: number): Readiness;
  /** Only what is ready. */
  reserve(cost: number, nowMs: number): void;
  /** Whether it was granted, for this request alone; rejects when the store is away. */
  ask(cost: number): Promise<boolean>;
  /** The request has all that it needs, and uses what was reserved. */
  confirm(cost: number): void;
  /** The request was refused for something else: what was reserved is free again. */
  putBack(cost: number, nowMs: number): void;
  /** The same for what it had asked for. */
  refund(cost: number, nowMs: number): void;
  retryAfterMs(cost: number, nowMs: number): number;
}

/** `ask`: the store has to be asked. */
export type Readiness = "ready" | "ask" | "refused";

interface Waiter {
  readonly cost: number;
  readonly resolve: (isGranted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests that wait for the store's answer, in their order. */
export class Waiters {
  #waiting: Waiter[] = [];
  /** How many of them are in the call under way. */
  #sent = 0;
  #cost = 0;

  get count(): number {
    return this.#waiting.length;
  }

  get cost(): number {
    return this.#cost;
  }

  get sentCount(): number {
    return this.#sent;
  }

  add(cost: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#waiting.push({ cost, resolve, reject });
    this.#cost += cost;
    return promise;
  }

  /** The first that still waits is taken from the queue and granted. */
  grantFirst(): void {
    const first = this.#waiting.shift();
    if (first === undefined) return;
    this.#cost -= first.cost;
    if (this.#sent > 0) this.#sent--;
    first.resolve(true);
  }

  send(): readonly number[] {
    this.#sent = this.#waiting.length;
    return this.#waiting.map(({ cost }) => cost);
  }

  /**
   * Those that were sent get their answer, true for whom `take` takes; those that came later stay
   * unless there is something for them, too. True when one got nothing.
   */
  serve(take: (cost: number) => boolean): boolean {
    let isShort = false;
    const sent = this.#sent;
    this.#sent = 0;
    this.#waiting = this.#waiting.filter(({ cost, resolve }, at) => {
      const isTaken = take(cost);
      if (!isTaken && at >= sent) return true;
      this.#cost -= cost;
      if (!isTaken) isShort = true;
      resolve(isTaken);
      return false;
    });
    return isShort;
  }

  fail(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#sent = 0;
    this.#cost = 0;
    for (const { reject } of waiting) reject(error);
  }
}
