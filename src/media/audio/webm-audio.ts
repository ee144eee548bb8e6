import {
  damaged,
  type Element,
  ids,
  readElement,
  readVariableInteger,
  sizedEnd,
  topLevelIds,
} from "../ebml.ts";
import { UnreadableMedia, viewOf } from "../frames.ts";
import { latin1, OpusClock, type PacketClock, packetAt, VorbisClock } from "./packets.ts";
import { type Reading, Steps, stepsPerTurn, tooDense } from "./reading.ts";

/**
 * WebM with Opus or Vorbis: the durations that the packets tell themselves. The times of blocks and
 * of the file are claims and are not read. One linear pass, which follows no pointer. The longest
 * audio track counts. Elements that have no place in a WebM are refused, and so are those that may
 * hold anything, where they are large.
 */
export function* webmAudioDurationS(bytes: Uint8Array): Reading {
  const file = new WebmAudio(bytes);
  while (file.step()) if (file.steps.endsTurn()) yield;
  return file.durationS();
}

const audioTrackType = 2;
const maxTracks = 8;
/** Of the description of a track: real ones have about twenty. */
const maxFields = 64;
const maxNumberBytes = 8;
/** Elements that are entered, by the element that they stand in; all others are passed over. */
const parents: ReadonlyMap<number, number> = new Map([
  [ids.segment, 0],
  [ids.tracks, ids.segment],
  [ids.cluster, ids.segment],
  [ids.blockGroup, ids.cluster],
]);

/** What else a WebM has, by the element that it stands in; writers add up the rest in tags and cues. */
const others: ReadonlyMap<number, ReadonlySet<number>> = new Map([
  [0, new Set<number>([ids.void])],
  [ids.segment, new Set<number>([ids.info, ids.seekHead, ids.cues, ids.tags, ids.chapters])],
  [ids.tracks, new Set<number>([ids.trackEntry])],
  [
    ids.cluster,
    new Set<number>([
      ids.timestamp,
      ids.position,
      ids.previousSize,
      ids.silentTracks,
      ids.simpleBlock,
    ]),
  ],
  [
    ids.blockGroup,
    new Set<number>([
      ids.block,
      ids.blockDuration,
      ids.referenceBlock,
      ids.referencePriority,
      ids.discardPadding,
      ids.blockAdditions,
      ids.codecState,
    ]),
  ],
]);
const blocks: ReadonlySet<number> = new Set([ids.simpleBlock, ids.block]);
/** Of all elements that hold neither sound nor pictures: tags, cues, space for more of them. */
const maxOtherBytes = 1024 * 1024;
/** Of the elements without content, which nobody needs. */
const maxVoids = 4_096;
/** Real headers have about 40. */
const maxHeadBytes = 256;

class WebmAudio {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly steps: Steps;
  /** By the number of the track; undefined for a track that is not audio. */
  readonly #clocks = new Map<number, PacketClock | undefined>();
  readonly #soundBytes = new Map<PacketClock, number>();
  /** From the outermost on. */
  readonly #open: Element[] = [];
  #at = 0;
  #hasTracks = false;
  #voids = 0;
  #otherBytes = 0;

