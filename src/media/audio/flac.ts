import { UnreadableMedia, viewOf } from "../frames.ts";
import { afterTags } from "./mp3.ts";
import { type Reading, stepsPerTurn } from "./reading.ts";

/**
 * FLAC: the samples of all frames. The total in STREAMINFO is a claim and is not read. A frame does
 * not tell its size, so frames are found by their headers, which end in a checksum: chance passes
 * for one about once in a hundred million bytes.
 */
export function* flacDurationS(bytes: Uint8Array): Reading {
  const view = viewOf(bytes);
  const { start, rate: usualRate } = readMetadata(view, afterTags(bytes));
  let durationS = 0;
  let steps = 0;
  for (let at = start; at !== -1 && at + 6 <= bytes.length; at = bytes.indexOf(0xff, at)) {
    if (++steps % stepsPerTurn === 0) yield;
    const frame = frameAt(bytes, at);
    if (frame === undefined) {
      at += 1;
      continue;
    }
    durationS += frame.samples / (frame.rate ?? usualRate);
    at += frame.headerBytes;
  }
  if (durationS === 0) throw new UnreadableMedia("is a FLAC without audio frames");
  return durationS;
}

const maxBlocks = 1024;

function readMetadata(view: DataView, tagsEnd: number): { start: number; rate: number } {
  let at = tagsEnd + 4;
  let rate = 0;
  for (let blocks = 0; ; blocks++) {
    if (at + 4 > view.byteLength || blocks === maxBlocks) throw cut();
    const head = view.getUint32(at);
    const contentAt = at + 4;
    const sizeBytes = head & 0xff_ffff;
    if (contentAt + sizeBytes > view.byteLength) throw cut();
    if (((head >>> 24) & 0x7f) === 0 && sizeBytes >= 34)
      rate = view.getUint32(contentAt + 10) >>> 12;
    at = contentAt + sizeBytes;
    if (head >>> 31 === 1) break;
  }
  if (rate === 0) throw new UnreadableMedia("is a damaged FLAC: it has no sample rate");
  return { start: at, rate };
}

const cut = () => new UnreadableMedia("is truncated: its FLAC metadata is incomplete");

interface Frame {
  readonly samples: number;
  /** Undefined: that of the file. */
  readonly rate: number | undefined;
  readonly headerBytes: number;
}

const frameRates: readonly (number | undefined)[] = [
  undefined,
  88_200,
  176_400,
  192_000,
  8_000,
  16_000,
  22_050,
  24_000,
  32_000,
  44_100,
  48_000,
  96_000,
];

function frameAt(bytes: Uint8Array, at: number): Frame | undefined {
  const byte = (offset: number) => bytes[at + offset] ?? 0;
  const sizeCode = byte(2) >> 4;
  const rateCode = byte(2) & 15;
  const isFrame =
    bytes[at] === 0xff &&
    (byte(1) & 0xfe) === 0xf8 &&
    sizeCode !== 0 &&
    rateCode !== 15 &&
    byte(3) >> 4 <= 10 &&
    (byte(3) & 1) === 0;
  if (!isFrame) return undefined;
  const numberBytes = utf8Bytes(byte(4));
  if (numberBytes === 0) return undefined;
  let end = 4 + numberBytes;
  const read = (sizeBytes: number) => {
    end += sizeBytes;
    return sizeBytes === 1 ? byte(end - 1) : byte(end - 2) * 256 + byte(end - 1);
  };
  const samples = sizeCode === 6 ? read(1) + 1 : sizeCode === 7 ? read(2) + 1 : blockSize(sizeCode);
  const rate =
    rateCode === 12
      ? read(1) * 1000
      : rateCode === 13
        ? read(2)
        : rateCode === 14
          ? read(2) * 10
          : frameRates[rateCode];
  if (rate === 0 || at + end >= bytes.length || crc8(bytes, at, at + end) !== byte(end))
    return undefined;
  return { samples, rate, headerBytes: end + 1 };
}

function blockSize(code: number): number {
  if (code === 1) return 192;
  return code <= 5 ? 576 * 2 ** (code - 2) : 256 * 2 ** (code - 8);
}

/** The number of the frame or sample is written like a character of UTF-8, up to seven bytes long. */
function utf8Bytes(first: number): number {
  const ones = Math.clz32(~(first << 24));
  return ones === 0 ? 1 : ones === 1 || ones === 8 ? 0 : ones;
}

function crc8(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at++) {
    crc ^= bytes[at] ?? 0;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80) === 0 ? crc << 1 : ((crc << 1) ^ 7) & 0xff;
  }
  return crc;
}
