import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { nextTurn } from "../base/clock.ts";

/** Bytes encrypted at rest: AES-256-GCM, bound to the place they belong to. */
export interface Sealer {
  /** The pieces are parts of one text. */
  seal(plain: readonly Uint8Array[], place: string): Promise<Uint8Array>;
  /** Throws where the bytes were changed, or belong to another place. */
  open(sealed: Uint8Array, place: string): Promise<Uint8Array>;
}

const nonceBytes = 12;
const tagBytes = 16;
/** Encrypted in a fraction of a millisecond: then others have the event loop. */
const pieceBytes = 1024 * 1024;

/**
 * Each place has a key of its own: random nonces of one key would repeat after some billions of
 * texts, which a busy installation writes within a year.
 */
export function createSealer(key: Uint8Array): Sealer {
  const keyOf = (place: string) => createHmac("sha256", key).update(place).digest();
  return {
    async seal(plain, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", keyOf(place), nonce).setAAD(Buffer.from(place));
      const pieces = await inTurns(plain, (piece) => cipher.update(piece));
      const last = cipher.final();
      return Buffer.concat([nonce, cipher.getAuthTag(), ...pieces, last]);
    },
    async open(sealed, place) {
      const bodyAt = nonceBytes + tagBytes;
      if (sealed.length < bodyAt) throw new RangeError("too short to be encrypted");
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", keyOf(place), nonce)
        .setAAD(Buffer.from(place))
        .setAuthTag(sealed.subarray(nonceBytes, bodyAt));
      const pieces = await inTurns([sealed.subarray(bodyAt)], (piece) => decipher.update(piece));
      // Throws unless all of it is as it was: nothing of it is used before.
      return Buffer.concat([...pieces, decipher.final()]);
    },
  };
}

async function inTurns(
  given: readonly Uint8Array[],
  update: (piece: Uint8Array) => Uint8Array,
): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let heldBytes = 0;
  for (const bytes of given)
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      if (heldBytes + piece.length > pieceBytes) {
        heldBytes = 0;
        await nextTurn();
      }
      pieces.push(update(piece));
      heldBytes += piece.length;
    }
  return pieces;
}
