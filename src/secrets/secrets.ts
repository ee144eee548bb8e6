import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { createSealer, type Sealer } from "./sealer.ts";

/** Text encrypted at rest: AES-256-GCM, bound to the place it belongs to. */
export interface Secrets {
  /** Kept in the store, so that a process with another secret refuses to start. */
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

export function createSecrets(master: string): Secrets {
  const derive = (label: string) =>
    new Uint8Array(hkdfSync("sha256", master, "svc-gateway", label, 32));
  const sealKey = derive("seal v1");
  return {
    fingerprint: Buffer.from(derive("fingerprint v1")).toString("hex").slice(0, 16),
    keyHashKey: derive("api key hash v1"),
    sessionKey: derive("session v1"),
    responses: createSealer(derive("stored response v1")),
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

const referenceText = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** NAME when the text is exactly `${NAME}`. */
export function referencedName(text: string): string | undefined {
  return referenceText.exec(text)?.[1];
}
