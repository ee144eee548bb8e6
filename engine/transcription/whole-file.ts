import { mp3FrameAt } from "./mp3-frame.ts";
import { audioRefusal, changesMidway } from "./sound.ts";

/**
 * The reader of containers plays only the first stream of an Ogg file, of an MP3 only the frames
 * that look like the first, and nothing of a WAV that leaves its size open. Callers pay for all of
 * it: what would be left out is refused before anything is decoded, or put right.
 */
export function toWholeFile(audio: Uint8Array): Uint8Array {
  const bytes = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength);
  const start = bytes.toString("latin1", 0, 8);
  if (start.startsWith("RIFF")) return withWholeSize(audio);
  if (start.startsWith("OggS")) checkPages(bytes);
  else if (!otherMarks.includes(start.slice(0, 4)) && start.slice(4) !== "ftyp") checkFrames(bytes);
  return audio;
}

/** FLAC and WebM. */
const otherMarks = ["fLaC", "\x1aE\xdf\xa3"];

/** Recorders that stream leave sizes open or wrong: what is there counts, as in the bill. */
function withWholeSize(audio: Uint8Array): Uint8Array {
  const own = audio.slice();
  const view = new DataView(own.buffer);
  if (own.length >= 8) view.setUint32(4, own.length - 8, true);
  for (let at = 12; at + 8 <= own.length; ) {
    const sizeBytes = view.getUint32(at + 4, true);
    if (view.getUint32(at) === dataMark) {
      if (sizeBytes === 0) view.setUint32(at + 4, own.length - at - 8, true);
      break;
    }
    at += 8 + sizeBytes + (sizeBytes % 2);
  }
  return own;
}

/** "data" */
const dataMark = 0x64617461;

const pageHeadBytes = 27;
const firstPage = 2;

function checkPages(bytes: Buffer): void {
  const serial = bytes.length < pageHeadBytes ? 0 : bytes.readUInt32LE(14);
  for (let at = 0; at !== -1 && at + pageHeadBytes <= bytes.length; ) {
    if (bytes.toString("latin1", at, at + 4) !== "OggS") {
      at = bytes.indexOf("OggS", at + 1);
      continue;
    }
    const isFirst = ((bytes[at + 5] ?? 0) & firstPage) !== 0;
    if (bytes.readUInt32LE(at + 14) !== serial || (isFirst && at > 0))
      throw audioRefusal("it has more than one stream, which is not supported");
    const sizes = bytes.subarray(at + pageHeadBytes, at + pageHeadBytes + (bytes[at + 26] ?? 0));
    at += pageHeadBytes + sizes.length + sizes.reduce((sum, size) => sum + size, 0);
  }
}

/** Pictures and tags between frames may look like one, hardly like three in a row. */
function checkFrames(bytes: Buffer): void {
  let form: string | undefined;
  for (let at = bytes.indexOf(0xff, tagBytes(bytes)); at !== -1; at = bytes.indexOf(0xff, at)) {
    const frame = hasFrames(bytes, at, 3) ? mp3FrameAt(bytes, at) : undefined;
    at += frame?.sizeBytes ?? 1;
    if (frame === undefined) continue;
    form ??= frame.form;
    if (frame.form !== form) throw changesMidway();
  }
}

/** So many in a row, or up to the end of the file. */
function hasFrames(bytes: Buffer, start: number, count: number): boolean {
  let at = start;
  for (let found = 0; found < count && at < bytes.length; found++) {
    const frame = mp3FrameAt(bytes, at);
    if (frame === undefined) return false;
    at += frame.sizeBytes;
  }
  return true;
}

/** An ID3v2 tag in front: ten bytes, of which four tell the size in seven bits each. */
function tagBytes(bytes: Buffer): number {
  if (bytes.toString("latin1", 0, 3) !== "ID3") return 0;
  return 10 + bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
}
