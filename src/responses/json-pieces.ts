import { nextTurn } from "../base/clock.ts";
import { JsonWeight } from "../base/json/weight.ts";
import type { JsonObject } from "../call/chat.ts";
import { bytesCost, type Pace } from "./pace.ts";

/** Texts above it are worked on in several turns of the event loop. */
const largeBytes = 1024 * 1024;
/** Up to here nothing that can be in a text takes the parser longer than ten milliseconds. */
const smallBytes = 64 * 1024;
const weighedAtOnce = 256 * 1024;

/** Its top-level fields, as JSON. */
export async function piecesOf(
  fields: Readonly<Record<string, unknown>>,
): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const part of textsOf(fields)) {
    text += part;
    if (text.length < largeBytes) continue;
    await nextTurn();
    pieces.push(Buffer.from(text));
    text = "";
    await nextTurn();
  }
  pieces.push(Buffer.from(text));
  return pieces;
}

/** The items of its lists one by one. */
function* textsOf(fields: Readonly<Record<string, unknown>>): Generator<string> {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  yield "{";
  for (const [at, [name, value]] of known.entries()) {
    yield `${at === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (!Array.isArray(value)) yield JSON.stringify(value);
    else {
      yield "[";
      for (const [place, item] of value.entries())
        yield `${place === 0 ? "" : ","}${JSON.stringify(item)}`;
      yield "]";
    }
  }
  yield "}";
}

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
