import { UnreadableMedia } from "../frames.ts";
import { type Reading, Steps } from "./reading.ts";

/**
 * MPEG audio, layers I to III: the samples of all frames, one after the other. The number of frames
 * in a Xing or VBRI header is a claim and is not read. Between frames, the search for the next one
 * goes byte by byte, as decoders do, so that no frame is hidden behind a stray byte.
 *
 * Where a search ends, decoders want some frames in a row before they believe the first. So what
 * looks like a frame, but has no such row behind it, counts, and so do the frames inside it.
 */
export function* mp3DurationS(bytes: Uint8Array): Reading {
  const start = afterTags(bytes);
  if (isTag(bytes, start)) throw damaged("its ID3 tag is invalid, or it has too many");
  const free = new FreeFormat(bytes);
  let durationS = 0;
  let isFirst = true;
  const steps = new Steps();
  /** Where the frame before ended that was in a row; -1 before the first. */
  let rowEnd = -1;
  for (let at = start; at + 4 <= bytes.length; ) {
    steps.add(1);
    if (steps.endsTurn()) yield;
    const frame = frameAt(bytes, at);
    if (frame === undefined) {
      free.check(at, { isExpected: isFirst || at === rowEnd });
      const next = bytes.indexOf(0xff, at + 1);
      if (next === -1) break;
      at = next;
      continue;
    }
    if (!(isFirst && isIndex(bytes, at, frame))) durationS += frame.samples / frame.rate;
    isFirst = false;
    if (at !== rowEnd) steps.add(framesInRow);
    if (at === rowEnd || isRow(bytes, at)) {
      at += frame.sizeBytes;
      rowEnd = at;
    } else {
      at += 1;
    }
  }
  if (durationS === 0) throw new UnreadableMedia("is an MP3 without audio frames");
  return durationS;
}

/** Decoders want up to ten. */
const framesInRow = 12;

function isRow(bytes: Uint8Array, start: number): boolean {
  const first = frameAt(bytes, start);
  let at = start;
  for (let frames = 0; frames < framesInRow; frames++) {
    const frame = frameAt(bytes, at);
    if (frame === undefined || frame.kind !== first?.kind) return false;
    at += frame.sizeBytes;
  }
  return true;
}

/**
 * Frames that do not state their bitrate, and so not their size. Hardly any decoder plays them and no
 * encoder makes them unasked, so they are refused. In what lies between frames, chance looks like one.
 */
class FreeFormat {
  readonly #bytes: Uint8Array;
  #strays = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** `isExpected`: at a place where decoders look for a frame. */
  check(at: number, { isExpected }: { readonly isExpected: boolean }): void {
    if (!this.#isHeader(at)) return;
    if (!isExpected && ++this.#strays <= maxStrays && !this.#hasNext(at)) return;
    throw new UnreadableMedia("is an MP3 without a bitrate (free format), which is not supported");
  }

  #isHeader(at: number): boolean {
    const first = this.#bytes[at];
    const second = this.#bytes[at + 1] ?? 0;
    const third = this.#bytes[at + 2] ?? 0;
    const isSync = first === 0xff && (second & 0xe0) === 0xe0;
    const isKnown = ((second >> 3) & 3) !== 1 && ((second >> 1) & 3) !== 0;
    return isSync && isKnown && third >> 4 === 0 && ((third >> 2) & 3) !== 3;
  }

  /** Whether a header of the same kind follows so close by that both are frames. */
  #hasNext(at: number): boolean {
    const window = this.#bytes.subarray(at, at + maxFreeBytes);
    const rate = (window[2] ?? 0) & 0xfc;
    for (let next = window.indexOf(0xff, 4); next !== -1; next = window.indexOf(0xff, next + 1))
      if (window[next + 1] === window[1] && ((window[next + 2] ?? 0) & 0xfc) === rate) return true;
    return false;
  }
}

const maxFreeBytes = 8192;
const maxStrays = 64;

