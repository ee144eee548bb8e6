import { nextTurn } from "../base/clock.ts";

/**
 * The most bytes of UTF-8 that a text has after any normalization that tokenizers use (none, NFC,
 * NFKC), in time linear in the text.
 *
 * Normalizing the text itself is not an option: it is quadratic in runs of combining marks, and
 * 64 kB of them would stop the process for seconds. Instead the sizes of single code points are
 * added up, from a table that is filled a block at a time. A code point that no combining mark
 * follows counts by its own NFC and NFKC forms: what composes with its neighbors only gets shorter.
 * Combining marks, and what they follow, count by their full decompositions, because reordered
 * marks can break a composed character up.
 */
export class TextBound {
  /** Code units that are still looked at one by one, about 5 ns each; the rest is bounded roughly. */
  #exactUnits = 1_000_000;

  /** The bound of one text; what one instance has spent on looking is shared by all its texts. */
  bytesOf(text: string): number {
    const bytes = Buffer.byteLength(text);
    // Plain ASCII, as nearly all, has as many bytes as characters.
    if (bytes === text.length) return bytes;
    if (text.length > this.#exactUnits) return bytes * worstGrowth;
    this.#exactUnits -= text.length;
    return Math.max(bytes, sumOfCodePoints(text));
  }
}

/** NFKC makes 33 bytes of the 3 of U+FDFA; nothing grows more. */
const worstGrowth = 11;

const blockBits = 8;
const blockSize = 1 << blockBits;
/** Beyond planes 0 and 1, only U+2F800–U+2FA1F change, and they get shorter. */
const tableSize = 0x20000;
const aloneBytes = new Uint8Array(tableSize);
const apartBytes = new Uint8Array(tableSize);
const marks = new Uint8Array(tableSize);
const isFilled = new Uint8Array(tableSize >> blockBits);

function sumOfCodePoints(text: string): number {
  let bytes = 0;
  // What the code point before adds if a mark follows it.
  let apartBefore = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      bytes++;
      apartBefore = 0;
      continue;
    }
    const code = (unit & 0xf800) === 0xd800 ? (text.codePointAt(at) ?? unit) : unit;
    if (code > 0xffff) at++;
    if (code >= tableSize) {
      bytes += 4;
      apartBefore = 0;
      continue;
    }
    if (isFilled[code >> blockBits] === 0) fillBlock(code >> blockBits);
    const alone = aloneBytes[code] ?? 0;
    const apart = apartBytes[code] ?? 0;
    if (marks[code] === 1) {
      bytes += apart + apartBefore;
      apartBefore = 0;
      continue;
    }
    bytes += alone;
    apartBefore = apart - alone;
  }
  return bytes;
}

/** Fills the table a little at a time, so that no request has to wait for all of it. */
export async function fillTextBounds(): Promise<void> {
  for (let block = 0; block < isFilled.length; block++) {
    if (isFilled[block] !== 0) continue;
    fillBlock(block);
    await nextTurn();
  }
}

/** All of a block is normalized at once: a line feed composes with nothing. */
function fillBlock(block: number): void {
  const first = block << blockBits;
  isFilled[block] = 1;
  // ASCII, where the line feed is, is never looked up.
  const codes = Array.from({ length: blockSize }, (_, at) =>
    String.fromCodePoint(Math.max(0x80, first + at)),
  );
  const joined = codes.join("\n");
  const forms = (["NFC", "NFKC", "NFD", "NFKD"] as const).map((form) => joined.normalize(form));
  if (forms.every((form) => form === joined) && !/\p{M}/u.test(joined)) {
    const own = first >= 0x10000 ? 4 : first >= 0x800 ? 3 : 2;
    aloneBytes.fill(own, first, first + blockSize);
    apartBytes.fill(own, first, first + blockSize);
    return;
  }
  const [nfc, nfkc, nfd, nfkd] = forms.map((form) => form.split("\n"));
  const size = (form: readonly string[] | undefined, at: number) =>
    Buffer.byteLength(form?.[at] ?? "");
  for (let at = 0; at < blockSize; at++) {
    const alone = Math.max(size(codes, at), size(nfc, at), size(nfkc, at));
    aloneBytes[first + at] = alone;
    apartBytes[first + at] = Math.max(alone, size(nfd, at), size(nfkd, at));
    const isMark = startsWithMark.test(codes[at] ?? "") || startsWithMark.test(nfkd?.[at] ?? "");
    marks[first + at] = isMark ? 1 : 0;
  }
}

const startsWithMark = /^\p{M}/u;
