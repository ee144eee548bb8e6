import type { AudioType } from "../../call/transcribe.ts";
import { UnreadableMedia } from "../frames.ts";
import { mpegFrameAt } from "./mpeg-frame.ts";
import type { Steps } from "./reading.ts";

/**
 * Streams of other formats in the bytes of a file. A decoder that chooses a format by content weighs
 * all formats against each other, and some of them announce themselves anywhere: by words that they
 * repeat, or by frames that follow each other. Where such a stream outweighs the format that a file
 * begins with, the file is played as something that we did not count. So it is refused.
 *
 * Each rule asks for several repetitions, so that chance does not meet it in the largest file. One pass.
 */
export function* checkForeign(
  bytes: Uint8Array,
  {
    type,
    start,
    steps,
  }: { readonly type: AudioType; readonly start: number; readonly steps: Steps },
): Generator<undefined, void, unknown> {
  checkPlaces(bytes, type, start);
  const scan = new ForeignScan(bytes, type);
  for (let at = 0; at < bytes.length; at += bytesPerPass) {
    const marks = scan.pass(at, Math.min(at + bytesPerPass, bytes.length));
    steps.scan(bytesPerPass + marks * bytesPerMark);
    if (steps.endsTurn()) yield;
  }
}

const bytesPerPass = 65_536;
/** Looking further at a mark takes as long as passing over so many bytes. */
const bytesPerMark = 16;
/** Rows of frames that are no chance. */
const framesInRow = 4;

/** Words of four bytes that a stream repeats in every frame; a file has each at most three times by chance. */
const repeatedWords: ReadonlySet<number> = new Set([
  0x72f8_1f4e, // IEC 61937, in both orders of bytes: what an optical cable carries
  0xf872_4e1f,
  0x72f8_961f, // SMPTE 337M in samples of 24 and of 20 bits
  0x2087_6ff0,
  0x7ffe_8001, // DTS, in its four forms, and its extension
  0xfe7f_0180,
  0x1fff_e800,
  0xff1f_00e8,
  0x6458_2025,
  0xf872_6fba, // TrueHD and MLP
  0xf872_6fbb,
]);
const maxWords = 3;

class ForeignScan {
  readonly #bytes: Uint8Array;
  readonly #type: AudioType;
  /** Of each word, and of program streams, how often it came. */
  readonly #words = new Map<number, number>();
  #ac3InPass = 0;

  constructor(bytes: Uint8Array, type: AudioType) {
    this.#bytes = bytes;
    this.#type = type;
  }