  constructor(bytes: Uint8Array) {
    this.steps = new Steps(bytes.length);
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /** Reads the next element; false at the end. */
  step(): boolean {
    this.steps.add(1);
    while (this.#at >= (this.#open.at(-1)?.end ?? this.#bytes.length))
      if (this.#open.pop() === undefined) return false;
    const element = this.#elementAt(this.#at, this.#open.at(-1)?.end ?? this.#bytes.length);
    const { id } = element;
    // A cluster of unknown size ends where the next one begins.
    while (this.#open.at(-1)?.hasUnknownSize === true && this.#open.length > 1)
      if (topLevelIds.has(id)) this.#open.pop();
      else break;
    if (parents.get(id) === (this.#open.at(-1)?.id ?? 0)) {
      this.#checkOrder(id);
      this.#open.push(element);
      this.#at = element.contentStart;
      return true;
    }
    this.#at = sizedEnd(element);
    this.#read(element);
    return true;
  }

  #read(element: Element): void {
    const { id } = element;
    const parent = this.#open.at(-1)?.id ?? 0;
    this.#checkKnown(element, parent);
    if (id === ids.trackEntry && parent === ids.tracks) this.#addTrack(element);
    else if (id === ids.simpleBlock && parent === ids.cluster) this.#addBlock(element);
    else if (id === ids.block && parent === ids.blockGroup) this.#addBlock(element);
  }

  /** Readers search what they do not know, byte by byte, for something that they know. */
  #checkKnown(element: Element, parent: number): void {
    const { id, contentStart, end } = element;
    const sizeBytes = end - contentStart;
    if (id === ids.header && parent === 0 && contentStart < maxHeadBytes) {
      if (sizeBytes > maxHeadBytes) throw damaged("its header is too long");
      return;
    }
    if (id === ids.void || id === ids.crc32) {
      this.#voids += 1;
      if (this.#voids > maxVoids) throw damaged("it has too many elements without content");
    } else if (others.get(parent)?.has(id) !== true) {
      throw damaged("it contains an unknown element");
    }
    if (blocks.has(id)) return;
    this.#otherBytes += sizeBytes;
    if (this.#otherBytes > maxOtherBytes) throw damaged("it has too much besides its sound");
    if (id === ids.void) this.#checkEmpty(contentStart, end);
  }

  #checkEmpty(start: number, end: number): void {
    this.steps.scan(end - start);
    for (let at = start; at < end; at++)
      if (this.#bytes[at] !== 0) throw damaged("its empty space is not empty");
  }

  /** One list of tracks, in front of all sound: where it comes later, some readers go back. */
  #checkOrder(id: number): void {
    if (id === ids.cluster && !this.#hasTracks) throw damaged("its tracks are not at its start");
    if (id !== ids.tracks) return;
    if (this.#hasTracks) throw damaged("it has two lists of tracks");
    this.#hasTracks = true;
  }

  durationS(): number {
    const clocks = [...this.#clocks.values()].filter((clock) => clock !== undefined);
    if (clocks.some((clock) => clock.maxBytes < (this.#soundBytes.get(clock) ?? 0)))
      throw tooDense();
    if (clocks.length === 0) throw new UnreadableMedia("has no audio track");
    return Math.max(...clocks.map(({ total, rate }) => total / rate));
  }

  #elementAt(position: number, end: number): Element {
    return readElement(this.#view, { position, end });
  }

  #addTrack(entry: Element): void {
    const fields = new Map<number, Uint8Array>();
    for (let at = entry.contentStart; at < entry.end; ) {
      const field = this.#elementAt(at, entry.end);
      if (fields.has(field.id)) throw damaged("it has a duplicate element");
      if (fields.size === maxFields) throw damaged("one of its tracks has too many fields");
      fields.set(field.id, this.#bytes.subarray(field.contentStart, field.end));
      at = field.end;
    }
    const number = (id: number) => {
      const bytes = fields.get(id) ?? new Uint8Array();
      if (bytes.length > maxNumberBytes) throw damaged("one of its numbers is too long");
      return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    };
    const track = number(ids.trackNumber);
    if (this.#clocks.has(track)) throw damaged("it has two tracks of one number");
    if (this.#clocks.size === maxTracks) throw damaged(`it has more than ${maxTracks} tracks`);
    if (number(ids.trackType) !== audioTrackType) {
      this.#clocks.set(track, undefined);
      return;
    }
    if (fields.has(ids.contentEncodings))
      throw new UnreadableMedia(
        "is a WebM whose audio is compressed again, which is not supported",
      );
    // Headers of Vorbis are long to read: they take a turn of their own.
    this.steps.scan(stepsPerTurn * 8);
    this.#clocks.set(track, toClock(fields.get(ids.codecId), fields.get(ids.codecPrivate)));
  }

  /** A track number, two bytes of time, a byte of flags, and the packet or a lace of them. */
  #addBlock(block: Element): void {
    const { contentStart, end } = block;
    const track = readVariableInteger(this.#view, { position: contentStart, end });
    const flagsAt = contentStart + (track?.sizeBytes ?? 0) + 2;
    if (track === undefined || flagsAt >= end) throw damaged("one of its blocks is too short");
    if (!this.#clocks.has(track.value)) throw damaged("one of its blocks belongs to no track");
    const clock = this.#clocks.get(track.value);
    if (clock === undefined) return;
    this.#soundBytes.set(clock, (this.#soundBytes.get(clock) ?? 0) + end - flagsAt);
    const lacing = (this.#view.getUint8(flagsAt) >> 1) & 3;
    const start = flagsAt + 1;
    if (lacing === 0) return clock.add(packetAt(this.#bytes, { start, end }));
    this.#addLace({ lacing, start, end }, clock);
  }

  /** Sizes of all packets but the last, and then the packets, none of them empty. */
  #addLace({ lacing, start, end }: Lace, clock: PacketClock): void {
    const count = (this.#bytes[start] ?? 0) + 1;
    this.steps.add(count);
    if (count > end - start - 1) throw damaged("one of its blocks has more packets than bytes");
    const sizes: number[] = [];
    let at = start + 1;
    let used = 0;
    const even = (end - at) / count;
    if (lacing === fixedLacing && !Number.isInteger(even)) throw unevenLace();
    while (sizes.length < count - 1) {
      const { size, next } =
        lacing === fixedLacing
          ? { size: even, next: at }
          : this.#laceSize({ lacing, at, end, last: sizes.at(-1) });
      used += size;
      at = next;
      if (size === 0 || used >= end - at) throw unevenLace();
      sizes.push(size);
    }
    sizes.push(end - at - used);
    for (const size of sizes) {
      clock.add(packetAt(this.#bytes, { start: at, end: at + size }));
      at += size;
    }
  }

  #laceSize({ lacing, at, end, last }: LaceSize): { readonly size: number; readonly next: number } {
    if (lacing === xiphLacing) {
      let size = 0;
      let next = at;
      while (next + size < end && this.#bytes[next] === 255) {
        size += 255;
        next += 1;
      }
      return { size: size + (this.#bytes[next] ?? 0), next: next + 1 };
    }
    // The first is a size, the others are differences, shifted so that they may be negative.
    const read = readVariableInteger(this.#view, { position: at, end });
    if (read === undefined) throw unevenLace();
    const shift = last === undefined ? 0 : 2 ** (7 * read.sizeBytes - 1) - 1;
    const size = (last ?? 0) + read.value - shift;
    if (size < 0) throw unevenLace();
    return { size, next: at + read.sizeBytes };
  }
}

const xiphLacing = 1;
const fixedLacing = 2;

interface Lace {
  readonly lacing: number;
  readonly start: number;
  readonly end: number;
}

interface LaceSize {
  readonly lacing: number;
  readonly at: number;
  readonly end: number;
  readonly last: number | undefined;
}

function unevenLace(): UnreadableMedia {
  return damaged("the sizes in one of its blocks are invalid");
}

const maxCodecNameBytes = 64;
/** Two headers and between them the tags, which players do not show. */
const maxHeaderBytes = 256 * 1024;

function toClock(
  codec: Uint8Array = new Uint8Array(),
  headers: Uint8Array | undefined,
): PacketClock {
  const name = latin1(codec.subarray(0, maxCodecNameBytes)).replace(/\0+$/, "");
  if (name === "A_OPUS") return new OpusClock(headers?.[18] === 0 ? 1 : headers?.[19]);
  if (name !== "A_VORBIS" || headers === undefined)
    throw new UnreadableMedia("is a WebM with a codec other than Opus or Vorbis");
  if (headers.length > maxHeaderBytes) throw damaged("its Vorbis headers are too long");
  // Three headers: their number less one, the sizes of the first two, and all of them.
  let at = 1;
  const next = () => {
    let size = 0;
    for (; headers[at] === 255; at++) size += 255;
    size += headers[at] ?? 0;
    at += 1;
    return size;
  };
  const [first, second] = [next(), next()];
  return new VorbisClock({
    identification: headers.subarray(at, at + first),
    setup: headers.subarray(at + first + second),
  });
}
