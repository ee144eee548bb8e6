import { nextTurn } from "../clock.ts";

/** What is written in one turn of the event loop. */
const turnChars = 1024 * 1024;

/** Writes the object as JSON in several turns of the event loop, at most one item per turn too long. */
export async function piecesOf(
  fields: Readonly<Record<string, unknown>>,
): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const part of textsOf(fields)) {
    text += part;
    if (text.length < turnChars) continue;
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
