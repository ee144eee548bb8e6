import { hashKeySecret, isWellFormed } from "./secret.ts";

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
}

/** Implemented by the store. Every write is an entry of the change feed. */
export interface KeyStore {
  all(): Promise<readonly KeyRecord[]>;
  get(id: string): Promise<KeyRecord | undefined>;
  insert(record: KeyRecord): Promise<void>;
  /** False when there is no such key. Revoking twice keeps the first time. */
  revoke(id: string, atMs: number): Promise<boolean>;
}

/**
 * All live keys in memory, by their hash. A look-up touches no database, whether the key is known
 * or not: a flood of unknown keys costs a hash each and stores nothing. Unknown, revoked and
 * expired keys leave by the same way. About 0.4 KB a key.
 */
export class KeyDirectory {
  readonly #store: KeyStore;
  readonly #hashKey: Uint8Array;
  #byHash = new Map<string, KeyRecord>();
  readonly #hashById = new Map<string, string>();

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
    const record = this.#byHash.get(hashKeySecret(secret, this.#hashKey));
    if (record === undefined) return undefined;
    return record.expiresAtMs !== undefined && record.expiresAtMs <= nowMs ? undefined : record;
  }

  #put(record: KeyRecord): void {
    if (record.revokedAtMs !== undefined) return;
    this.#byHash.set(record.hash, record);
    this.#hashById.set(record.id, record.hash);
  }
}
