import { randomBytes } from "node:crypto";

/** Of 256 random bits: what is kept of it, a plain hash, can be guessed by nobody. */
export function newSecret(prefix = ""): string {
  return prefix + randomBytes(32).toString("base64url");
}

export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("base64url");
}
