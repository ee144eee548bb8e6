import { nextTurn } from "../base/clock.ts";

export type Base64Reading =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problem: string };

export type ImageDataUriReading =
  | { readonly ok: true; readonly mime: string; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problem: string };

/** Real headers have some 30 characters; the bound keeps the header pattern off megabytes of text. */
const maxHeaderCharacters = 256;

/** A multiple of four, so that each piece is base64 by itself. */
const charactersPerTurn = 1024 * 1024;

const header =
  /^data:(image\/[a-z0-9][a-z0-9.+-]*)(?:;[a-z0-9][a-z0-9.+-]*=[a-z0-9.+_-]*)*;base64$/i;

const outsideTheAlphabet = /[^A-Za-z0-9+/]/;

/** The characters whose unused low bits are zero, for a last group of two and of three characters. */
const lastOfTwo = "AQgw";
const lastOfThree = "AEIMQUYcgkosw048";

/** Reads `data:image/<subtype>[;param=value]*;base64,<data>`. The mime comes back in lower case. */
export function readImageDataUri(text: string): ImageDataUriReading | Promise<ImageDataUriReading> {
  const commaAt = text.slice(0, maxHeaderCharacters).indexOf(",");
  const mime = header.exec(text.slice(0, Math.max(commaAt, 0)))?.[1];
  if (mime === undefined)
    return { ok: false, problem: "is not a data URI of the form data:image/<type>;base64,<data>" };
  const data = text.slice(commaAt + 1);
  const toReading = (reading: Base64Reading): ImageDataUriReading =>
    reading.ok ? { ok: true, mime: mime.toLowerCase(), bytes: reading.bytes } : reading;
  return data.length <= charactersPerTurn
    ? toReading(readBase64(data))
    : readBase64InTurns(data).then(toReading);
}

/** The same as `readBase64`, with the event loop free for others in between. */
async function readBase64InTurns(text: string): Promise<Base64Reading> {
  const bytes = new Uint8Array(base64SizeBytes(text));
  let filled = 0;
  for (let at = 0; at < text.length; at += charactersPerTurn) {
    const end = at + charactersPerTurn;
    const piece = text.slice(at, end);
    const isLast = end >= text.length;
    const digits = isLast ? withoutPadding(piece) : piece;
    const strayAt = digits.search(outsideTheAlphabet);
    if (strayAt !== -1) return invalid(`unexpected character at offset ${at + strayAt}`);
    const fault = isLast ? faultOf(text) : undefined;
    if (fault !== undefined) return invalid(fault);
    filled += bytes.subarray(filled).setFromBase64(piece).written;
    await nextTurn();
  }
  return { ok: true, bytes };
}

/**
 * Strict standard base64. Native decoders skip whitespace, take base64url or stop at the first "=",
 * each in its own way: what we accept must mean the same bytes to every upstream that decodes it again.
 */
export function readBase64(text: string): Base64Reading {
  if (text.length === 0) return { ok: false, problem: "has no base64 data" };
  const strayAt = withoutPadding(text).search(outsideTheAlphabet);
  if (strayAt !== -1) return invalid(`unexpected character at offset ${strayAt}`);
  const fault = faultOf(text);
  return fault === undefined ? { ok: true, bytes: Uint8Array.fromBase64(text) } : invalid(fault);
}

/** How many bytes the text decodes to, known without decoding it. */
export function base64SizeBytes(text: string): number {
  return Math.floor((withoutPadding(text).length * 3) / 4);
}

function withoutPadding(text: string): string {
  if (text.endsWith("==")) return text.slice(0, -2);
  return text.endsWith("=") ? text.slice(0, -1) : text;
}

/** Of its length, its padding and its last group. */
function faultOf(text: string): string | undefined {
  const digits = withoutPadding(text);
  const paddingCharacters = text.length - digits.length;
  const lastGroupCharacters = digits.length % 4;
  if (lastGroupCharacters === 1) return `a length of ${digits.length} characters cannot be base64`;
  const paddingDue = (4 - lastGroupCharacters) % 4;
  if (paddingCharacters !== 0 && paddingCharacters !== paddingDue)
    return `expected ${paddingDue} padding ${paddingDue === 1 ? "character" : "characters"}, found ${paddingCharacters}`;
  const last = digits.at(-1) ?? "";
  const strayBits =
    (lastGroupCharacters === 2 && !lastOfTwo.includes(last)) ||
    (lastGroupCharacters === 3 && !lastOfThree.includes(last));
  return strayBits ? "the last character has extra bits" : undefined;
}

function invalid(reason: string): Base64Reading {
  return { ok: false, problem: `is not valid base64: ${reason}` };
}
