import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** RFC 6238 with the parameters that every authenticator app has: SHA-1, 6 digits, 30 seconds. */
const stepMs = 30_000;
const digits = 6;
const secretBytes = 20;
/** Clocks of phones are off by some seconds. */
const stepsAround = 1;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** In base32, as people type it into an app. */
export function newTotpSecret(): string {
  return toBase32(randomBytes(secretBytes));
}

export const totpStep = (nowMs: number): number => Math.floor(nowMs / stepMs);

/** RFC 4226: the last byte says which four bytes are the number. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const at = (hash.at(-1) ?? 0) & 0x0f;
  const number = (hash.readUInt32BE(at) & 0x7fff_ffff) % 10 ** digits;
  return String(number).padStart(digits, "0");
}

/** The newest time step that a code is right for, now, just before or just after; or undefined. */
export function matchingStep(secret: string, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code);
  if (given.length !== digits) return undefined;
  const now = totpStep(nowMs);
  let found: number | undefined;
  for (let step = now - stepsAround; step <= now + stepsAround; step++)
    if (timingSafeEqual(Buffer.from(totpCode(secret, step)), given)) found = step;
  return found;
}

/** What authenticator apps read from the QR code. */
export function totpUri(secret: string, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const fields = `secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${fields}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1_000}`;
}

/** 20 bytes are 32 characters: nothing is left over at the end. */
function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join("");
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
