import type { AuditRecord } from "../base/audit.ts";
import { newId } from "../base/ids.ts";
import type { TextSearch } from "../base/text-search.ts";
import type { Limits } from "../call/limits.ts";
import { PackedKeys } from "./packed-keys.ts";
import { isWellFormed, keyHint, keySecretHasher, newKeySecret } from "./secret.ts";

/** The secret that a rotation replaced, until its time is up. */
export interface PreviousSecret {
  readonly hash: string;
  readonly hint: string;
  readonly expiresAtMs: number;
}

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
  /** Calls are refused until it is resumed; nothing else of it changes. */
  readonly pausedAtMs?: number;
  /** The name of whoever created it, as members see it. */
  readonly createdBy?: string;
  readonly limits?: Limits;
  /** Counts the changes of the limits; absent: there never were any. */
  readonly limitsVersion?: number;
  readonly previous?: PreviousSecret;
}

/** What a rotation puts in the place of a key's secret. */
export interface NewSecret {
  readonly hash: string;
  readonly hint: string;
  /** Until when the secret before it works; undefined: no longer. */
  readonly previousUntilMs: number | undefined;
}

/** What people may change of a key; what is absent stays. */
export interface KeyChange {
  readonly name?: string;
  /** Null: all. */
  readonly models?: ReadonlySet<string> | null;
  /** Null: never. */
  readonly expiresAtMs?: number | null;
}

/**
 * Implemented by the store. Every write but that of uses is an entry of the change feed and
 * of the audit log; one that changes nothing has no audit record.
 */
/** What people know a key by. */
export interface KeyName {
  readonly name: string;
  /** A masked form of the secret. */
  readonly hint: string;
}

export interface KeyStore {
  all(): Promise<readonly KeyRecord[]>;
  /**
   * All keys that are not revoked, many at a time, one per line: JSON that begins with the hash,
   * the id and the previous hash or null. `fromLine` reads one.
   */
  pages(): AsyncIterable<Uint8Array>;
  fromLine(line: string): KeyRecord;
  /** The newest revoked keys, the oldest of them first. */
  revoked(most: number): Promise<readonly KeyRecord[]>;
  get(id: string): Promise<KeyRecord | undefined>;
  /** Of those that there are, by their ids. */
  getMany(ids: readonly string[]): Promise<readonly KeyRecord[]>;
  /** The hashes of all secrets that a key can be used with now, many at a time. */
  usableHashes(nowMs: number): AsyncIterable<readonly string[]>;
  /** By name, id and hint, the best first; of one account, or of all. */
  search(wanted: TextSearch & { readonly accountId?: string }): Promise<readonly KeyRecord[]>;
  /** Of those that there are, by their ids. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, KeyName>>;
  insert(record: KeyRecord, audit: AuditRecord): Promise<void>;
  /** False when there is no such key, or a revoked one. */
  update(id: string, change: KeyChange, audit: AuditRecord): Promise<boolean>;
  /**
   * False when there is no such key, or a revoked one. The secret before becomes the previous one;
   * what was the previous one until then is gone.
   */
  rotate(id: string, secret: NewSecret, audit: AuditRecord): Promise<boolean>;
  /** False when there is no such key. Revoking twice keeps the first time. */
  revoke(id: string, atMs: number, audit: AuditRecord): Promise<boolean>;
  /**
   * Pauses it at a moment, or resumes it. False when there is no such key, or a revoked one, or it
   * is so already: pausing twice keeps the first time.
   */
  setPaused(id: string, atMs: number | undefined, audit: AuditRecord): Promise<boolean>;
  /** When each key was last used, by its id; absent: never. */
  lastUses(): Promise<ReadonlyMap<string, number>>;
  /** Keeps the later of what is there and what is told; keys that it does not know are left out. */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>;
}

/** Revoked keys that are still recognized, so that their owners see who uses them. */
export const maxRevokedKeys = 10_000;

/** Records of packed keys that are kept after a look-up, at most twice as many; 0.5 kB each. */
const maxOpened = 8_192;

/** Long enough for a call at the command line, too short to be worth keeping. */
export const temporaryLifetimeMs = 15 * 60_000;
export const maxTemporaryKeys = 1_000;
/** Of one owner in one account; the command line, which has no owner, is not bound by it. */
export const maxTemporaryKeysOfOwner = 20;

export interface TemporaryKey {
  readonly key: string;
  readonly expiresAtMs: number;
}

/** Temporary keys of processes that share a database; see `signed-keys.ts`. */
export interface SharedTemporaryKeys {
  find(secret: string): KeyRecord | undefined;
  /** By the hash of a key that was found before. */
  current(hash: string): KeyRecord | undefined;
}

/** `owner`: who made it, in whatever way they are known; "" for the command line. */
type TemporaryRecord = KeyRecord & { readonly expiresAtMs: number; readonly owner: string };