  /** Returns at how many places a rule looked further. */
  pass(start: number, end: number): number {
    const bytes = this.#bytes;
    this.#ac3InPass = 0;
    let marks = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (isMark[byte] === 0) continue;
      marks += 1;
      this.#look(at, byte);
      if (isWordStart[byte] === 1) this.#word(at);
    }
    return marks;
  }

  #look(at: number, byte: number): void {
    switch (byte) {
      case 0xff:
        return this.#frames(at);
      case 0x47:
        return this.#transportStream(at);
      case 0x0b:
      case 0x77:
        return this.#ac3(at, byte);
      case 0x56:
        return this.#row(at, loasBytes, "AAC");
      case 0x01:
        return this.#packet(at - 2);
      case 0x06:
        return this.#text(at, mxfKey, "MXF");
      case 0x42:
        return this.#text(at - 1, bonkMark, "Bonk");
      case 0x4e:
        return this.#nullsoft(at);
      case 0x53:
        return this.#text(at, soundChunk, "3DO");
    }
  }

  #frames(at: number): void {
    const second = this.#bytes[at + 1] ?? 0;
    if (second < 0xe0) return;
    if ((second & 0xf6) === 0xf0) this.#row(at, adtsBytes, "AAC");
    else if (this.#type !== "mp3") this.#row(at, mpegBytes, "MP3");
  }

  #row(at: number, sizeAt: (bytes: Uint8Array, at: number) => number, name: string): void {
    let next = at;
    for (let frames = 0; frames < framesInRow; frames++) {
      const size = sizeAt(this.#bytes, next);
      if (size === 0) return;
      next += size;
    }
    throw foreign(name);
  }

  /** Sync bytes as far apart as packets are; decoders go on where some of them are missing. */
  #transportStream(at: number): void {
    for (const stride of transportStrides) {
      let found = 0;
      for (let packet = 1; packet < transportPackets; packet++) {
        if (this.#bytes[at + packet * stride] === 0x47) found += 1;
        if (packet === 3 && found === 0) break;
      }
      if (found * 2 >= transportPackets - 1) throw foreign("MPEG-TS");
    }
  }

  /** A frame has at most 3,840 bytes: so many in a pass are a stream. */
  #ac3(at: number, byte: number): void {
    if (this.#bytes[at + 1] !== (byte === 0x0b ? 0x77 : 0x0b)) return;
    const version = (this.#bytes[at + (byte === 0x0b ? 5 : 4)] ?? 0xff) >> 3;
    if (version > 16) return;
    this.#ac3InPass += 1;
    if (this.#ac3InPass > maxAc3) throw foreign("AC-3");
  }

  #word(at: number): void {
    const bytes = this.#bytes;
    const low = ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    const word = (bytes[at] ?? 0) * 0x100_0000 + low;
    if (repeatedWords.has(word)) this.#count(word, maxWords);
  }

  #count(word: number, most: number): void {
    const count = (this.#words.get(word) ?? 0) + 1;
    this.#words.set(word, count);
    if (count > most) throw foreign("another format");
  }

  /** Of program streams: two zeros, a one and a code. Formats with a mark of their own outweigh these. */
  #packet(at: number): void {
    const bytes = this.#bytes;
    if (this.#type !== "mp3" || bytes[at] !== 0 || bytes[at + 1] !== 0) return;
    const code = bytes[at + 3] ?? 0;
    const first = bytes[at + 4] ?? 0;
    const isPack = code === 0xba && ((first & 0xc4) === 0x44 || (first & 0xf0) === 0x20);
    const isSound = code === 0xbd || (code >= 0xc0 && code <= 0xdf);
    const form = bytes[at + 6] ?? 0;
    const isPacket =
      isSound && ((form & 0xc0) === 0x80 || form === 0xff || (form >= 0x0f && form < 0x40));
    if (isPack || isPacket)
      this.#count(programStream, 1 + Math.floor(bytes.length / bytesPerPacket));
  }

  /** A chunk of Nullsoft video tells where its next mark is. */
  #nullsoft(at: number): void {
    const bytes = this.#bytes;
    this.#text(at, nutMark, "NUT");
    if (!holds(bytes, at, nullsoftMark)) return;
    const byte = (offset: number) => bytes[at + offset] ?? 0;
    const video = ((byte(21) << 16) | (byte(20) << 8) | byte(19)) >> 4;
    const sound = (byte(23) << 8) | byte(22);
    const next = at + 24 + video + sound;
    if (bytes[next] === 0xef && bytes[next + 1] === 0xbe) throw foreign("NSV");
  }

  #text(at: number, mark: readonly (number | undefined)[], name: string): void {
    if (holds(this.#bytes, at, mark)) throw foreign(name);
  }
}

const transportStrides = [188, 192, 204];
const transportPackets = 16;
const maxAc3 = 10;
const programStream = 1;
/** Chance makes one packet of a program stream in more bytes than these; one has at most 64 KiB. */
const bytesPerPacket = 4 * 1024 * 1024;

const textBytes = (text: string) => [...Buffer.from(text, "latin1")];
const mxfKey = [6, 0x0e, 0x2b, 0x34, 2, 5, 1, 1, 0x0d, 1, 2, 1, 1, 2];
const nutMark = [0x4e, 0x4d, 0x7a, 0x56, 0x1f, 0x5f, 0x04, 0xad];
const nullsoftMark = textBytes("NSVs");
const bonkMark = textBytes("\0BONK\0");
/** The chunk of sound in a stream of 3DO, and what it holds eight bytes on. */
const soundChunk = [
  ...textBytes("SNDS"),
  ...Array<undefined>(12).fill(undefined),
  ...textBytes("SHDR"),
];

const tableOf = (marked: readonly number[]) =>
  Uint8Array.from({ length: 256 }, (_, byte) => (marked.includes(byte) ? 1 : 0));
const wordStarts = [...repeatedWords].map((word) => word >>> 24);
const isWordStart = tableOf(wordStarts);
/** Bytes that a rule begins with, and no zero: files have long runs of those. */
const isMark = tableOf([0xff, 0x47, 0x0b, 0x77, 0x56, 0x01, 0x06, 0x42, 0x4e, 0x53, ...wordStarts]);

function holds(bytes: Uint8Array, at: number, mark: readonly (number | undefined)[]): boolean {
  for (let offset = 0; offset < mark.length; offset++) {
    const byte = mark[offset];
    if (byte !== undefined && bytes[at + offset] !== byte) return false;
  }
  return true;
}

