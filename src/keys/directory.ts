import { newId } from "../base/ids.ts";
import type { Limits } from "../call/limits.ts";
import { hashKeySecret, isWellFormed, keyHint, newKeySecret } from "./secret.ts";

export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly hash: string;
  readonly hint: string;
  /** The models it may call; undefined: all. */
  readonly models?: ReadonlySet<string>;
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
  readonly limits?: Limits;
}

/** Implemented by the store. Every write is an entry of the change feed. */
export interface KeyStore {
  all(): Promise<readonly KeyRecord[]>;
  get(id: string): Promise<KeyRecord | undefined>;
  insert(record: KeyRecord): Promise<void>;
  setLimits(id: string, limits: Limits | undefined): Promise<void>;
  /** False when there is no such key. Revoking twice keeps the first time. */
  revoke(id: string, atMs: number): Promise<boolean>;
}

/** Long enough for a call at the command line, too short to be worth keeping. */
export const temporaryLifetimeMs = 15 * 60_000;
export const maxTemporaryKeys = 1_000;

export interface TemporaryKey {
  readonly key: string;
  readonly expiresAtMs: number;
}

/**
 * All live keys in memory, by their hash. A look-up touches no database, whether the key is known
 * or not: a flood of unknown keys costs a hash each and stores nothing. Unknown, revoked and
 * expired keys leave by the same way. About 0.4 KB a key.
 *
 * Temporary keys are here alone: no store has them, and they end with the process.
 */
export class KeyDirectory {
  readonly #store: KeyStore;
  readonly #hashKey: Uint8Array;
  #byHash = new Map<string, KeyRecord>();
  readonly #hashById = new Map<string, string>();
  /** By hash, in the order in which they were issued and expire. */
  readonly #temporary = new Map<string, KeyRecord & { readonly expiresAtMs: number }>();

  constructor(store: KeyStore, hashKey: Uint8Array) {
    this.#store = store;
    this.#hashKey = hashKey;
  }

  async reloadAll(): Promise<void> {
    const records = await this.#store.all();
    this.#byHash = new Map();
    this.#hashById.clear();
    for (const record of records) this.#put(record);
  }

  async reload(id: string): Promise<void> {
    const record = await this.#store.get(id);
    const known = this.#hashById.get(id);
    if (known !== undefined) this.#byHash.delete(known);
    this.#hashById.delete(id);
    if (record !== undefined) this.#put(record);
  }

  /** The key that this secret opens now, or undefined without saying why. */
  verify(secret: string, nowMs: number): KeyRecord | undefined {
    if (!isWellFormed(secret)) return undefined;
    const hash = hashKeySecret(secret, this.#hashKey);
    const record = this.#byHash.get(hash) ?? this.#temporary.get(hash);
    if (record === undefined) return undefined;
    return record.expiresAtMs !== undefined && record.expiresAtMs <= nowMs ? undefined : record;
  }

  /**
   * The key as it is now, for a request that took its time: with its present limits, or undefined
   * when it was revoked or has expired meanwhile. Costs no hash.
   */
  current(record: KeyRecord, nowMs: number): KeyRecord | undefined {
    const now = this.#byHash.get(record.hash) ?? this.#temporary.get(record.hash);
    return now?.expiresAtMs !== undefined && now.expiresAtMs <= nowMs ? undefined : now;
  }

  has(id: string): boolean {
    return this.#hashById.has(id);
  }

  /** A key that may call every model for a while. Never refused: at the bound the oldest falls. */
  issueTemporary(accountId: string, nowMs: number): TemporaryKey {
    for (const [hash, { expiresAtMs }] of this.#temporary)
      if (expiresAtMs <= nowMs || this.#temporary.size >= maxTemporaryKeys)
        this.#temporary.delete(hash);
      else break;
    const key = newKeySecret();
    const hash = hashKeySecret(key, this.#hashKey);
    const expiresAtMs = nowMs + temporaryLifetimeMs;
    this.#temporary.set(hash, {
      id: newId("key"),
      accountId,
      name: "temporary",
      hash,
      hint: keyHint(key),
      createdAtMs: nowMs,
      expiresAtMs,
    });
    return { key, expiresAtMs };
  }

  #put(record: KeyRecord): void {
    if (record.revokedAtMs !== undefined) return;
    this.#byHash.set(record.hash, record);
    this.#hashById.set(record.id, record.hash);
  }
}
