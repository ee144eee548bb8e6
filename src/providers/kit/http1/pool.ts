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

/**
 * The connections to one place. Those that are free are used again, the latest first, and closed
 * after a while without work: sooner than the server does, as far as it says or is seen to. There is
 * no limit to those in use, because calls are limited before they get here.
 */
export class Pool {
  readonly #place: Place;
  readonly #nowMs: () => number;
  /** The latest last. */
  readonly #idle: Connection[] = [];
  /** How long they may stay free, by what the server says. */
  #toldMs = usualIdleMs;
  /** By what it was seen to do, until it is forgotten. */
  #seenMs = usualIdleMs;
  #seenUntilMs = 0;

  constructor(place: Place, nowMs: () => number = monotonicMs) {
    this.#place = place;
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
    if (this.#idle.length >= maxIdle) return connection.end();
    connection.idleSinceMs = this.#nowMs();
    this.#idle.push(connection);
    watch(this);
  }

  drop(connection: Connection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
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
