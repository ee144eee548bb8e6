import { UnreadableMedia } from "../frames.ts";

/** Real ones have 3 to 12 KiB. */
const maxSetupBytes = 64 * 1024;

/**
 * Whether each mode of a Vorbis stream has long blocks. The modes stand at the end of the setup
 * header, behind books, floors and residues of no fixed length. All of it is read in order, as
 * decoders do: what looks like modes from the end can be part of something else.
 */
export function readModes(setup: Uint8Array, { channels }: { readonly channels: number }) {
  if (setup.length > maxSetupBytes) throw damaged("its setup header is too long");
  const bits = new BitReader(setup, 7 * 8);
  repeat(bits.read(8) + 1, () => skipCodebook(bits));
  // Times have no other kind than 0.
  repeat(bits.read(6) + 1, () => expectZero(bits.read(16)));
  repeat(bits.read(6) + 1, () => skipFloor(bits));
  repeat(bits.read(6) + 1, () => skipResidue(bits));
  repeat(bits.read(6) + 1, () => skipMapping(bits, channels));
  const isLong: boolean[] = [];
  repeat(bits.read(6) + 1, () => {
    isLong.push(bits.read(1) === 1);
    // The window and the transform have no other kind than 0.
    expectZero(bits.read(16));
    expectZero(bits.read(16));
    bits.skip(8);
  });
  if (bits.read(1) !== 1) throw damaged("its setup header has no end");
  return isLong;
}

/** Bits count from the lowest of each byte. */
class BitReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** At most 24 bits. */
  read(count: number): number {
    const start = this.#at;
    this.skip(count);
    const byte = (offset: number) => this.#bytes[(start >> 3) + offset] ?? 0;
    const word = byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
    return (word >>> (start & 7)) & (2 ** count - 1);
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#bytes.length * 8) throw damaged("its setup header is cut off");
  }
}

const codebookMark = 0x564342;

function skipCodebook(bits: BitReader): void {
  if (bits.read(24) !== codebookMark) throw damaged("one of its codebooks is invalid");
  const dimensions = bits.read(16);
  const entries = bits.read(24);
  const isOrdered = bits.read(1) === 1;
  const isSparse = !isOrdered && bits.read(1) === 1;
  if (isOrdered) {
    bits.skip(5);
    for (let entry = 0; entry < entries; ) entry += bits.read(bitLength(entries - entry));
  } else if (isSparse) {
    for (let entry = 0; entry < entries; entry++) if (bits.read(1) === 1) bits.skip(5);
  } else {
    bits.skip(entries * 5);
  }
  const lookup = bits.read(4);
  if (lookup > 2) throw damaged("one of its codebooks is invalid");
  if (lookup === 0) return;
  bits.skip(64);
  const valueBits = bits.read(4) + 1;
  bits.skip(1);
  const values = lookup === 1 ? integerRoot(entries, dimensions) : entries * dimensions;
  bits.skip(values * valueBits);
}

/** The largest number whose power is not more than `value`. */
function integerRoot(value: number, power: number): number {
  if (power === 0) throw damaged("one of its codebooks is invalid");
  let root = Math.floor(value ** (1 / power));
  while ((root + 1) ** power <= value) root++;
  while (root ** power > value) root--;
  return root;
}

function skipFloor(bits: BitReader): void {
  const kind = bits.read(16);
  if (kind > 1) throw damaged("one of its floors is invalid");
  if (kind === 0) {
    bits.skip(8 + 16 + 16 + 6 + 8);
    bits.skip((bits.read(4) + 1) * 8);
    return;
  }
  const classes = numbers(bits.read(5), () => bits.read(4));
  const dimensions = numbers(Math.max(-1, ...classes) + 1, () => {
    const own = bits.read(3) + 1;
    const subclassBits = bits.read(2);
    if (subclassBits > 0) bits.skip(8);
    bits.skip(8 * 2 ** subclassBits);
    return own;
  });
  bits.skip(2);
  const rangeBits = bits.read(4);
  for (const each of classes) bits.skip((dimensions[each] ?? 0) * rangeBits);
}

function skipResidue(bits: BitReader): void {
  if (bits.read(16) > 2) throw damaged("one of its residues is invalid");
  bits.skip(24 + 24 + 24);
  const classifications = bits.read(6) + 1;
  bits.skip(8);
  const cascades = numbers(classifications, () => {
    const low = bits.read(3);
    return low + (bits.read(1) === 1 ? bits.read(5) * 8 : 0);
  });
  for (const cascade of cascades)
    for (let left = cascade; left > 0; left >>= 1) bits.skip((left & 1) * 8);
}

function skipMapping(bits: BitReader, channels: number): void {
  expectZero(bits.read(16));
  const submaps = bits.read(1) === 1 ? bits.read(4) + 1 : 1;
  if (bits.read(1) === 1) bits.skip((bits.read(8) + 1) * 2 * bitLength(channels - 1));
  expectZero(bits.read(2));
  if (submaps > 1) bits.skip(channels * 4);
  bits.skip(submaps * 24);
}

const bitLength = (value: number) => 32 - Math.clz32(value);

function repeat(count: number, run: () => void): void {
  for (let index = 0; index < count; index++) run();
}

const numbers = (length: number, read: () => number) => Array.from({ length }, read);

function expectZero(value: number): void {
  if (value !== 0) throw damaged("its setup header has fields of an unknown kind");
}

export function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is damaged Vorbis audio: ${reason}`);
}
