/** Files that a few random changes have been made to. */
import { join, withChecksums } from "../../fixtures/media/audio-bytes.ts";
import type { Dice } from "../cases/dice.ts";

export interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const mostBytes = 400_000;
const headBytes = 600;

/** Most changes hit the start, where headers are. */
function placeIn(dice: Dice, { length }: Uint8Array): number {
  return dice.below(dice.percent(50) ? Math.min(headBytes, length) : length);
}

function sliceOf(dice: Dice, bytes: Uint8Array): Uint8Array {
  const start = dice.percent(40) ? 0 : dice.below(bytes.length);
  return bytes.subarray(start, start + dice.magnitude(1, Math.min(40_000, bytes.length)));
}

type Change = (dice: Dice, bytes: Uint8Array, other: Uint8Array) => Uint8Array;

const odd = [0, 1, 2, 7, 8, 16, 63, 64, 127, 128, 254, 255];

const changes: readonly (readonly [weight: number, change: Change])[] = [
  [
    5,
    (dice, bytes) => {
      const copy = bytes.slice();
      copy[placeIn(dice, bytes)] = dice.percent(50) ? dice.below(256) : dice.pick(odd);
      return copy;
    },
  ],
  [
    3,
    (dice, bytes) => {
      const copy = bytes.slice();
      const at = placeIn(dice, bytes);
      const size = dice.pick([0, 1, 255, 65_535, bytes.length, dice.below(bytes.length)]);
      const value = Buffer.alloc(4);
      if (dice.percent(50)) value.writeUInt32LE(size);
      else value.writeUInt32BE(size);
      copy.set(value.subarray(0, Math.min(4, copy.length - at)), at);
      return copy;
    },
  ],
  [
    2,
    (dice, bytes, other) => {
      const at = placeIn(dice, bytes);
      return join(bytes.subarray(0, at), sliceOf(dice, other), bytes.subarray(at));
    },
  ],
  [
    2,
    (dice, bytes, other) => {
      const copy = bytes.slice();
      const at = placeIn(dice, bytes);
      copy.set(sliceOf(dice, other).subarray(0, copy.length - at), at);
      return copy;
    },
  ],
  [2, (dice, bytes, other) => join(bytes, sliceOf(dice, other))],
  [1, (dice, bytes) => bytes.slice(0, dice.below(bytes.length))],
  [
    2,
    (dice, bytes) => {
      const at = placeIn(dice, bytes);
      return join(bytes.subarray(0, at), bytes.subarray(at + dice.magnitude(1, 4_000)));
    },
  ],
  [
    2,
    (dice, bytes) => {
      const at = placeIn(dice, bytes);
      return join(bytes.subarray(0, at), sliceOf(dice, bytes), bytes.subarray(at));
    },
  ],
];

export function mutantOf(dice: Dice, sample: Sample, other: Sample): Sample {
  let bytes = sample.bytes;
  const count = dice.magnitude(1, 8);
  for (let change = 0; change < count && bytes.length > 16; change++)
    bytes = dice.weighted(changes)(dice, bytes, other.bytes).subarray(0, mostBytes);
  // Pages whose checksums are wrong are refused at once: most are made right.
  const isOgg = sample.name.endsWith(".ogg") && dice.percent(90) && bytes.length > 30;
  return { name: sample.name, bytes: isOgg ? withChecksums(bytes) : bytes.slice() };
}
