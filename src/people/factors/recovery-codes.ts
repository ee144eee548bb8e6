import { randomBytes } from "node:crypto";
import { hashSecret } from "../session-secrets.ts";

const codeCount = 10;
const codeLength = 16;
/** Crockford's: without the letters that look like digits. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Each has 80 random bits, so what is kept of it, a plain hash, cannot be guessed. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: codeCount }, () => {
    const letters = [...randomBytes(codeLength)].map((byte) => alphabet[byte & 31]).join("");
    return letters.replace(/(.{4})(?!$)/g, "$1-");
  });
}

/** Undefined: it does not have the form of a recovery code. */
export function recoveryHash(userId: string, given: string): string | undefined {
  const code = given.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  const isOne =
    code.length === codeLength && [...code].every((letter) => alphabet.includes(letter));
  return isOne ? hashSecret(`${userId} ${code}`) : undefined;
}

/** What is kept of new codes. */
export const recoveryHashes = (userId: string, codes: readonly string[]): readonly string[] =>
  codes.flatMap((code) => recoveryHash(userId, code) ?? []);
