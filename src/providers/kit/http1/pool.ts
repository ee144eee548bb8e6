import { monotonicMs } from "../../../base/clock.ts";
import {
  Connection,
  ConnectionError,
  type Message,
  type Place,
  type Sending,
} from "./connection.ts";
import type { SocketReply } from "./socket-reply.ts";

/** Servers close free connections after 5 s (uvicorn, Node) to some minutes. */
const usualIdleMs = 60_000;
/** One that is seen to close sooner does so for another reason. */
const leastSeenMs = 1_000;
/** A server that restarts closes them all, whatever their age: that must not count forever. */
const seenForMs = 600_000;
/** A request must not meet a server that is about to close. */
const idleShare = 0.75;
const maxIdle = 1_024;
/** Each connection that rests costs memory that the next calls would find in the processor's cache. */
const restingAtOnce = 128;
/** Bytes behind a reply that come later than this are not part of it: some servers send a 408. */
const strayMs = 1_000;
const distrustMs = 600_000;

/**
 * When a connection serves the next request: as soon as its reply has ended, after a rest in which
 * bytes behind that reply would be seen, or never.
 */
export type Reuse = "at-once" | "rested" | "never";

export interface PoolOptions {
  readonly reuse?: Reuse | undefined;
  readonly nowMs?: () => number;
}

/**
 * The connections to one place. Those that are free are used again, the latest first, and closed
 * after a while without work: sooner than the server does, as far as it says or is seen to. There is
 * no limit to those in use, because calls are limited before they get here.
 *
 * HTTP/1.1 replies carry no name of their request, so a second reply to one request would answer the
 * next. A place that has sent bytes behind a reply gets a connection per request for a while.
 */
export class Pool {
  readonly #place: Place;
  readonly #nowMs: () => number;
  readonly #reuse: Reuse;
  /** The latest last. */
  readonly #idle: Connection[] = [];
  /** Freed since the last tick, and before it. */
  #resting: Connection[] = [];
  #rested: Connection[] = [];
  #distrustedUntilMs = 0;
  /** How long they may stay free, by what the server says. */
  #toldMs = usualIdleMs;
  /** By what it was seen to do, until it is forgotten. */
  #seenMs = usualIdleMs;
  #seenUntilMs = 0;

  constructor(place: Place, { reuse = "at-once", nowMs = monotonicMs }: PoolOptions = {}) {
    this.#place = place;
    this.#reuse = reuse;
    this.#nowMs = nowMs;
  }

  /**
   * Sends a request on a free connection or a new one. One that the server closed while it was free
   * is found out here: the request goes out once more, on a new connection, if nothing was sent or
   * it may be sent twice.
   */
  send(message: Message): Promise<SocketReply> {
    const known = this.#takeIdle();
    return new Promise((resolve, reject) => {
      if (known === undefined) return this.#sendNew({ message, resolve, reject });
      const onFailure = (error: unknown) => {
        const { signal, body } = message;
        const isSafe = error instanceof ConnectionError && (error.isUnsent || body === undefined);
        if (isSafe && !signal.aborted) this.#sendNew({ message, resolve, reject });
        else reject(error);
      };
      known.send({ message, resolve, reject: onFailure });
    });
  }

