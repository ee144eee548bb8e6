import { UnreadableMedia } from "../frames.ts";
import { id3v2Bytes, tagBytes, tailStart } from "./mp3-tags.ts";
import { type MpegFrame, mpegFrameAt } from "./mpeg-frame.ts";
import { type Reading, Steps } from "./reading.ts";

/**
 * MPEG audio, layers I to III: the samples of all frames, one behind the other. The number of frames
 * in a Xing or VBRI header is a claim and is not read.
 *
 * A decoder that loses the rhythm of the frames searches byte by byte for another one. So each byte
 * of a file belongs to a frame, to a tag or to a run of zeros, and all frames are of one kind.
 * Frames that end where the next one begins leave nothing to search.
 */
export function* mp3DurationS(bytes: Uint8Array): Reading {
  const steps = new Steps(bytes.length);
  const file = new Mp3(bytes, steps);
  while (file.step()) if (steps.endsTurn()) yield;
  return file.durationS;
}

/** Where the frames begin: behind the tag, which holds titles and pictures, and behind zeros. */
export function mp3Start(bytes: Uint8Array): number {
  const start = id3v2Bytes(bytes, 0);
  let at = start;
  while (at - start <= maxLeadingZeros && bytes[at] === 0) at += 1;
  const zeros = at - start;
  // Fewer, or many, are how other formats begin.
  return zeros < minLeadingZeros || zeros > maxLeadingZeros ? start : at;
}

const minLeadingZeros = 8;
const maxLeadingZeros = 255;

/** Whether a frame begins where the first one should, and another one behind it. */
export function isMp3(bytes: Uint8Array): boolean {
  const start = mp3Start(bytes);
  if (tagBytes(bytes, start) > 0) return true;
  const frame = mpegFrameAt(bytes, start);
  if (frame === undefined) return false;
  const next = start + frame.sizeBytes;
  return next >= bytes.length || mpegFrameAt(bytes, next) !== undefined;
}

/**
 * Of all tags, with pictures. Decoders search those that they do not know for frames, and where the one
 * at the start is longer than what they look at, they take it for sound.
 */
const maxTagBytes = 960 * 1024;
/** Decoders look at so many frames when they ask whether a file is MP3. */
const checkedFrames = 64;

const headerBytes = 4;

/** What is left of a longer run is the next step's. */
const zerosPerStep = 65_536;

class Mp3 {
  readonly #bytes: Uint8Array;
  readonly #steps: Steps;
  readonly #tail: number;
  #at: number;
  #first: MpegFrame | undefined;
  /** The last header that was read, and what it says. */
  #header = -1;
  #frame: MpegFrame | undefined;
  #frames = 0;
  #tagBytes = 0;
  durationS = 0;

  constructor(bytes: Uint8Array, steps: Steps) {
    this.#bytes = bytes;
    this.#steps = steps;
    this.#at = mp3Start(bytes);
    this.#tail = tailStart(bytes);
    this.#addTag(this.#at);
  }

  /** Reads the next frame, tag or run of zeros; false at the end. */
  step(): boolean {
    this.#steps.add(1);
    const at = this.#at;
    if (at >= this.#bytes.length) {
      if (this.durationS === 0) throw new UnreadableMedia("is an MP3 without audio frames");
      return false;
    }
    const frame = this.#frameAt(at);
    if (frame !== undefined) this.#addFrame(frame);
    else if (this.#bytes[at] === 0xff && at + headerBytes > this.#bytes.length)
      // The header of the last frame of a recording that was cut.
      this.#at = this.#bytes.length;
    else if (at >= this.#tail) this.#skipTag(this.#bytes.length - at);
    else if (this.#bytes[at] === 0) this.#skipZeros();
    else this.#skipTag(tagBytes(this.#bytes, at));
    return true;
  }

  /** The header of most frames is that of the frame before. */
  #frameAt(at: number): MpegFrame | undefined {
    const bytes = this.#bytes;
    if (bytes[at] !== 0xff || at + headerBytes > bytes.length) return undefined;
    const header =
      ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    if (header !== this.#header) {
      this.#header = header;
      this.#frame = mpegFrameAt(bytes, at);
    }
    return this.#frame;
  }

  #addFrame(frame: MpegFrame): void {
    this.#first ??= frame;
    if (frame.kind !== this.#first.kind) throw damaged("its frames are of different kinds");
    const isFirst = this.#frames === 0;
    if (this.#frames < checkedFrames) this.#checkInside(frame);
    this.#frames += 1;
    if (!(isFirst && isIndex(this.#bytes, this.#at, frame)))
      this.durationS += frame.samples / frame.rate;
    const end = this.#at + frame.sizeBytes;
    // The last frame of a recording that was cut.
    this.#at = this.#at < this.#tail && end > this.#tail ? this.#tail : end;
  }

  /** Frames that hold headers like their own are no sign of MP3 for decoders, which then try other formats. */
  #checkInside({ sizeBytes }: MpegFrame): void {
    const bytes = this.#bytes;
    const end = Math.min(this.#at + sizeBytes, bytes.length);
    const [, second = 0, third = 0, fourth = 0] = bytes.subarray(this.#at, this.#at + 4);
    let like = 0;
    for (let at = bytes.indexOf(0xff, this.#at + 4); at !== -1 && at < end; ) {
      const isLike =
        (((bytes[at + 1] ?? 0) ^ second) & 0xfe) === 0 &&
        (((bytes[at + 2] ?? 0) ^ third) & 0x0c) === 0 &&
        (((bytes[at + 3] ?? 0) ^ fourth) & 0xcf) === 0;
      if (isLike) like += 1;
      at = bytes.indexOf(0xff, at + 1);
    }
    this.#steps.scan(sizeBytes);
    if (like > 2) throw damaged("there are frames inside of its frames");
  }

  #skipZeros(): void {
    let at = this.#at;
    const end = Math.min(at + zerosPerStep, this.#bytes.length);
    while (at < end && this.#bytes[at] === 0) at += 1;
    this.#steps.scan(at - this.#at);
    this.#at = at;
  }

  #addTag(sizeBytes: number): void {
    this.#tagBytes += sizeBytes;
    if (this.#tagBytes > maxTagBytes)
      throw damaged("its tags are too long: with their pictures, they may have 960 KiB");
  }

  /** What looks like a frame in a tag counts, because some decoders play it. */
  #skipTag(sizeBytes: number): void {
    if (sizeBytes === 0)
      throw damaged(`byte ${this.#at} belongs to no frame and to no tag that is known`);
    this.#addTag(sizeBytes);
    const end = this.#at + sizeBytes;
    for (let at = this.#at; at < end; at++) {
      const frame = this.#bytes[at] === 0xff ? mpegFrameAt(this.#bytes, at) : undefined;
      if (frame !== undefined) this.durationS += frame.samples / frame.rate;
    }
    this.#steps.scan(sizeBytes);
    this.#at = end;
  }
}

/** A first frame that holds an index instead of sound. */
function isIndex(bytes: Uint8Array, at: number, { isVersion1, isMono }: MpegFrame): boolean {
  const sideBytes = isVersion1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const nameAt = (offset: number) =>
    new TextDecoder("latin1").decode(bytes.subarray(at + offset, at + offset + 4));
  return ["Xing", "Info"].includes(nameAt(4 + sideBytes)) || nameAt(36) === "VBRI";
}

function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged MP3: ${reason}`);
}
