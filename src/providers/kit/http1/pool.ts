import { monotonicMs } from "../../../base/clock.ts";
import { Connection, ConnectionError, type Message, type Place } from "./connection.ts";
import type { SocketReply } from "./socket-reply.ts";

/** Servers close free connections after 5 s (uvicorn, Node) to some minutes. */
const usualIdleMs = 60_000;
const leastIdleMs = 1_000;
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
  /** The latest last. */
  readonly #idle: Connection[] = [];
  #idleMs = usualIdleMs;

  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * Sends a request on a free connection or a new one. One that the server closed while it was free
   * is found out here: the request goes out once more, on a new connection, if nothing was sent or
   * it may be sent twice.
   */
  send(message: Message): Promise<SocketReply> {
    const known = this.#idle.pop();
    if (known === undefined) return this.#sendNew(message);
    return known.send(message).catch((error: unknown) => {
      if (!(error instanceof ConnectionError) || message.signal.aborted) throw error;
      const isSafe = error.isUnsent || message.body === undefined;
      if (!isSafe) throw error;
      return this.#sendNew(message);
    });
  }

  free(connection: Connection): void {
    if (this.#idle.length >= maxIdle) return connection.end();
    connection.idleSinceMs = monotonicMs();
    this.#idle.push(connection);
    watch(this);
  }

  drop(connection: Connection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.expectClose(monotonicMs() - connection.idleSinceMs);
  }

  /** The server closes connections that are free for this long. */
  expectClose(afterMs: number): void {
    this.#idleMs = Math.min(this.#idleMs, Math.max(leastIdleMs, afterMs * idleShare));
  }

  /** Closes what has been free for too long; whether any is left. */
  sweep(nowMs: number): boolean {
    let stale = 0;
    for (const { idleSinceMs } of this.#idle) {
      if (nowMs - idleSinceMs < this.#idleMs) break;
      stale++;
    }
    for (const connection of this.#idle.splice(0, stale)) connection.end();
    return this.#idle.length > 0;
  }

  #sendNew(message: Message): Promise<SocketReply> {
    return new Connection(this.#place, this).send(message);
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
    const nowMs = monotonicMs();
    for (const one of watched) if (!one.sweep(nowMs)) watched.delete(one);
    if (watched.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }, sweepMs);
  sweeper.unref();
}
