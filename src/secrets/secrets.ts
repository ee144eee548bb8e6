import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { MasterKey } from "./master-key.ts";
import { createSealer, type Sealer } from "./sealer.ts";

/** Text encrypted at rest: AES-256-GCM, bound to the place it belongs to. */
export interface Secrets {
  /** Of the master secret of the store. */
  readonly fingerprint: string;
  /** Key of the keyed hash under which API keys are stored. */
  readonly keyHashKey: Uint8Array;
  /** Key of what browsers are given beside a session's cookie. */
  readonly sessionKey: Uint8Array;
  /** Of responses that callers have stored. */
  readonly responses: Sealer;
  seal(text: string, place: string): string;
  open(sealed: string, place: string): string;
}

/** What data keys are for, and the labels under which older versions derived them. */
export const purposes = {
  "api-key-hash": "api key hash v1",
  session: "session v1",
  seal: "seal v1",
  "stored-response": "stored response v1",
} as const;
export type Purpose = keyof typeof purposes;
export type DataKeys = Readonly<Record<Purpose, Uint8Array>>;

export function secretsOf(fingerprint: string, keys: DataKeys): Secrets {
  const sealKey = keys.seal;
  return {
    fingerprint,
    keyHashKey: keys["api-key-hash"],
    sessionKey: keys.session,
    responses: createSealer(keys["stored-response"]),
    seal(text, place) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", sealKey, nonce).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, "base64");
      const decipher = createDecipheriv("aes-256-gcm", sealKey, bytes.subarray(0, 12))
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(12, 28));
      return decipher.update(bytes.subarray(28), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/** The data keys of a store from before they were random. */
export function derivedKeys(master: MasterKey): DataKeys {
  const derived = Object.entries(purposes).map(([purpose, label]) => [
    purpose,
    master.derive(label),
  ]);
  return Object.fromEntries(derived) as Record<Purpose, Uint8Array>;
}

/** Of a store from before data keys were random. */
export function createSecrets(text: string): Secrets {
  const master = new MasterKey(text);
  return secretsOf(master.fingerprint, derivedKeys(master));
}
