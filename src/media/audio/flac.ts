import { UnreadableMedia, viewOf } from "../frames.ts";
import { checkRate, type Reading, Steps, tooDense } from "./reading.ts";

/**
 * FLAC: the samples of all frames. The total in STREAMINFO is a claim and is not read. A frame does
 * not tell its size, so frames are found by their headers, which end in a checksum: chance passes
 * for one about once in forty million bytes.
 *
 * The rate, the channels and the bits of a sample stand in STREAMINFO and in each frame. Decoders
 * believe one or the other, so a file in which they differ is refused. So is metadata of an unknown
 * kind, and a file with more bytes than its samples have before they are compressed.
 *
 * The checksum of a whole frame makes the sum over it zero, so the sum over all bytes is zero wherever
 * a frame begins. FFmpeg plays a frame twice where that is wrong for the one before the last.
 */
export function* flacDurationS(bytes: Uint8Array): Reading {
  const { start, info } = readMetadata(bytes);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (infoMarks.some((mark) => buffer.includes(mark, start)))
    throw damaged("it has a second STREAMINFO");
  let samples = 0;
  let strays = 0;
  let frames = 0;
  const steps = new Steps(bytes.length);
  const sum = new Checksum(bytes, start);
  if (bytes[start] !== 0xff) throw damaged("no frame follows its metadata");
  for (let at = start; at !== -1 && at + 6 <= bytes.length; at = bytes.indexOf(0xff, at)) {
    steps.scan(bytesPerLook);
    if (steps.endsTurn()) yield;
    if (((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) {
      at += 1;
      continue;
    }
    steps.add(1);
    const frame = frameAt(bytes, at);
    if (frame === undefined) {
      at += 1;
      continue;
    }
    frames += 1;
    samples += frame.samples;
    yield* sum.addTo(at, steps);
    if ((!sum.isZero || !isLike(frame, info)) && ++strays > maxStrays)
      throw damaged("its frames contradict its STREAMINFO or their checksums");
    at += frame.headerBytes;
  }
  if (samples === 0) throw new UnreadableMedia("is a FLAC without audio frames");
  // Of two channels, one may be a difference, which takes a bit more.
  const sampleBytes = (info.channels * (info.bitsPerSample + 1)) / 8;
  if (bytes.length - start > samples * sampleBytes + frames * maxFrameOverhead + maxTrailerBytes)
    throw tooDense();
  // The last header is chance, or the frame before it is damaged.
  if (!sum.isZero) yield* sum.addTo(bytes.length, steps);
  if (!sum.isZero) throw damaged("a checksum near its end is wrong");
  return samples / info.rate;
}

/** Looking at what may be a header takes as long as so many bytes. */
const bytesPerLook = 8;
const bytesPerSum = 16_384;
/** Header, checksums, and the heads of up to eight channels. */
const maxFrameOverhead = 64;
/** Behind the frames, some taggers write tags of MP3. */
const maxTrailerBytes = 65_536;
const paddingType = 1;
const maxType = 6;
/** Shorter blocks are not allowed, and decoders do not take such a file for FLAC. */
const minBlockSamples = 16;

/** Headers that are chance, in the largest file. Fewer than these count like all others. */
const maxStrays = 8;
const maxBlocks = 1024;
const infoBytes = 34;
/** The name of the format, and the head of STREAMINFO behind it, with other metadata or without. */
const infoMarks = [0, 0x80].map((type) =>
  Buffer.from([...Buffer.from("fLaC"), type, 0, 0, infoBytes]),
);

interface StreamInfo {
  readonly rate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** STREAMINFO comes first and only once, and says how all frames are. */
function readMetadata(bytes: Uint8Array): { start: number; info: StreamInfo } {
  const view = viewOf(bytes);
  let at = 4;
  let info: StreamInfo | undefined;
  for (let blocks = 0; ; blocks++) {
    if (at + 4 > view.byteLength || blocks === maxBlocks) throw cut();
    const head = view.getUint32(at);
    const contentAt = at + 4;
    const sizeBytes = head & 0xff_ffff;
    if (contentAt + sizeBytes > view.byteLength) throw cut();
    const isInfo = ((head >>> 24) & 0x7f) === 0;
    if (isInfo !== (blocks === 0) || (isInfo && sizeBytes !== infoBytes))
      throw damaged("it must begin with its only STREAMINFO");
    if (isInfo) checkBlocks(view, contentAt);
    info ??= toInfo(view, contentAt + 10);
    const type = (head >>> 24) & 0x7f;
    if (type > maxType) throw damaged("it has metadata of an unknown kind");
    if (type === paddingType && !isZero(bytes.subarray(contentAt, contentAt + sizeBytes)))
      throw damaged("its padding is not empty");
    at = contentAt + sizeBytes;
    if (head >>> 31 === 1) return { start: at, info };
  }
}

function checkBlocks(view: DataView, at: number): void {
  const least = view.getUint16(at);
  if (least < minBlockSamples || view.getUint16(at + 2) < least)
    throw damaged("the sizes of its blocks are invalid");
}

function isZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}

/** 20 bits of rate, 3 of channels less one, 5 of the bits of a sample less one. */
function toInfo(view: DataView, at: number): StreamInfo {
  const word = view.getUint32(at);
  const rate = word >>> 12;
  checkRate(rate);
  return { rate, channels: ((word >>> 9) & 7) + 1, bitsPerSample: ((word >>> 4) & 31) + 1 };
}

function isLike(frame: Frame, info: StreamInfo): boolean {
  return (
    (frame.rate ?? info.rate) === info.rate &&
    (frame.bitsPerSample ?? info.bitsPerSample) === info.bitsPerSample &&
    frame.channels === info.channels
  );
}

function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged FLAC: ${reason}`);
}

const cut = () => new UnreadableMedia("is truncated: its FLAC metadata is incomplete");

interface Frame {
  readonly samples: number;
  /** Undefined: that of the file. */
  readonly rate: number | undefined;
  /** Undefined: those of the file. */
  readonly bitsPerSample: number | undefined;
  readonly channels: number;
  readonly headerBytes: number;
}

/** By the code of a frame; 3 is reserved. */
const frameBits: readonly (number | undefined)[] = [undefined, 8, 12, Number.NaN, 16, 20, 24, 32];

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
  const channelCode = byte(3) >> 4;
  return {
    samples,
    rate,
    // The codes from 8 on are two channels that share what they have in common.
    channels: channelCode < 8 ? channelCode + 1 : 2,
    bitsPerSample: frameBits[(byte(3) >> 1) & 7],
    headerBytes: end + 1,
  };
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

/** The CRC-16 of all bytes from the first frame on. */
class Checksum {
  readonly #bytes: Uint8Array;
  #at: number;
  #crc = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  get isZero(): boolean {
    return this.#crc === 0;
  }

  *addTo(end: number, steps: Steps): Generator<undefined, void> {
    while (this.#at < end) {
      const next = Math.min(end, this.#at + bytesPerSum);
      steps.scan(next - this.#at);
      this.#add(next);
      if (steps.endsTurn()) yield;
    }
  }

  #add(end: number): void {
    let crc = this.#crc;
    for (let at = this.#at; at < end; at++)
      crc = ((crc << 8) & 0xffff) ^ (crc16Table[(crc >> 8) ^ (this.#bytes[at] ?? 0)] ?? 0);
    this.#crc = crc;
    this.#at = end;
  }
}

const crc16Table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x18005);
  return crc;
});
