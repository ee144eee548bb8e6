import type { JsonObject } from "../../../call/chat.ts";

/** Where responses are stored, as far as the endpoint uses it. */
export interface ResponseArchive {
  /** Of a request that is to be stored. */
  readonly maxStoredBytes: number;
  /** False: it is too large, and not stored. */
  save(response: {
    readonly id: string;
    readonly accountId: string;
    readonly keyId: string;
    readonly model: string;
    readonly previousId: string | undefined;
    readonly input: readonly JsonObject[];
    readonly reply: JsonObject;
  }): Promise<boolean>;
  find(accountId: string, id: string): Promise<FoundResponse>;
  remove(accountId: string, id: string): Promise<void>;
  /** The items of a whole conversation, the oldest first. */
  history(accountId: string, id: string): Promise<readonly JsonObject[]>;
}

export interface FoundResponse {
  readonly input: readonly JsonObject[];
  readonly reply: JsonObject;
}