/** Whether a frame begins here, and another one right behind it. */
export function isMp3(bytes: Uint8Array, start: number): boolean {
  // Some recorders leave a few bytes of padding in front.
  for (let at = start; at < Math.min(bytes.length - 4, start + 4096); at++) {
    const frame = bytes[at] === 0xff ? frameAt(bytes, at) : undefined;
    if (frame === undefined) continue;
    const next = at + frame.sizeBytes;
    if (next >= bytes.length ? at === start : frameAt(bytes, next) !== undefined) return true;
  }
  return false;
}

const maxTags = 4;

/** Behind the ID3v2 tags, which hold titles and pictures. */
export function afterTags(bytes: Uint8Array): number {
  let at = 0;
  for (let tags = 0; tags < maxTags; tags++) {
    if (!isTag(bytes, at) || at + 10 > bytes.length) break;
    // No tag has such a version, revision or size: some decoders skip it and others do not.
    if (bytes[at + 3] === 0xff || bytes[at + 4] === 0xff) break;
    const sizes = bytes.subarray(at + 6, at + 10);
    if (sizes.some((byte) => byte > 0x7f)) break;
    const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0;
    at += 10 + sizes.reduce((sum, byte) => sum * 128 + byte, 0) + (hasFooter ? 10 : 0);
  }
  return Math.min(at, bytes.length);
}

const isTag = (bytes: Uint8Array, at: number) =>
  bytes[at] === 0x49 && bytes[at + 1] === 0x44 && bytes[at + 2] === 0x33;

interface Frame {
  /** Its version, layer and rate. */
  readonly kind: number;
  readonly samples: number;
  readonly rate: number;
  readonly sizeBytes: number;
  readonly isVersion1: boolean;
  readonly isMono: boolean;
}

const rates = [44_100, 48_000, 32_000];
/** In kbit/s by the index of the header; 0 is a rate that the header does not state. */
const bitrates = {
  v1l1: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  v1l2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  v1l3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  v2l1: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  v2l23: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

function frameAt(bytes: Uint8Array, at: number): Frame | undefined {
  const second = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0 || at + 4 > bytes.length) return undefined;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rate = rates[(third >> 2) & 3];
  if (version === 1 || layer === 4 || rate === undefined) return undefined;
  const isVersion1 = version === 3;
  const kbits = bitratesOf(isVersion1, layer)[third >> 4] ?? 0;
  if (kbits === 0) return undefined;
  // Version 2 has half of each rate, version 2.5 a quarter.
  const own = isVersion1 ? rate : version === 2 ? rate / 2 : rate / 4;
  const samples = layer === 1 ? 384 : layer === 3 && !isVersion1 ? 576 : 1152;
  const padding = (third >> 1) & 1;
  const sizeBytes =
    layer === 1
      ? (Math.floor((12_000 * kbits) / own) + padding) * 4
      : Math.floor((samples * 125 * kbits) / own) + padding;
  const isMono = (bytes[at + 3] ?? 0) >> 6 === 3;
  const kind = ((second & 0x1e) << 8) | (third & 0x0c);
  return { kind, samples, rate: own, sizeBytes, isVersion1, isMono };
}

function bitratesOf(isVersion1: boolean, layer: number): readonly number[] {
  if (isVersion1) return layer === 1 ? bitrates.v1l1 : layer === 2 ? bitrates.v1l2 : bitrates.v1l3;
  return layer === 1 ? bitrates.v2l1 : bitrates.v2l23;
}

/** A first frame that holds an index instead of sound. */
function isIndex(bytes: Uint8Array, at: number, { isVersion1, isMono }: Frame): boolean {
  const sideBytes = isVersion1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const nameAt = (offset: number) =>
    new TextDecoder("latin1").decode(bytes.subarray(at + offset, at + offset + 4));
  return ["Xing", "Info"].includes(nameAt(4 + sideBytes)) || nameAt(36) === "VBRI";
}

function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged MP3: ${reason}`);
}
