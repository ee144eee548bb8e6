import { randomBytes, randomUUID } from "node:crypto";
import type { Receipt } from "./receipt.ts";
import type { LedgerStore, LedgerWrite } from "./store.ts";

export interface ReopeningOptions {
  readonly retryMs: number;
  readonly roundMs: number;
}

const longestPauseMs = 5_000;
/** With twice the places in each round, the last one has 32. */
const mostRounds = 6;
/** Random, so that no store makes it smaller: it must need space in the table and in its log. */
const probeBytes = 32 * 1024;

export type StoreWrite = "receipt" | "probe" | "other";

/**
 * When a store that failed is tried again, and which calls are admitted then. A store that refuses
 * writes (its disk is full) may take small ones, so a probe that succeeds opens rounds of a second
 * first: 1, 2, 4, … calls, of which each account gets one per round. Each round begins with
 * another probe. A receipt that stands ends the rounds, and so does the probe after the last one:
 * slow calls write receipts late, and must not keep other accounts out. The pauses between attempts
 * double until a receipt stands.
 */
export class Reopening {
  readonly #options: ReopeningOptions;
  #pauseMs: number;
  #isRefused = false;
  /** 0 before the first probe has succeeded, and while all calls are admitted. */
  #round = 0;
  readonly #accounts = new Set<string>();

  constructor(options: ReopeningOptions) {
    this.#options = options;
    this.#pauseMs = options.retryMs;
  }

  /** `isRefused`: the store answered; otherwise it may be well again at any moment. */
  failed(isRefused: boolean): void {
    const { retryMs } = this.#options;
    this.#isRefused ||= isRefused;
    this.#pauseMs = isRefused ? Math.min(this.#pauseMs * 2, longestPauseMs) : retryMs;
    this.#round = 0;
  }

  /** Whether only some calls are admitted. */
  get isInRounds(): boolean {
    return this.#round > 0;
  }

  /** Before the next attempt. */
  get pauseMs(): number {
    return this.isInRounds ? this.#options.roundMs : this.#pauseMs;
  }

  /** The store took a write. */
  succeeded(write: StoreWrite): void {
    const isLast = write === "probe" && this.#round === mostRounds;
    if (write === "receipt") this.#pauseMs = this.#options.retryMs;
    if (write === "receipt" || isLast) {
      this.#isRefused = false;
      this.#round = 0;
    } else if (this.#isRefused && (write === "probe" || !this.isInRounds)) {
      this.#round++;
      this.#accounts.clear();
    }
  }

  /** Whether one more call may begin. */
  admits(accountId: string): boolean {
    if (!this.isInRounds) return true;
    if (this.#accounts.has(accountId) || this.#accounts.size >= 2 ** (this.#round - 1))
      return false;
    this.#accounts.add(accountId);
    return true;
  }
}

/**
 * Writes as much as a receipt needs, durably, and takes it away again. Receipts that were refused are
 * tried first: they fail where the next ones would.
 */
export async function probeStore(
  store: Pick<LedgerStore, "commit" | "rehearse">,
  nowMs: number,
  refused: readonly Receipt[] = [],
): Promise<void> {
  if (refused.length > 0) await store.rehearse?.(refused);
  const id = `probe ${randomUUID()}`;
  const claim: LedgerWrite = {
    type: "claim",
    claim: {
      id,
      bodyHash: "",
      requestId: id,
      isDone: false,
      reply: new Uint8Array(randomBytes(probeBytes)),
      // One that is left behind is deleted as any other that has expired.
      expiresAtMs: nowMs,
    },
  };
  await store.commit([claim]);
  await store.commit([{ type: "claim-release", id }]);
}