/**
 * All live keys in memory, by the hash of each secret that opens them. A look-up touches no
 * database, whether the key is known or not: a flood of unknown keys costs a hash each and stores
 * nothing. Unknown, revoked and expired keys leave by the same way.
 *
 * Keys are loaded in packed form (`PackedKeys`). Those that have changed since then are records in
 * maps, and so are, up to a bound, those that were looked up.
 *
 * Temporary keys are here alone: no store has them, and they end with the process. Where several
 * processes share a database, they are signed instead (`SignedKeys`).
 */
export class KeyDirectory {
  readonly #store: KeyStore;
  readonly #hash: (secret: string) => string;
  #packed: PackedKeys<KeyRecord>;
  /**
   * By hash: of the packed keys those that were looked up lately, and those from before. Two maps
   * that take turns, because a map that loses its first entry for every new one becomes slow.
   */
  #opened = new Map<string, KeyRecord>();
  #openedBefore = new Map<string, KeyRecord>();
  /** Keys that were created or changed after the packed ones were loaded. */
  readonly #byHash = new Map<string, KeyRecord>();
  readonly #byId = new Map<string, KeyRecord>();
  /** By hash, the longest known first. Nobody is let in by one of them. */
  readonly #revoked = new Map<string, KeyRecord>();
  /** By hash, in the order in which they were issued and expire. */
  readonly #temporary = new Map<string, TemporaryRecord>();

  /** While all are read: the ids of those that have been read again meanwhile. */
  #readAgain: Set<string> | undefined;
  /** Until all have been read: fingerprints of those that are usable; undefined: all that are here. */
  #usable: Set<string> | undefined;

  readonly #shared: SharedTemporaryKeys | undefined;

  constructor(store: KeyStore, hashKey: Uint8Array, shared?: SharedTemporaryKeys) {
    this.#store = store;
    this.#shared = shared;
    this.#hash = keySecretHasher(hashKey);
    this.#packed = new PackedKeys((line) => store.fromLine(line));
  }

