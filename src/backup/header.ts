import { createHash } from "node:crypto";
import { Problem } from "../base/problem.ts";

/** A first byte that is no text, and both line ends: a transfer that changes text is noticed. */
export const magic = Buffer.from("\x89SVCBAK\r\n\x1a", "latin1");
export const formatVersion = 1;
/** Magic, version of the format, length of the JSON. */
export const fixedBytes = magic.length + 8;
const maxHeaderBytes = 4_096;
export const digestBytes = 32;

/** How the key follows from the passphrase. */
export interface KeyDerivation {
  readonly n: number;
  readonly r: number;
  readonly p: number;
  /** Hexadecimal, as is `check`. */
  readonly salt: string;
  /** Derived beside the key: shows a wrong passphrase before anything is decrypted. */
  readonly check: string;
}

/** What anybody can read of a backup; the rest is encrypted if there is a passphrase. */
export interface BackupHeader {
  /** The version of the product that wrote it. */
  readonly version: string;
  readonly createdAtMs: number;
  readonly scrypt?: KeyDerivation | undefined;
}

export function encodeHeader(header: BackupHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const fixed = Buffer.alloc(8);
  fixed.writeUInt32BE(formatVersion, 0);
  fixed.writeUInt32BE(json.length, 4);
  const bytes = Buffer.concat([magic, fixed, json]);
  return Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]);
}

/** The length of what follows the fixed part. */
export function readFixed(bytes: Uint8Array, name: string): number {
  const fixed = Buffer.from(bytes);
  if (!fixed.subarray(0, magic.length).equals(magic))
    throw new Problem({
      code: "invalid",
      message: `${name} is not a backup of svc gateway. svc backup writes such a file.`,
    });
  const version = fixed.readUInt32BE(magic.length);
  if (version !== formatVersion)
    throw new Problem({
      code: "failed",
      message: `${name} has backup format ${version}, but this version of svc reads only format ${formatVersion}. Restore it with the version of svc that wrote it.`,
    });
  const size = fixed.readUInt32BE(magic.length + 4);
  if (size > maxHeaderBytes) throw damaged(name, "its header is too large");
  return size + digestBytes;
}

export function readHeader(fixed: Uint8Array, rest: Uint8Array, name: string): BackupHeader {
  const bytes = Buffer.concat([fixed, rest]);
  const end = bytes.length - digestBytes;
  const digest = createHash("sha256").update(bytes.subarray(0, end)).digest();
  if (!digest.equals(bytes.subarray(end))) throw damaged(name, "its header was changed");
  const header = fromJson(bytes.subarray(fixedBytes, end), name);
  const { version, createdAtMs, scrypt } = header;
  if (!isText(version) || !isCount(createdAtMs)) throw damaged(name, "its header is incomplete");
  if (scrypt === undefined) return { version, createdAtMs };
  return { version, createdAtMs, scrypt: readDerivation(scrypt, name) };
}

/** Bounds the memory and the time that a file can cost before its passphrase is checked. */
function readDerivation(value: unknown, name: string): KeyDerivation {
  if (isRecord(value)) {
    const { n, r, p, salt, check } = value;
    const isHex = (text: unknown): text is string =>
      isText(text) && /^(?:[0-9a-f]{2}){16,32}$/.test(text);
    const isCost =
      isCount(n) && isCount(r) && isCount(p) && n <= 2 ** 20 && n * r <= 2 ** 21 && p <= 4;
    if (isCost && n >= 2 && r >= 1 && p >= 1 && isHex(salt) && isHex(check))
      return { n, r, p, salt, check };
  }
  throw damaged(name, "its key derivation is invalid");
}

export function fromJson(bytes: Uint8Array, name: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (isRecord(value)) return value;
  } catch {
    // Whoever wrote it did not use this program.
  }
  throw damaged(name, "a part of it is not JSON");
}

export const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 500;
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const damaged = (name: string, why: string) =>
  new Problem({
    code: "failed",
    message: `${name} is damaged: ${why}. Use another copy or another backup.`,
  });

export const cutShort = (name: string, atBytes: number) =>
  new Problem({
    code: "failed",
    message: `${name} is cut short: it ends after ${atBytes} bytes, in the middle of the backup. Use another copy or another backup.`,
  });
