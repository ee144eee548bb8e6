/** Texts that are counted in place of longer ones: each of their tokens stands for `factor`. */
export interface TextSample {
  readonly texts: readonly string[];
  readonly factor: number;
}

export interface SampleSize {
  readonly places: number;
  readonly placeChars: number;
}

export const charsOf = (texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + text.length, 0);

export const bytesOf = (texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Copies parts of the texts, one from each stretch, at places that nobody can know beforehand. */
export function sampleOf(texts: readonly string[], size: SampleSize): TextSample {
  const chars = charsOf(texts);
  if (chars <= size.places * size.placeChars) return { texts, factor: 1 };
  const parts: string[] = [];
  let startsAt = 0;
  let place = placeIn(0, chars, size.places);
  for (const text of texts) {
    for (; parts.length < size.places && place < startsAt + text.length; ) {
      const start = Math.max(0, Math.min(place - startsAt, text.length - size.placeChars));
      parts.push(copyOf(text.slice(start, start + size.placeChars)));
      place = placeIn(parts.length, chars, size.places);
    }
    startsAt += text.length;
  }
  return { texts: parts, factor: chars / charsOf(parts) };
}

const placeIn = (stretch: number, chars: number, stretches: number) =>
  Math.floor(((stretch + Math.random()) / stretches) * chars);

/** A slice of a string keeps all of it in memory. */
const copyOf = (part: string) => Buffer.from(part, "utf16le").toString("utf16le");

/** Lists of texts with at most this many characters in all; a longer text is cut. */
export function* piecesOf(texts: readonly string[], pieceChars: number) {
  let piece: string[] = [];
  let leftChars = pieceChars;
  for (const text of texts)
    for (let at = 0; at < text.length; ) {
      const part = text.slice(at, at + leftChars);
      at += part.length;
      leftChars -= part.length;
      piece.push(part);
      if (leftChars > 0) continue;
      yield piece;
      piece = [];
      leftChars = pieceChars;
    }
  if (piece.length > 0) yield piece;
}