/** 0 where no frame begins. */
function adtsBytes(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0) return 0;
  const size =
    (((bytes[at + 3] ?? 0) & 3) << 11) | ((bytes[at + 4] ?? 0) << 3) | ((bytes[at + 5] ?? 0) >> 5);
  return size < 7 ? 0 : size;
}

function loasBytes(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0x56 || ((bytes[at + 1] ?? 0) & 0xe0) !== 0xe0) return 0;
  const size = ((((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0)) + 3;
  return size < 7 ? 0 : size;
}

const mpegBytes = (bytes: Uint8Array, at: number) => mpegFrameAt(bytes, at)?.sizeBytes ?? 0;

/** Marks of formats that stand at a fixed place, where the bytes of MPEG audio can be anything. */
const fixedMarks: readonly (readonly [at: number, marks: string])[] = [
  [4, "ftyp moov mdat pnot udta wide free junk pict skip uuid prfl ediw RED1"],
  [12, "xobX"],
  [44, "SCRM PTMF"],
  [65, "FSSD"],
  [213, "Sega"],
  [257, "0CPY 1DIF 2SLP 3NLP 4ALP 5ELP"],
  [1080, "M.K. M!K! M&K! N.T. FLT4 FLT8 CD81 OKTA OCTA 4CHN 6CHN 8CHN NSMS LARD FEST"],
];
/** Trackers with other numbers of channels write the number and two letters. */
const trackerMark = /^(\d\dC[HN]|\dCHN|TDZ\d)$/;

function checkPlaces(bytes: Uint8Array, type: AudioType, start: number): void {
  if (type === "wav" && isAct(bytes)) throw foreign("ACT");
  if (type !== "mp3") return;
  // Decoders that do not skip a long tag look at its own bytes.
  for (const from of new Set([0, start])) {
    for (const [offset, marks] of fixedMarks) {
      const text = latin1(bytes, from + offset);
      if (marks.split(" ").includes(text) || (offset === 1080 && trackerMark.test(text)))
        throw foreign("another format");
    }
    checkGsm(bytes, from);
    for (const sizes of amrSizes) checkAmr(bytes, { from, sizes });
  }
}

const latin1 = (bytes: Uint8Array, at: number) =>
  Buffer.from(bytes.subarray(at, at + 4)).toString("latin1");

const gsmBytes = 33;
/** So much of a file decoders look at when they ask for its format. */
const probedBytes = 1024 * 1024;

/** Frames of GSM begin with four bits that never change. */
function checkGsm(bytes: Uint8Array, start: number): void {
  let frames = 0;
  let others = 0;
  const end = Math.min(bytes.length, start + probedBytes);
  for (let at = start; at < end; at += gsmBytes) {
    if (((bytes[at] ?? 0) & 0xf0) === 0xd0) frames += 1;
    else others += 1;
    if (frames >> 5 > others) throw foreign("GSM");
  }
}

/** Of frames of AMR by their mode, for narrow and wide bands. */
const amrSizes: readonly (readonly number[])[] = [
  [13, 14, 16, 18, 20, 21, 27, 32, 6],
  [18, 24, 33, 37, 41, 47, 51, 59, 61, 6],
];
const minAmrFrames = 64;

/** Decoders know AMR without a header by a hundred frames, each of which can begin with many bytes. */
function checkAmr(
  bytes: Uint8Array,
  { from, sizes }: { readonly from: number; readonly sizes: readonly number[] },
): void {
  const end = Math.min(bytes.length, from + probedBytes);
  let frames = 0;
  for (let at = from; at < end; ) {
    const first = bytes[at] ?? 0;
    const size = (first & 4) === 0 ? undefined : sizes[(first >> 3) & 15];
    if (size === undefined) {
      frames = 0;
      at += 1;
      continue;
    }
    // One byte throughout is padding, which no decoder counts.
    let same = 1;
    while (same < size && bytes[at + same] === first) same += 1;
    if (same < size) frames += 1;
    if (frames > minAmrFrames) throw foreign("AMR");
    at += size;
  }
}

/** A recorder's format that begins like a WAV: zeros where samples would be, and one mark. */
function isAct(bytes: Uint8Array): boolean {
  const isZero = (start: number, end: number) =>
    bytes.subarray(start, end).every((byte) => byte === 0);
  return bytes[256] === 0x84 && isZero(44, 256) && isZero(264, 512);
}

function foreign(name: string): UnreadableMedia {
  return new UnreadableMedia(`holds a stream of ${name} besides its own format`);
}
