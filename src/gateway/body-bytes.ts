import { ApiError } from "../base/errors.ts";

export interface BodyByteLimits {
  /** Of all requests, from the first byte read to the end of the call. */
  readonly perProcess: number;
  /** Of one key, until its requests are admitted; two of the largest requests, if not given. */
  readonly perKey?: number;
}

const mebibyte = 1024 * 1024;
const usualPerKey = 64 * mebibyte;

/**
 * Bytes of request bodies that the process holds. Every other limit is known per request; this one
 * bounds their sum, so that no number of connections can exhaust the memory. Counted are bytes that
 * really came: a caller who announces much and sends nothing takes nothing from others.
 */
export class BodyBytes {
  readonly #limits: BodyByteLimits;
  readonly #byKey = new Map<string, number>();
  #total = 0;

  constructor(limits: BodyByteLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** Keys with bodies that are being read. */
  get keys(): number {
    return this.#byKey.size;
  }

  /** For one request. Throws if what it announces would not fit. */
  open(keyId: string, announcedBytes: number): HeldBody {
    this.#check(keyId, announcedBytes);
    return new HeldBody(this, keyId);
  }

  take(keyId: string, sizeBytes: number): void {
    this.#check(keyId, sizeBytes);
    this.#total += sizeBytes;
    this.#byKey.set(keyId, (this.#byKey.get(keyId) ?? 0) + sizeBytes);
  }

  giveBackKey(keyId: string, sizeBytes: number): void {
    const left = (this.#byKey.get(keyId) ?? 0) - sizeBytes;
    if (left > 0) this.#byKey.set(keyId, left);
    else this.#byKey.delete(keyId);
  }

  giveBack(sizeBytes: number): void {
    this.#total -= sizeBytes;
  }

  #check(keyId: string, sizeBytes: number): void {
    const { perProcess, perKey = usualPerKey } = this.#limits;
    if ((this.#byKey.get(keyId) ?? 0) + sizeBytes > perKey)
      throw new ApiError({
        code: "rate_limit_exceeded",
        message: `This key is sending more than ${perKey / mebibyte} MiB of request bodies at once. Send fewer large requests at a time.`,
        retryAfterMs: 1_000,
      });
    if (this.#total + sizeBytes > perProcess)
      throw new ApiError({
        code: "gateway_overloaded",
        message: "The gateway holds as many request bodies as it can. Try again in a moment.",
        retryAfterMs: 1_000,
        detail: `${this.#total} bytes of request bodies are held (SVC_MAX_BODIES_MB)`,
      });
  }
}

/** What one request holds. */
export class HeldBody {
  readonly #bytes: BodyBytes;
  readonly #keyId: string;
  #sizeBytes = 0;
  #isReading = true;

  constructor(bytes: BodyBytes, keyId: string) {
    this.#bytes = bytes;
    this.#keyId = keyId;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** More has come. Throws if it does not fit; then it is not counted. */
  grow(sizeBytes: number): void {
    this.#bytes.take(this.#keyId, sizeBytes);
    this.#sizeBytes += sizeBytes;
  }

  /** The call has its hold: from now on money bounds how much of this one key can have. */
  admitted(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#bytes.giveBackKey(this.#keyId, this.#sizeBytes);
  }

  /** Nobody needs it any more. A second time does nothing. */
  release(): void {
    this.admitted();
    this.#bytes.giveBack(this.#sizeBytes);
    this.#sizeBytes = 0;
  }
}
