import { ApiError } from "../../base/errors.ts";

export interface BodyByteLimits {
  /** Of all requests, from the first byte read to the end of the call. */
  readonly perProcess: number;
  /** Of one key, until its requests are admitted; two of the largest requests, if not given. */
  readonly perKey?: number;
  /** Of one account, to the end of its calls; half of all, if not given. */
  readonly perAccount?: number;
}

/** Whose body it is. */
export interface BodyOwner {
  readonly keyId: string;
  readonly accountId: string;
}

const mebibyte = 1024 * 1024;
const usualPerKey = 64 * mebibyte;
/** One request always fits. */
const mostPerRequest = 32 * mebibyte;

/**
 * Bytes of request bodies that the process holds. Every other limit is known per request; this one
 * bounds their sum, so that no number of connections can exhaust the memory. Counted are bytes that
 * really came: a caller who announces much and sends nothing takes nothing from others.
 */
export class BodyBytes {
  readonly #limits: Required<BodyByteLimits>;
  readonly #byKey = new Map<string, number>();
  readonly #byAccount = new Map<string, number>();
  #total = 0;

  constructor({ perProcess, perKey = usualPerKey, perAccount = perProcess / 2 }: BodyByteLimits) {
    this.#limits = { perProcess, perKey, perAccount: Math.max(perAccount, mostPerRequest) };
  }

  get total(): number {
    return this.#total;
  }

  /** Keys and accounts that hold any. */
  get owners(): number {
    return this.#byKey.size + this.#byAccount.size;
  }

  /** For one request. Throws if what it announces would not fit. */
  open(owner: BodyOwner, announcedBytes: number): HeldBody {
    this.#check(owner, announcedBytes);
    return new HeldBody(this, owner);
  }

  take(owner: BodyOwner, sizeBytes: number): void {
    this.#check(owner, sizeBytes);
    this.#total += sizeBytes;
    add(this.#byKey, owner.keyId, sizeBytes);
    add(this.#byAccount, owner.accountId, sizeBytes);
  }

  admitted({ keyId }: BodyOwner, sizeBytes: number): void {
    add(this.#byKey, keyId, -sizeBytes);
  }

  giveBack({ accountId }: BodyOwner, sizeBytes: number): void {
    this.#total -= sizeBytes;
    add(this.#byAccount, accountId, -sizeBytes);
  }

  #check({ keyId, accountId }: BodyOwner, sizeBytes: number): void {
    const { perProcess, perKey, perAccount } = this.#limits;
    if ((this.#byKey.get(keyId) ?? 0) + sizeBytes > perKey)
      throw tooMuch(`This key has more than ${toMiB(perKey)} MiB of request bodies in flight.`);
    if ((this.#byAccount.get(accountId) ?? 0) + sizeBytes > perAccount)
      throw tooMuch(
        `The account has more than ${toMiB(perAccount)} MiB of request bodies in flight.`,
      );
    if (this.#total + sizeBytes > perProcess)
      throw new ApiError({
        code: "gateway_overloaded",
        message: "The gateway has too many request bodies in flight. Try again in a moment.",
        retryAfterMs: 1_000,
        detail: `${this.#total} bytes of request bodies in memory (limit: SVC_MAX_BODIES_MB)`,
      });
  }
}

const toMiB = (sizeBytes: number) => Math.floor(sizeBytes / mebibyte);

function tooMuch(sentence: string): ApiError {
  return new ApiError({
    code: "rate_limit_exceeded",
    message: `${sentence} Send fewer large requests concurrently.`,
    retryAfterMs: 1_000,
  });
}

/** Owners without any are forgotten. */
function add(sizes: Map<string, number>, owner: string, sizeBytes: number): void {
  const left = (sizes.get(owner) ?? 0) + sizeBytes;
  if (left > 0) sizes.set(owner, left);
  else sizes.delete(owner);
}

/** What one request holds. */
export class HeldBody {
  readonly #bytes: BodyBytes;
  readonly #owner: BodyOwner;
  #sizeBytes = 0;
  #isReading = true;

  constructor(bytes: BodyBytes, owner: BodyOwner) {
    this.#bytes = bytes;
    this.#owner = owner;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** More has come. Throws if it does not fit; then it is not counted. */
  grow(sizeBytes: number): void {
    this.#bytes.take(this.#owner, sizeBytes);
    this.#sizeBytes += sizeBytes;
  }

  /** The call has its hold: from now on it counts for its account and for all. */
  admitted(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#bytes.admitted(this.#owner, this.#sizeBytes);
  }

  /** Nobody needs it any more. A second time does nothing. */
  release(): void {
    this.admitted();
    this.#bytes.giveBack(this.#owner, this.#sizeBytes);
    this.#sizeBytes = 0;
  }
}
