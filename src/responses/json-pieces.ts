import { JsonWeight } from "../base/json/weight.ts";
import type { JsonObject } from "../call/chat.ts";
import { bytesCost, type Pace } from "./pace.ts";

/** Up to here nothing that can be in a text takes the parser longer than ten milliseconds. */
const smallBytes = 64 * 1024;
const weighedAtOnce = 256 * 1024;

export const sizeOf = (pieces: readonly Uint8Array[]) =>
  pieces.reduce((sum, { length }) => sum + length, 0);

interface Weighing {
  readonly weight: JsonWeight;
  readonly pace: Pace;
}

/** False: it is too heavy to be parsed. */
export async function weigh(bytes: Uint8Array, { weight, pace }: Weighing): Promise<boolean> {
  for (let at = 0; at < bytes.length; at += weighedAtOnce) {
    const piece = bytes.subarray(at, at + weighedAtOnce);
    if (!(await pace.run(piece.length, () => weight.add(piece)))) return false;
  }
  return true;
}

/** Texts that are parsed together, if at all. */
export async function isLight(pieces: readonly Uint8Array[], pace: Pace): Promise<boolean> {
  if (sizeOf(pieces) <= smallBytes) return true;
  const weight = new JsonWeight();
  for (const piece of pieces) if (!(await weigh(piece, { weight, pace }))) return false;
  return true;
}

/** Undefined: with what was weighed before it, it is too heavy. */
export async function parsed(
  bytes: Uint8Array,
  { weight, pace }: Weighing,
): Promise<JsonObject | undefined> {
  const before = weight.total;
  if (!(await weigh(bytes, { weight, pace }))) return undefined;
  const cost = bytesCost(bytes.length);
  const text = await pace.run(cost, () =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
  );
  return pace.run(cost + weight.total - before, () => JSON.parse(text) as JsonObject);
}
