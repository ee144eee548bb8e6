import { idTimeMs } from "../../base/ids.ts";
import type { Receipt } from "../receipt.ts";
import type { ReceiptMark } from "../retention.ts";
import type { Rollup } from "../rollups.ts";

/** What was taken from the sums of days, because its receipts are no longer kept. */
export interface FromSums {
  readonly receipts: number;
  readonly charged: bigint;
  /** Of all accounts; undefined: only some accounts have receipts that are gone. */
  readonly beforeMs: number | undefined;
}

/** From when on receipts are kept; days before that are known by their sums. */
export class Marks {
  readonly #ofAllMs: number;
  readonly #ofAccounts = new Map<string, number>();
  #receipts = 0;
  #charged = 0n;

  constructor(marks: readonly ReceiptMark[]) {
    let ofAllMs = 0;
    for (const { accountId, keptFromMs } of marks)
      if (accountId === undefined) ofAllMs = keptFromMs;
      else this.#ofAccounts.set(accountId, keptFromMs);
    this.#ofAllMs = ofAllMs;
  }

  /** No receipt from before it is looked at. */
  get fromMs(): number | undefined {
    return this.#ofAllMs === 0 ? undefined : this.#ofAllMs;
  }

  /** Also while it is still there: its day is in the sums, and it may be gone at any moment. */
  isKept({ id, accountId }: Pick<Receipt, "id" | "accountId">): boolean {
    return idTimeMs(id) >= this.#keptFromMs(accountId);
  }

  /** Of an hour or a day. */
  hasReceipts({ hourMs, accountId }: Rollup): boolean {
    return hourMs >= this.#keptFromMs(accountId);
  }

  /** A day that stands for its receipts. */
  count({ receipts, charged }: Rollup): void {
    this.#receipts += receipts;
    this.#charged += charged;
  }

  get counted(): FromSums | undefined {
    if (this.#ofAllMs === 0 && this.#ofAccounts.size === 0) return undefined;
    return { receipts: this.#receipts, charged: this.#charged, beforeMs: this.fromMs };
  }

  #keptFromMs(accountId: string): number {
    return Math.max(this.#ofAllMs, this.#ofAccounts.get(accountId) ?? 0);
  }
}
