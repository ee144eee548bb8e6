import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

/** The master secret of an installation: it wraps the data keys of a store, and encrypts nothing else. */
export class MasterKey {
  readonly #text: string;
  readonly #wrapKey: Uint8Array;
  /** May be shown: 64 bits that say nothing of the secret. */
  readonly fingerprint: string;

  constructor(text: string) {
    this.#text = text;
    this.#wrapKey = this.derive("wrap v1");
    this.fingerprint = Buffer.from(this.derive("fingerprint v1")).toString("hex").slice(0, 16);
  }

  /** A key for one purpose. The data keys of stores from before they were random are such keys. */
  derive(label: string): Uint8Array {
    return new Uint8Array(hkdfSync("sha256", this.#text, "svc-gateway", label, 32));
  }

  /** Shows that a backup with this checksum was written by a holder of the secret. */
  backupMark(sha256: string): string {
    return createHmac("sha256", this.derive("backup v1")).update(sha256).digest("hex");
  }

  /** AES-256-GCM, bound to the place. */
  wrap(key: Uint8Array, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#wrapKey, nonce).setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(key), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
  }

  /** Throws where the bytes were changed, or belong to another place or secret. */
  unwrap(wrapped: string, place: string): Uint8Array {
    const bytes = Buffer.from(wrapped, "base64");
    const bodyAt = nonceBytes + tagBytes;
    if (bytes.length < bodyAt) throw new RangeError("too short to be a wrapped key");
    const decipher = createDecipheriv("aes-256-gcm", this.#wrapKey, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(nonceBytes, bodyAt));
    return new Uint8Array(
      Buffer.concat([decipher.update(bytes.subarray(bodyAt)), decipher.final()]),
    );
  }
}

export const fingerprintOf = (text: string): string => new MasterKey(text).fingerprint;
