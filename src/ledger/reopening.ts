import { randomBytes, randomUUID } from "node:crypto";
import type { Receipt } from "./receipt.ts";
import type { LedgerStore, LedgerWrite } from "./store.ts";

export interface ReopeningOptions {
  readonly retryMs: number;
  readonly nowMs: () => number;
}

const longestPauseMs = 5_000;
/** While only a probe has shown that the store can be written, one call finds out at a time. */
const trialEveryMs = 1_000;
/** Random, so that no store makes it smaller: it must need space in the table and in its log. */
const probeBytes = 32 * 1024;

/**
 * When a store that failed is tried again, and which calls are admitted then. A store that refuses
 * writes (its disk is full) may take small ones: after a probe has succeeded, one call per second is
 * admitted, until a receipt stands. The pauses between attempts double until then.
 */
export class Reopening {
  readonly #options: ReopeningOptions;
  #pauseMs: number;
  #isRefused = false;
  #trialMs: number | undefined;

  constructor(options: ReopeningOptions) {
    this.#options = options;
    this.#pauseMs = options.retryMs;
  }

  /** `isRefused`: the store answered; otherwise it may be well again at any moment. */
  failed(isRefused: boolean): void {
    const { retryMs } = this.#options;
    this.#isRefused = isRefused;
    this.#pauseMs = isRefused ? Math.min(this.#pauseMs * 2, longestPauseMs) : retryMs;
    this.#trialMs = undefined;
  }

  /** Before the next attempt. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /** The store took a write; a receipt is proof. */
  succeeded(isProof: boolean): void {
    if (isProof) {
      this.#isRefused = false;
      this.#pauseMs = this.#options.retryMs;
      this.#trialMs = undefined;
    } else if (this.#isRefused) this.#trialMs ??= Number.NEGATIVE_INFINITY;
  }

  /** Whether one more call may begin. */
  admits(): boolean {
    if (this.#trialMs === undefined) return true;
    const nowMs = this.#options.nowMs();
    // The clock may have been set back.
    if (Math.abs(nowMs - this.#trialMs) < trialEveryMs) return false;
    this.#trialMs = nowMs;
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
