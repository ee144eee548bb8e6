import type { AuditRecord } from "../base/audit.ts";
import type { JsonObject } from "../call/chat.ts";

interface ResponseHead {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly createdAtMs: number;
  /** From then on it is not found any more; it is deleted some time later. */
  readonly expiresAtMs: number;
  /** The response that it continues. */
  readonly previousId: string | undefined;
}

/** A reply that a caller can read again, and continue by its id alone. */
export interface StoredResponse extends ResponseHead {
  /** The input items of this request, without those of the responses before it. */
  readonly input: readonly JsonObject[];
  /** As it was sent. */
  readonly reply: JsonObject;
}

/** As the database has it: what callers and models wrote is encrypted. */
export interface SealedResponse extends ResponseHead {
  /** The items of input and output; apart, because a conversation is read without the rest. */
  readonly items: Uint8Array;
  /** The reply without its output. */
  readonly reply: Uint8Array;
}

/** One response of a conversation. */
export interface ChainLink {
  readonly id: string;
  readonly previousId: string | undefined;
  /** Of its items, encrypted. */
  readonly itemsBytes: number;
}

export interface StoredTotals {
  readonly responses: number;
  readonly bytes: number;
}

interface Known {
  readonly accountId: string;
  /** What has expired by then is not there. */
  readonly nowMs: number;
}

/** Implemented by the store. */
export interface ResponseStore {
  /**
   * Makes room first: where the account would have more than `accountBytes`, its oldest responses
   * are deleted, the last of them in the transaction that adds the new one.
   */
  save(response: SealedResponse, accountBytes: number): Promise<void>;
  /** In any order; those that are not there are left out. */
  find(query: Known & { readonly ids: readonly string[] }): Promise<readonly SealedResponse[]>;
  /** From the newest back to the first one, or to one whose previous response is not there. */
  chain(
    query: Known & { readonly id: string; readonly most: number },
  ): Promise<readonly ChainLink[]>;
  /** False: it was not there. */
  remove(query: Known & { readonly id: string }): Promise<boolean>;
  /** Deletes a step of what has expired; false when nothing is left to delete. */
  sweep(nowMs: number): Promise<boolean>;
  /**
   * Deletes what was created up to a moment, in steps. The record is written with the first step;
   * without anything to delete there is none.
   */
  removeAll(
    query: { readonly accountId: string; readonly toMs: number },
    audit: AuditRecord,
  ): Promise<StoredTotals>;
  /** Of an account, with what has expired and is not deleted yet. */
  totals(accountId: string): Promise<StoredTotals>;
}
