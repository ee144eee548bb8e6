/** Tags of MP3 files: where they are, and how many bytes they have. What they say is not read. */

/** An ID3v2 tag has a title, an artist and a picture; files that were tagged twice have two. */
export function id3v2Bytes(bytes: Uint8Array, at: number): number {
  if (!hasText(bytes, at, "ID3") || at + 10 > bytes.length) return 0;
  const [version = 0, revision = 0, flags = 0, ...sizes] = bytes.subarray(at + 3, at + 10);
  // No tag has another version, revision or flags: some decoders skip it and others do not.
  if (version < 2 || version > 4 || revision !== 0 || (flags & 15) !== 0) return 0;
  if (sizes.some((byte) => byte > 0x7f)) return 0;
  const hasFooter = (flags & 0x10) !== 0;
  const sizeBytes = 10 + sizes.reduce((sum, byte) => sum * 128 + byte, 0) + (hasFooter ? 10 : 0);
  return at + sizeBytes > bytes.length ? 0 : sizeBytes;
}

/** A tag that begins here, between two frames; 0 where none does. */
export function tagBytes(bytes: Uint8Array, at: number): number {
  return id3v2Bytes(bytes, at) || apeBytes(bytes, at) || id3v1Bytes(bytes, at);
}

const id3v1Size = 128;
const id3v1ExtensionSize = 227;

function id3v1Bytes(bytes: Uint8Array, at: number): number {
  const sizeBytes = hasText(bytes, at, "TAG+")
    ? id3v1ExtensionSize + id3v1Size
    : hasText(bytes, at, "TAG")
      ? id3v1Size
      : 0;
  return at + sizeBytes > bytes.length ? 0 : sizeBytes;
}

const apeHeadBytes = 32;
const apeMark = "APETAGEX";

/** The size in an APE tag counts its items and its footer, but not its header. */
function apeBytes(bytes: Uint8Array, at: number): number {
  if (!hasText(bytes, at, apeMark) || at + apeHeadBytes > bytes.length) return 0;
  const end = at + apeHeadBytes + apeSize(bytes, at);
  return end <= bytes.length && hasText(bytes, end - apeHeadBytes, apeMark) ? end - at : 0;
}

const apeSize = (bytes: Uint8Array, at: number) =>
  Buffer.from(bytes.subarray(at + 12, at + 16)).readUInt32LE();

/** Where the tags begin that are found from the end of a file, where older tags keep their sizes. */
export function tailStart(bytes: Uint8Array): number {
  let end = bytes.length;
  for (let tags = 0; tags < maxTailTags; tags++) {
    const sizeBytes = tailBytes(bytes, end);
    if (sizeBytes === 0) break;
    end -= sizeBytes;
  }
  return end;
}

const maxTailTags = 4;

function tailBytes(bytes: Uint8Array, end: number): number {
  if (end >= id3v1Size && hasText(bytes, end - id3v1Size, "TAG")) return id3v1Size;
  return lyricsBytes(bytes, end) || apeTailBytes(bytes, end);
}

/** APE tags of version 1 have no header. */
function apeTailBytes(bytes: Uint8Array, end: number): number {
  const footer = end - apeHeadBytes;
  if (footer < 0 || !hasText(bytes, footer, apeMark)) return 0;
  const sizeBytes = apeSize(bytes, footer);
  if (sizeBytes < apeHeadBytes || sizeBytes > end) return 0;
  const header = end - sizeBytes - apeHeadBytes;
  return header >= 0 && hasText(bytes, header, apeMark) ? sizeBytes + apeHeadBytes : sizeBytes;
}

const lyricsEnd = "LYRICS200";
const lyricsStart = "LYRICSBEGIN";

/** Lyrics3 ends with six digits, which count all in front of them, and its name. */
function lyricsBytes(bytes: Uint8Array, end: number): number {
  const footer = end - lyricsEnd.length;
  if (footer < 6 || !hasText(bytes, footer, lyricsEnd)) return 0;
  const digits = Buffer.from(bytes.subarray(footer - 6, footer)).toString("latin1");
  if (!/^\d{6}$/.test(digits)) return 0;
  const start = footer - 6 - Number(digits);
  return start >= 0 && hasText(bytes, start, lyricsStart) ? end - start : 0;
}

function hasText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}
