import { type ImageDataUriReading, readImageDataUri } from "./data-uri.ts";
import { viewOf } from "./frames.ts";

export type ImageMime = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

export type ImageInspection =
  | { readonly ok: true; readonly mime: ImageMime; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problem: string };

const pngSignature = "\x89PNG\r\n\x1a\n";
/** The signature, then IHDR: its length and name, 13 bytes of content, a checksum. */
const pngHeaderBytes = 33;
const gifHeaderBytes = 13;
const webpHeaderBytes = 30;
/** Before the frame of a real JPEG there are some dozens; fill bytes count, too. */
const maxJpegSteps = 100_000;

/** Says what the image in a data URI really is; a claim that differs from the content is refused. */
export function inspectImage(text: string): ImageInspection | Promise<ImageInspection> {
  const reading = readImageDataUri(text);
  return reading instanceof Promise ? reading.then(toInspection) : toInspection(reading);
}

function toInspection(reading: ImageDataUriReading): ImageInspection {
  if (!reading.ok) return reading;
  const mime = sniffImage(reading.bytes);
  if (mime === undefined) return { ok: false, problem: "is not a PNG, JPEG, WebP or GIF image" };
  // image/jpg was never registered, yet half of all clients write it.
  const claimed = reading.mime === "image/jpg" ? "image/jpeg" : reading.mime;
  if (claimed !== mime)
    return { ok: false, problem: `claims to be ${reading.mime} but its content is ${mime}` };
  if (!hasWholeHeader(reading.bytes, mime))
    return { ok: false, problem: `is truncated: its ${mime} header is incomplete` };
  return { ok: true, mime, bytes: reading.bytes };
}

export function sniffImage(bytes: Uint8Array): ImageMime | undefined {
  if (startsWith(bytes, pngSignature)) return "image/png";
  if (startsWith(bytes, "\xff\xd8\xff")) return "image/jpeg";
  if (startsWith(bytes, "RIFF") && startsWith(bytes.subarray(8), "WEBP")) return "image/webp";
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) return "image/gif";
  return undefined;
}

function hasWholeHeader(bytes: Uint8Array, mime: ImageMime): boolean {
  switch (mime) {
    case "image/png":
      return bytes.length >= pngHeaderBytes && startsWith(bytes.subarray(8), "\0\0\0\rIHDR");
    case "image/jpeg":
      return hasWholeJpegFrameHeader(bytes);
    case "image/webp":
      return hasWholeWebp(bytes);
    case "image/gif":
      return bytes.length > gifHeaderBytes;
    default:
      return mime satisfies never;
  }
}

/** Walks the segments up to the first start of frame (SOF), which holds width and height. */
function hasWholeJpegFrameHeader(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let position = 2;
  let steps = 0;
  while (position + 4 <= bytes.length && view.getUint8(position) === 0xff) {
    steps += 1;
    if (steps > maxJpegSteps) return false;
    const marker = view.getUint8(position + 1);
    if (marker === 0xff) {
      position += 1; // a fill byte
      continue;
    }
    const lengthBytes = view.getUint16(position + 2);
    const end = position + 2 + lengthBytes;
    if (lengthBytes < 2 || end > bytes.length) return false;
    if (isStartOfFrame(marker)) return true;
    position = end;
  }
  return false;
}

/** C0 to CF, apart from the Huffman tables (C4), a reserved one (C8) and arithmetic coding (CC). */
function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** A WebP says how long it is, so any cut shows. */
function hasWholeWebp(bytes: Uint8Array): boolean {
  return bytes.length >= webpHeaderBytes && viewOf(bytes).getUint32(4, true) + 8 <= bytes.length;
}

function startsWith(bytes: Uint8Array, prefix: string): boolean {
  for (let index = 0; index < prefix.length; index += 1) {
    if (bytes[index] !== prefix.charCodeAt(index)) return false;
  }
  return true;
}
