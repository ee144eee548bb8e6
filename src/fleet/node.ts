import { monotonicMs } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { within } from "../base/within.ts";
import type { FleetClock } from "./clock.ts";
import type { FleetStore, NodeLoad, TickReply } from "./store.ts";

export interface FleetNodeOptions {
  readonly store: Pick<FleetStore, "tick" | "recover">;
  readonly load: () => NodeLoad;
  /** The number of the newest change that is in memory. */
  readonly seen: () => number;
  /** Takes in what is new. The node counts as up to date once it has resolved. */
  readonly onTick: (reply: TickReply) => Promise<void>;
  /** Another process has closed this node's epoch: it can charge nothing any more. */
  readonly onClosed: () => void;
  /** Told the time of the database. */
  readonly clock: FleetClock;
  readonly log: Log;
  readonly elapsedMs?: () => number;
  readonly everyMs?: number;
  /** How long each of the two, the store and `onTick`, may take before the tick has failed. */
  readonly takeInMs?: number;
  /** How long a call waits for ticks before it is rejected. */
  readonly callWaitsMs?: number;
}

export const tickMs = 250;
/** A node that has heard nothing for so long hears first, and serves then. */
export const freshMs = 1_000;
/** A node whose newest tick is older is not ready, even if none has failed. */
const readyMs = 3_000;
/** Each tick ends within seconds: where none has ended for so long, this process is broken. */
const stuckMs = 180_000;
const usualTakeInMs = 5_000;
const usualCallWaitsMs = 5_000;
/** How often it looks for nodes that are gone for good. */
const recoverEveryMs = 5_000;
/** Clocks that differ by less are told of by nobody. */
const wrongAfterMs = 5_000;

/**
 * Keeps a process in step with the others: one short exchange with the database, four times a second.
 * Times are monotonic; a clock that is set changes nothing.
 */
export class FleetNode {
  readonly #options: Required<FleetNodeOptions>;
  /** When the tick was sent that this process is up to date with. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #recoveredMs = Number.NEGATIVE_INFINITY;
  /** When the last tick ended, well or not. */
  #endedMs: number;
  #running: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRecovering = false;
  #isStopped = false;
  #isAway = false;
  #isWrong = false;
  #nodes = 1;

  constructor(options: FleetNodeOptions) {
    this.#options = {
      elapsedMs: monotonicMs,
      everyMs: tickMs,
      takeInMs: usualTakeInMs,
      callWaitsMs: usualCallWaitsMs,
      ...options,
    };
    this.#endedMs = this.#options.elapsedMs();
  }

  /** How many nodes run, as of the last tick. */
  get nodes(): number {
    return this.#nodes;
  }

  /** Whether it knows what the others had changed a second ago. */
  isFresh(): boolean {
    return this.#options.elapsedMs() - this.#heardMs < freshMs;
  }

  /** Whether calls can be expected to be admitted; from memory, and without asking the database. */
  isReady(): boolean {
    return !this.#isAway && this.#options.elapsedMs() - this.#heardMs < readyMs;
  }

  /** Whether ticks still end. They do while the database is away, because each has a deadline. */
  isStuck(): boolean {
    return this.#options.elapsedMs() - this.#endedMs > stuckMs;
  }

  /** Resolves when it is up to date, or rejects: the database cannot be reached. */
  refresh(): Promise<void> {
    return within(this.#refresh(), this.#options.callWaitsMs, "the database answers too late");
  }

  async #refresh(): Promise<void> {
    // The first may have been sent before this process was stopped for a while.
    for (let attempts = 0; attempts < 2 && !this.isFresh(); attempts++) await this.#tick();
    if (!this.isFresh()) throw new Error("the database answers too late");
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const { callWaitsMs } = this.#options;
    await within(this.#running ?? Promise.resolve(), callWaitsMs, "").catch(() => {});
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#tick()
        .catch(() => {})
        .finally(() => this.#schedule());
    }, this.#options.everyMs);
  }

  /** Callers share a tick that is in flight. */
  #tick(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
      this.#endedMs = this.#options.elapsedMs();
    });
    return this.#running;
  }

  async #exchange(): Promise<void> {
    const { store, load, seen, onTick, onClosed, log, elapsedMs, takeInMs } = this.#options;
    const sentMs = elapsedMs();
    try {
      const late = "the database answers too late";
      const reply = await within(store.tick(load(), seen()), takeInMs, late);
      this.#nodes = reply.nodes;
      this.#setClock(reply.nowMs, sentMs);
      if (!reply.isOpen) return onClosed();
      await within(onTick(reply), takeInMs, "changes were not read in time");
      this.#heardMs = sentMs;
      if (this.#isAway) {
        log.info("database is reachable again");
        // The others may have been cut off as well, and are about to come back.
        this.#recoveredMs = sentMs;
      }
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) log.error("database is not reachable", { detail: String(error) });
      this.#isAway = true;
      throw error;
    }
    this.#recover(sentMs);
  }

  #setClock(databaseMs: number, sentMs: number): void {
    const { clock, log } = this.#options;
    clock.set(databaseMs, sentMs);
    const isWrong = Math.abs(clock.wrongMs) > wrongAfterMs;
    if (isWrong && !this.#isWrong)
      log.warn(
        "this machine's clock differs from the database's; the database's time is used. Check the time service of this machine",
        { ahead_s: Math.round(clock.wrongMs / 1000) },
      );
    this.#isWrong = isWrong;
  }

  #recover(sentMs: number): void {
    const { store, log } = this.#options;
    if (this.#isRecovering || sentMs - this.#recoveredMs < recoverEveryMs) return;
    this.#recoveredMs = sentMs;
    this.#isRecovering = true;
    // Beside the ticks: it may take a while.
    store
      .recover()
      .then((closed) => {
        if (closed > 0) log.warn("closed the leases of nodes that are gone", { count: closed });
      })
      .catch(() => {})
      .finally(() => {
        this.#isRecovering = false;
      });
  }
}
