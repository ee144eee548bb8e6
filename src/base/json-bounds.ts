/**
 * Looks at the bytes of a large JSON text before it is parsed. Parsing happens on the event loop:
 * 31 MB of `[` would hold it for five seconds and take 2.4 GB, where as much text in one string
 * takes some milliseconds. What counts is how deep it is nested and how many values it has.
 */
export const maxJsonDepth = 1_000;
export const maxJsonWeight = 1_000_000;

const quote = 0x22;
const backslash = 0x5c;

/** Whether the text is nested too deeply or has too many values. It need not be valid JSON. */
export function isOutOfBounds(bytes: Uint8Array): boolean {
  let depth = 0;
  let weight = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at + 1);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        weight++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
        weight++;
        break;
      case 0x3a: // : a field costs more than an entry
        weight += 4;
        break;
    }
    if (depth > maxJsonDepth || weight > maxJsonWeight) return true;
  }
  return false;
}

/** The place of the closing quote. Most strings have no quote inside: one native search finds it. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = bytes.indexOf(quote, start);
  if (at === -1) return bytes.length;
  let before = at;
  while (before > start && bytes[before - 1] === backslash) before--;
  if ((at - before) % 2 === 0) return at;
  for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
  return at;
}
