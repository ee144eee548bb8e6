import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { BackupHeader, KeyDerivation } from "./header.ts";

/** What a frame contains. The end is the last one, and its kind is part of every check. */
export const frameKinds = { about: 1, secret: 2, data: 3, end: 4 } as const;
export type FrameKind = keyof typeof frameKinds;

export interface FramePlace {
  readonly kind: FrameKind;
  /** Of the frame in the file. */
  readonly at: number;
}

/** Each frame is bound to its file, its place and its kind: none can be moved, swapped or left out. */
export interface Protection {
  readonly overheadBytes: number;
  seal(plain: Uint8Array, place: FramePlace): Buffer;
  /** Undefined where the frame was changed or belongs elsewhere. */
  open(sealed: Uint8Array, place: FramePlace): Buffer | undefined;
}

const tagBytes = 16;
const keyBytes = 32;

/**
 * AES-256-GCM with a counter as nonce (STREAM). The key is of this file alone, because its salt is:
 * so no nonce is used twice.
 */
function encrypted(key: Uint8Array, headerDigest: Uint8Array): Protection {
  const aad = ({ kind }: FramePlace) => Buffer.concat([headerDigest, Buffer.of(frameKinds[kind])]);
  return {
    overheadBytes: tagBytes,
    seal(plain, place) {
      const cipher = createCipheriv("aes-256-gcm", key, nonceOf(place)).setAAD(aad(place));
      return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, place) {
      const end = sealed.length - tagBytes;
      if (end < 0) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(place))
        .setAAD(aad(place))
        .setAuthTag(sealed.subarray(end));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}

function nonceOf({ kind, at }: FramePlace): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(at), 0);
  nonce[11] = kind === "end" ? 1 : 0;
  return nonce;
}

/** Without a passphrase: against accidents, and not against people. */
function checked(headerDigest: Uint8Array): Protection {
  const digestOf = (plain: Uint8Array, place: FramePlace) =>
    createHash("sha256")
      .update(headerDigest)
      .update(nonceOf(place))
      .update(Buffer.of(frameKinds[place.kind]))
      .update(plain)
      .digest();
  return {
    overheadBytes: 32,
    seal: (plain, place) => Buffer.concat([plain, digestOf(plain, place)]),
    open(sealed, place) {
      const end = sealed.length - 32;
      if (end < 0) return undefined;
      const plain = Buffer.from(sealed.subarray(0, end));
      return digestOf(plain, place).equals(sealed.subarray(end)) ? plain : undefined;
    },
  };
}

/** 128 MiB and about half a second per guess; what is read may cost twice as much memory. */
const usualCost = { n: 2 ** 17, r: 8, p: 1 };
const maxMemoryBytes = 300 * 1024 * 1024;
const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

async function derivedBytes(passphrase: string, derivation: Omit<KeyDerivation, "check">) {
  const { n, r, p, salt } = derivation;
  const options = { N: n, r, p, maxmem: maxMemoryBytes };
  // One passphrase can be typed in several ways.
  const bytes = await derive(
    passphrase.normalize("NFC"),
    Buffer.from(salt, "hex"),
    2 * keyBytes,
    options,
  );
  return { key: bytes.subarray(0, keyBytes), check: bytes.subarray(keyBytes).toString("hex") };
}

export interface NewKey {
  readonly key: Uint8Array;
  readonly derivation: KeyDerivation;
}

export async function newKey(passphrase: string, cost = usualCost): Promise<NewKey> {
  const salt = randomBytes(16).toString("hex");
  const { key, check } = await derivedBytes(passphrase, { ...cost, salt });
  return { key, derivation: { ...cost, salt, check } };
}

/** Undefined where the passphrase is another one. */
export async function keyOf(
  passphrase: string,
  derivation: KeyDerivation,
): Promise<Uint8Array | undefined> {
  const { key, check } = await derivedBytes(passphrase, derivation);
  return check === derivation.check ? key : undefined;
}

export function protectionOf(encodedHeader: Uint8Array, key: Uint8Array | undefined): Protection {
  const digest = createHash("sha256").update(encodedHeader).digest();
  return key === undefined ? checked(digest) : encrypted(key, digest);
}

export const isEncrypted = ({ scrypt: derivation }: BackupHeader) => derivation !== undefined;