  free(connection: Connection): void {
    const nowMs = this.#nowMs();
    const isRefused = this.#reuse === "never" || nowMs < this.#distrustedUntilMs;
    if (isRefused || this.#freeCount >= maxIdle) return connection.end();
    connection.idleSinceMs = nowMs;
    if (this.#reuse === "rested") {
      const count = this.#resting.push(connection);
      if (count === 1) watchRest(this);
      // In a turn of its own, as a tick is.
      else if (count === restingAtOnce) setImmediate(this.#tickEarly);
      return;
    }
    this.#idle.push(connection);
    watch(this);
  }

  stray(connection: Connection): void {
    const nowMs = this.#nowMs();
    const isFree = this.#forget(connection);
    connection.end();
    if (isFree && nowMs - connection.idleSinceMs > strayMs) return;
    this.#distrustedUntilMs = nowMs + distrustMs;
    for (const free of [...this.#idle, ...this.#rested, ...this.#resting]) {
      this.#forget(free);
      free.end();
    }
  }

  drop(connection: Connection): void {
    if (!this.#forget(connection)) return;
    const nowMs = this.#nowMs();
    const seenMs = Math.max(leastSeenMs, (nowMs - connection.idleSinceMs) * idleShare);
    this.#seenMs = nowMs < this.#seenUntilMs ? Math.min(this.#seenMs, seenMs) : seenMs;
    this.#seenUntilMs = nowMs + seenForMs;
  }

  /** The server says that it closes connections that are free for this long. */
  expectClose(afterMs: number): void {
    this.#toldMs = Math.min(this.#toldMs, afterMs * idleShare);
  }

  /** Closes what has been free for too long; whether any is left. */
  sweep(): boolean {
    const sinceMs = this.#staleSinceMs();
    const fresh = this.#idle.findIndex(({ idleSinceMs }) => idleSinceMs > sinceMs);
    const stale = this.#idle.splice(0, fresh === -1 ? this.#idle.length : fresh);
    for (const connection of stale) connection.end();
    return this.#idle.length > 0;
  }

  /**
   * Ends the rest of connections that were freed before the last tick; whether any rests on. Two
   * ticks are turns of the event loop of their own, so whatever has arrived was read between them.
   * A tick comes early when many rest, so that a busy pool does not go through ever more connections.
   */
  tickRest(): boolean {
    const rested = this.#rested;
    for (const connection of rested) this.#idle.push(connection);
    if (rested.length > 0) watch(this);
    rested.length = 0;
    this.#rested = this.#resting;
    this.#resting = rested;
    return this.#rested.length > 0;
  }

  readonly #tickEarly = (): void => {
    this.tickRest();
  };

  get #freeCount(): number {
    return this.#idle.length + this.#rested.length + this.#resting.length;
  }

  /** False if it was not free. */
  #forget(connection: Connection): boolean {
    for (const list of [this.#idle, this.#rested, this.#resting]) {
      const at = list.lastIndexOf(connection);
      if (at === -1) continue;
      list.splice(at, 1);
      return true;
    }
    return false;
  }

  /** The timer may be late, so its work is not relied on. */
  #takeIdle(): Connection | undefined {
    const latest = this.#idle.at(-1);
    if (latest === undefined) return undefined;
    if (latest.idleSinceMs > this.#staleSinceMs()) return this.#idle.pop();
    this.sweep();
    return undefined;
  }

  #staleSinceMs(): number {
    const nowMs = this.#nowMs();
    return (
      nowMs - (nowMs < this.#seenUntilMs ? Math.min(this.#toldMs, this.#seenMs) : this.#toldMs)
    );
  }

  #sendNew(sending: Sending): void {
    new Connection(this.#place, this).send(sending);
  }
}

const sweepMs = 1_000;
/** Those with free connections. */
const watched = new Set<Pool>();
let sweeper: ReturnType<typeof setInterval> | undefined;

/** One timer for all pools, which runs only while there is something to close. */
function watch(pool: Pool): void {
  if (watched.has(pool)) return;
  watched.add(pool);
  if (sweeper !== undefined) return;
  sweeper = setInterval(() => {
    for (const one of watched) if (!one.sweep()) watched.delete(one);
    if (watched.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }, sweepMs);
  sweeper.unref();
}

const restTickMs = 20;
const restingPools = new Set<Pool>();
let restTicker: ReturnType<typeof setInterval> | undefined;

/** Runs only while a connection rests: for one to two ticks each. */
function watchRest(pool: Pool): void {
  restingPools.add(pool);
  if (restTicker !== undefined) return;
  restTicker = setInterval(() => {
    for (const one of restingPools) if (!one.tickRest()) restingPools.delete(one);
    if (restingPools.size > 0) return;
    clearInterval(restTicker);
    restTicker = undefined;
  }, restTickMs);
  restTicker.unref();
}
