import type { AuditRecord } from "../base/audit.ts";
import type { JsonObject } from "../call/chat.ts";

interface ResponseHead {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly createdAtMs: number;
  /** From then on it is not found; it is deleted some time later. */
  readonly expiresAtMs: number;
  /** The response that it continues. */
  readonly previousId: string | undefined;
}

/** A reply that a caller can read again, and continue by its id. */
export interface StoredResponse extends ResponseHead {
  /** The input items of this request, without those of the responses before it. */
  readonly input: readonly JsonObject[];
  /** The reply that was sent. */
  readonly reply: JsonObject;
}

/** A row of the database: what callers and models wrote is encrypted. */
export interface SealedResponse extends ResponseHead {
  /** The items of input and output. Separate, because a conversation is read without the rest. */
  readonly items: Uint8Array;
  /** The reply without its output. */
  readonly reply: Uint8Array;
}

/** What a request that continues it or refers to it needs. */
export type SealedItems = Omit<SealedResponse, "reply">;

/** One response of a conversation. */
export interface ChainLink {
  readonly id: string;
  readonly previousId: string | undefined;
  /** The encrypted size, with the reply. */
  readonly sizeBytes: number;
  /** The encrypted size of its items alone. */
  readonly itemsBytes: number;
}

export interface StoredTotals {
  readonly responses: number;
  readonly bytes: number;
}

interface Known {
  readonly accountId: string;
  /** Responses that have expired by then are not found. */
  readonly nowMs: number;
}

/** Implemented by the store. */
export interface ResponseStore {
  /**
   * Makes room first: if the account would have more than `accountBytes`, its oldest responses are
   * deleted, the last of them in the transaction that adds the new one.
   */
  save(response: SealedResponse, accountBytes: number): Promise<void>;
  /** In any order, without those that do not exist. */
  find(query: Known & { readonly ids: readonly string[] }): Promise<readonly SealedResponse[]>;
  /** The same without the replies, which are not read. */
  findItems(query: Known & { readonly ids: readonly string[] }): Promise<readonly SealedItems[]>;
  /** From the newest back to the first one, or to one whose previous response does not exist. */
  chain(
    query: Known & { readonly id: string; readonly most: number },
  ): Promise<readonly ChainLink[]>;
  /** False: it did not exist. */
  remove(query: Known & { readonly id: string }): Promise<boolean>;
  /** Deletes some expired responses; false when none is left. */
  sweep(nowMs: number): Promise<boolean>;
  /**
   * Deletes the responses created up to a moment, in steps, also those that are being written: their
   * `save` fails. The record is written with the first step. If there is nothing to delete, no record
   * is written.
   */
  removeAll(
    query: { readonly accountId: string; readonly toMs: number },
    audit: AuditRecord,
  ): Promise<StoredTotals>;
  /** The totals of an account, including expired responses that are not deleted yet. */
  totals(accountId: string): Promise<StoredTotals>;
}

/** What calls do with it. */
export type CallResponseStore = Pick<
  ResponseStore,
  "save" | "find" | "findItems" | "chain" | "remove"
>;
