import type { Receipt } from "../../ledger/receipt.ts";
import type { Rejection } from "../../rejections/rejection.ts";

/** A call that has just ended, or was just rejected. */
export type RecentCall =
  | { readonly kind: "admitted"; readonly receipt: Receipt }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

export interface CallSources {
  readonly receipts: Set<(receipt: Receipt) => void>;
  readonly rejections: Set<(rejection: Rejection) => void>;
  /** Resolves when both are notified of all that happens from then on; absent: at once. */
  readonly listening?: (() => Promise<void>) | undefined;
}

export interface CallNews {
  /** The oldest first. */
  readonly calls: readonly RecentCall[];
  /** For the next question. */
  readonly after: number;
  /** Calls that had to make room for others since the last question. */
  readonly missed: number;
}

const mostKept = 1_000;
/** A follower that does not ask for this long is gone. */
const waitMs = 10_000;

/** The last calls, while somebody follows them: otherwise a call costs nothing here. */
export class RecentCalls {
  readonly #sources: CallSources;
  readonly #waitMs: number;
  readonly #kept: RecentCall[] = [];
  /** The number of the next call. */
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(sources: CallSources, options: { readonly waitMs?: number } = {}) {
    this.#sources = sources;
    this.#waitMs = options.waitMs ?? waitMs;
  }

  /** `after` is from the last answer; without it, only what comes from now on is news. */
  since(after: number | undefined): CallNews {
    this.#listen();
    const next = this.#next;
    // A number from another process is nothing to go by.
    if (after === undefined || after > next) return { calls: [], after: next, missed: 0 };
    const oldest = next - this.#kept.length;
    const calls = this.#kept.slice(Math.max(0, after - oldest));
    return { calls, after: next, missed: Math.max(0, oldest - after) };
  }

  #listen(): void {
    if (this.#timer === undefined) {
      this.#sources.receipts.add(this.#onReceipt);
      this.#sources.rejections.add(this.#onRejection);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(), this.#waitMs);
    this.#timer.unref();
  }

  #stop(): void {
    this.#sources.receipts.delete(this.#onReceipt);
    this.#sources.rejections.delete(this.#onRejection);
    this.#timer = undefined;
    this.#kept.length = 0;
  }

  readonly #onReceipt = (receipt: Receipt) => this.#add({ kind: "admitted", receipt });
  readonly #onRejection = (rejection: Rejection) => this.#add({ kind: "rejected", rejection });

  #add(call: RecentCall): void {
    this.#next++;
    this.#kept.push(call);
    // Twice the number, so that not every call moves all others.
    if (this.#kept.length >= 2 * mostKept) this.#kept.splice(0, mostKept);
  }
}