  /**
   * What was known before stays in use until all of it is replaced at once. `reload` may run beside
   * it: what it has read is newer. After `endUnusable`, it has to run again.
   */
  async reloadAll(): Promise<void> {
    const readAgain = new Set<string>();
    this.#readAgain = readAgain;
    const usable = this.#usable;
    const packed = new PackedKeys((line) => this.#store.fromLine(line));
    for await (const lines of this.#store.pages()) packed.add(lines);
    const revoked = await this.#store.revoked(maxRevokedKeys);
    // Keys have ended that it may have read before.
    if (this.#usable !== usable) return;
    const newer = [...this.#byId.values(), ...this.#revoked.values()];
    this.#packed = packed;
    for (const id of readAgain) packed.take(id);
    for (const map of [this.#opened, this.#openedBefore, this.#byHash, this.#byId, this.#revoked])
      map.clear();
    for (const record of revoked) this.#putRevoked(record);
    for (const record of newer) if (readAgain.has(record.id)) this.#put(record);
    this.#readAgain = undefined;
    this.#usable = undefined;
  }

  async reload(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#readAgain?.add(id);
    const records = await this.#store.getMany(ids);
    for (const id of ids) {
      const known = this.#byId.get(id) ?? this.#packed.take(id);
      if (known !== undefined) this.#forget(known);
    }
    for (const record of records) this.#put(record);
  }

  /**
   * Of the keys that are here, none opens anything any more that has been revoked, paused or replaced
   * meanwhile. What else has changed, and new keys, are left to `reloadAll`.
   */
  async endUnusable(nowMs: number): Promise<void> {
    const usable = new Set<string>();
    for await (const hashes of this.#store.usableHashes(nowMs))
      for (const hash of hashes) usable.add(toFingerprint(hash));
    for (const map of [this.#opened, this.#openedBefore, this.#byHash])
      for (const hash of map.keys()) if (!usable.has(toFingerprint(hash))) map.delete(hash);
    this.#usable = usable;
  }

  /** The key that this secret opens now, or undefined without saying why. */
  verify(secret: string, nowMs: number): KeyRecord | undefined {
    const record = this.find(secret);
    return record !== undefined && isUsable(record, nowMs) ? record : undefined;
  }

  /** The key that this secret opens or has opened: whether it still does is for `isUsable` to say. */
  find(secret: string): KeyRecord | undefined {
    if (!isWellFormed(secret)) return this.#shared?.find(secret);
    const hash = this.#hash(secret);
    return this.#live(hash) ?? this.#revoked.get(hash);
  }

  /**
   * The key as it is now, for a request that took its time: with its present limits, or undefined
   * when it was revoked or has expired meanwhile. Costs no hash.
   */
  current(record: KeyRecord, nowMs: number): KeyRecord | undefined {
    const now = this.#live(record.hash) ?? this.#shared?.current(record.hash);
    return now?.expiresAtMs !== undefined && now.expiresAtMs <= nowMs ? undefined : now;
  }

  has(id: string): boolean {
    return this.#byId.has(id) || this.#packed.has(id);
  }

  /** Stays the same when the secret changes; not to be had without the master secret. */
  claimKey(id: string): string {
    return this.#hash(`claims of ${id}`);
  }

  /** A key that may call every model for a while. Never refused: at a bound an older one ends. */
  issueTemporary(accountId: string, nowMs: number, owner = ""): TemporaryKey {
    for (const [hash, { expiresAtMs }] of this.#temporary)
      if (expiresAtMs <= nowMs) this.#temporary.delete(hash);
      else break;
    this.#makeRoom(accountId, owner);
    const key = newKeySecret();
    const hash = this.#hash(key);
    const expiresAtMs = nowMs + temporaryLifetimeMs;
    this.#temporary.set(hash, {
      id: newId("key"),
      accountId,
      name: "temporary",
      hash,
      hint: keyHint(key),
      createdAtMs: nowMs,
      expiresAtMs,
      owner,
    });
    return { key, expiresAtMs };
  }

  /** Of somebody whose part in an account has ended; how many. */
  endTemporary(owner: string): number {
    let ended = 0;
    for (const [hash, record] of this.#temporary)
      if (record.owner === owner && this.#temporary.delete(hash)) ended++;
    return ended;
  }

  /**
   * An owner's own keys make room first. When all places are taken, the owner with the most
   * keys loses the oldest, so that nobody can push out the keys of an owner with fewer.
   */
  #makeRoom(accountId: string, owner: string): void {
    const own: string[] = [];
    const byOwner = new Map<string, string[]>();
    for (const [hash, record] of this.#temporary) {
      const hashes = byOwner.get(record.owner);
      if (hashes === undefined) byOwner.set(record.owner, [hash]);
      else hashes.push(hash);
      if (record.owner === owner && record.accountId === accountId) own.push(hash);
    }
    const [oldestOwn] = own;
    if (owner !== "" && own.length >= maxTemporaryKeysOfOwner && oldestOwn !== undefined)
      this.#temporary.delete(oldestOwn);
    if (this.#temporary.size < maxTemporaryKeys) return;
    let most = byOwner.get(owner) ?? [];
    for (const hashes of byOwner.values()) if (hashes.length > most.length) most = hashes;
    const [oldest] = most;
    if (oldest !== undefined) this.#temporary.delete(oldest);
  }

  #live(hash: string): KeyRecord | undefined {
    return (
      this.#opened.get(hash) ??
      this.#byHash.get(hash) ??
      this.#open(hash) ??
      this.#temporary.get(hash)
    );
  }

  #open(hash: string): KeyRecord | undefined {
    const opened = this.#openedBefore.get(hash) ?? this.#unpack(hash);
    if (opened === undefined) return undefined;
    if (this.#opened.size >= maxOpened) {
      this.#openedBefore = this.#opened;
      this.#opened = new Map();
    }
    this.#opened.set(hash, opened);
    return opened;
  }

  #unpack(hash: string): KeyRecord | undefined {
    if (this.#usable?.has(toFingerprint(hash)) === false) return undefined;
    const record = this.#packed.find(hash);
    return record?.previous?.hash === hash ? asPrevious(record, record.previous) : record;
  }

  #forget({ id, hash, previous }: KeyRecord): void {
    for (const map of [this.#byHash, this.#opened, this.#openedBefore]) {
      map.delete(hash);
      if (previous !== undefined) map.delete(previous.hash);
    }
    this.#byId.delete(id);
  }

  #put(record: KeyRecord): void {
    if (record.revokedAtMs !== undefined) return this.#putRevoked(record);
    this.#byHash.set(record.hash, record);
    this.#byId.set(record.id, record);
    if (record.previous !== undefined)
      this.#byHash.set(record.previous.hash, asPrevious(record, record.previous));
  }

  #putRevoked(record: KeyRecord): void {
    this.#revoked.set(record.hash, record);
    if (record.previous !== undefined) this.#revoked.set(record.previous.hash, record);
    for (const hash of this.#revoked.keys())
      if (this.#revoked.size > maxRevokedKeys) this.#revoked.delete(hash);
      else break;
  }
}

/** Hashes are keyed, so that none is made to have the same beginning as another. */
const toFingerprint = (hash: string) => hash.slice(0, 16);

export function isUsable({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): boolean {
  return revokedAtMs === undefined && (expiresAtMs === undefined || expiresAtMs > nowMs);
}

/** The same key as its former secret opens it: all is alike, and it ends earlier. */
function asPrevious(record: KeyRecord, { hash, hint, expiresAtMs }: PreviousSecret): KeyRecord {
  const { expiresAtMs: endsMs = expiresAtMs } = record;
  return { ...record, hash, hint, expiresAtMs: Math.min(endsMs, expiresAtMs) };
}
