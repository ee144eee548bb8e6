import { timingSafeEqual } from "node:crypto";
import { newId } from "../base/ids.ts";
import { type KeyRecord, type TemporaryKey, temporaryLifetimeMs } from "./directory.ts";
import { keyHint, keySecretHasher } from "./secret.ts";

/** Remembers who may not use temporary keys any more. Implemented by a store that processes share. */
export interface EndedOwnerStore {
  /** Ends what this owner was given until then; every process hears of it through the change feed. */
  end(owner: string, atMs: number): Promise<void>;
  /** By owner, until when; of those whose keys could still be alive. */
  ended(): Promise<ReadonlyMap<string, number>>;
}

type Payload = readonly [id: string, accountId: string, owner: string, createdAtMs: number];
type SignedRecord = KeyRecord & { readonly owner: string; readonly body: string };

const prefix = "sk-svc-t.";
const shape = /^sk-svc-t\.([\w-]{20,400})\.([\w-]{43})$/;
/** Verified ones that are kept, so that a call costs no second check. */
const maxOpened = 1_000;

/**
 * Temporary keys for processes that share a database. The key itself says whose it is and when it
 * was made, signed with a key from the master secret: every process can issue one, and every other
 * opens it at once, without a row or a message. Only the end of an owner's keys is kept in the store.
 */
export class SignedKeys {
  readonly #sign: (text: string) => string;
  /** By their signatures. */
  readonly #opened = new Map<string, SignedRecord>();
  #ended: ReadonlyMap<string, number> = new Map();

  constructor(hashKey: Uint8Array) {
    const hash = keySecretHasher(hashKey);
    this.#sign = (text) =>
      Buffer.from(hash(`temporary key ${text}`), "base64").toString("base64url");
  }

  issue(accountId: string, nowMs: number, owner = ""): TemporaryKey {
    const payload: Payload = [newId("key"), accountId, owner, nowMs];
    const body = Buffer.from(JSON.stringify(payload)).toString("base64url");
    const key = `${prefix}${body}.${this.#sign(body)}`;
    return { key, expiresAtMs: nowMs + temporaryLifetimeMs };
  }

  /** As the store has them; read again when the feed says so. */
  setEnded(ended: ReadonlyMap<string, number>): void {
    this.#ended = ended;
  }

  find(secret: string): KeyRecord | undefined {
    const [, body, signature] = shape.exec(secret) ?? [];
    if (body === undefined || signature === undefined) return undefined;
    const known = this.#opened.get(signature);
    if (known?.body === body) return this.#unended(known);
    if (!isSame(this.#sign(body), signature)) return undefined;
    const record = this.#read(body, signature, secret);
    if (this.#opened.size >= maxOpened) this.#opened.clear();
    this.#opened.set(record.hash, record);
    return this.#unended(record);
  }

  /** By the hash of a key that was found before. */
  current(hash: string): KeyRecord | undefined {
    const record = this.#opened.get(hash);
    return record && this.#unended(record);
  }

  #unended(record: SignedRecord): SignedRecord | undefined {
    const endedAtMs = this.#ended.get(record.owner);
    return endedAtMs !== undefined && record.createdAtMs <= endedAtMs ? undefined : record;
  }

  /** Its signature is right, so one of us wrote it. */
  #read(body: string, signature: string, secret: string): SignedRecord {
    const [id, accountId, owner, createdAtMs] = JSON.parse(
      Buffer.from(body, "base64url").toString(),
    ) as Payload;
    return {
      id,
      accountId,
      owner,
      body,
      name: "temporary",
      hash: signature,
      hint: keyHint(secret),
      createdAtMs,
      expiresAtMs: createdAtMs + temporaryLifetimeMs,
    };
  }
}

/** Takes the same time wherever they differ. */
function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
