import { idTimeMs } from "../base/ids.ts";
import type { Dialect } from "../call/dialect.ts";
import type { Endpoint } from "../call/endpoint.ts";
import type { Units } from "../call/price.ts";
import type { ReceiptAttempt } from "./attempt.ts";
import type { HoldParts } from "./need.ts";

/**
 * One row a request that was let in: debit, usage event and request log in one. It is written
 * once and never changed; the id is the request's own and carries the time at which it began.
 */
export interface Receipt {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly endpoint: Endpoint;
  /** Of a chat model; absent in receipts from before it was recorded. */
  readonly dialect?: Dialect | undefined;
  /** Who served it, or was tried last; "" when nobody was asked. */
  readonly provider: string;
  /** In their order; where no target could be asked, one that gives the reason. */
  readonly attempts: readonly ReceiptAttempt[];
  readonly priceVersion: number;
  readonly units: Units;
  /** Part of the output. */
  readonly reasoningTokens: number;
  /** True when no upstream counted and we did. */
  readonly estimated: boolean;
  /** Nano-USD: what was set aside, what the units cost, what was taken. */
  readonly hold: bigint;
  readonly cost: bigint;
  readonly charged: bigint;
  /** What the vendor asks for it, where the route says so. */
  readonly vendorCost: bigint | undefined;
  /** `ok`; `left` when the caller went; else the code of the error that ended it. */
  readonly outcome: string;
  /** From the request to the first byte of the answer; undefined when none went out. */
  readonly firstByteMs: number | undefined;
  readonly durationMs: number;
  /** Whether the reply was asked for piece by piece. Absent in receipts from before it was recorded. */
  readonly isStreamed?: boolean | undefined;
  /** Absent in receipts from before it was recorded. */
  readonly terms?: ReceiptTerms | undefined;
}

/** By what a call was admitted and what it cost the operator: fixed at its admission, as the price is. */
export interface ReceiptTerms {
  /** Of the limits of the key and of the account; 0: there had never been any. */
  readonly keyLimits: number;
  readonly accountLimits: number;
  /** Of the model's route costs, and the position of the route in it; absent when nobody was asked. */
  readonly cost?: { readonly version: number; readonly route: number } | undefined;
  readonly hold: HoldParts;
}

export const endedAtMs = ({ id, durationMs }: Pick<Receipt, "id" | "durationMs">) =>
  idTimeMs(id) + durationMs;
