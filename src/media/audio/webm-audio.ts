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
import { latin1, OpusClock, type PacketClock, VorbisClock } from "./packets.ts";
import { type Reading, stepsPerTurn } from "./reading.ts";

/**
 * WebM with Opus or Vorbis: the durations that the packets tell themselves. The times of blocks and
 * of the file are claims and are not read. One linear pass, which follows no pointer. The longest
 * audio track counts.
 */
export function* webmAudioDurationS(bytes: Uint8Array): Reading {
  const file = new WebmAudio(bytes);
  let steps = 0;
  while (file.step()) if (++steps % stepsPerTurn === 0) yield;
  return file.durationS();
}

const audioTrackType = 2;
const maxTracks = 8;
/** Elements that are entered, by the element that they stand in; all others are passed over. */
const parents: ReadonlyMap<number, number> = new Map([
  [ids.segment, 0],
  [ids.tracks, ids.segment],
  [ids.cluster, ids.segment],
  [ids.blockGroup, ids.cluster],
]);

class WebmAudio {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #clocks = new Map<number, PacketClock>();
  /** From the outermost on. */
  readonly #open: Element[] = [];
  #at = 0;
  #tracks = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /** Reads the next element; false at the end. */
  step(): boolean {
    while (this.#at >= (this.#open.at(-1)?.end ?? this.#bytes.length))
      if (this.#open.pop() === undefined) return false;
    const element = this.#elementAt(this.#at, this.#open.at(-1)?.end ?? this.#bytes.length);
    const { id } = element;
    // A cluster of unknown size ends where the next one begins.
    while (this.#open.at(-1)?.hasUnknownSize === true && this.#open.length > 1)
      if (topLevelIds.has(id)) this.#open.pop();
      else break;
    if (parents.get(id) === (this.#open.at(-1)?.id ?? 0)) {
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
    // Readers search on, byte by byte, for something they know.
    const isStray =
      parent === 0
        ? id !== ids.header && id !== ids.void
        : parent === ids.segment && element.idBytes !== 1 && !topLevelIds.has(id);
    if (isStray) throw damaged("it contains an unknown element");
    if (id === ids.trackEntry && parent === ids.tracks) this.#addTrack(element);
    else if (id === ids.simpleBlock && parent === ids.cluster) this.#addBlock(element);
    else if (id === ids.block && parent === ids.blockGroup) this.#addBlock(element);
  }

  durationS(): number {
    if (this.#clocks.size === 0) throw new UnreadableMedia("has no audio track");
    return Math.max(...this.#clocks.values().map(({ total, rate }) => total / rate));
  }

  #elementAt(position: number, end: number): Element {
    return readElement(this.#view, { position, end });
  }

  #addTrack(entry: Element): void {
    if (++this.#tracks > maxTracks) throw damaged(`it has more than ${maxTracks} tracks`);
    const fields = new Map<number, Uint8Array>();
    for (let at = entry.contentStart; at < entry.end; ) {
      const field = this.#elementAt(at, entry.end);
      if (fields.has(field.id)) throw damaged("it has a duplicate element");
      fields.set(field.id, this.#bytes.subarray(field.contentStart, field.end));
      at = field.end;
    }
    const number = (id: number) =>
      (fields.get(id) ?? new Uint8Array()).reduce((sum, byte) => sum * 256 + byte, 0);
    if (number(ids.trackType) !== audioTrackType) return;
    if (fields.has(ids.contentEncodings))
      throw new UnreadableMedia(
        "is a WebM whose audio is compressed again, which is not supported",
      );
    const codec = latin1(fields.get(ids.codecId) ?? new Uint8Array()).replace(/\0+$/, "");
    const track = number(ids.trackNumber);
    if (this.#clocks.has(track)) throw damaged("it has two tracks of one number");
    this.#clocks.set(track, toClock(codec, fields.get(ids.codecPrivate)));
  }

  /** A track number, two bytes of time, a byte of flags, and the packet or a lace of them. */
  #addBlock(block: Element): void {
    const { contentStart, end } = block;
    const track = readVariableInteger(this.#view, { position: contentStart, end });
    const flagsAt = contentStart + (track?.sizeBytes ?? 0) + 2;
    if (track === undefined || flagsAt >= end) throw damaged("one of its blocks is too short");
    const clock = this.#clocks.get(track.value);
    if (clock === undefined) return;
    const lacing = (this.#view.getUint8(flagsAt) >> 1) & 3;
    const start = flagsAt + 1;
    if (lacing === 0) return clock.add(this.#bytes.subarray(start, end));
    for (const packet of this.#unlaced({ lacing, start, end })) clock.add(packet);
  }

  /** Sizes of all packets but the last, and then the packets. */
  #unlaced({ lacing, start, end }: Lace): readonly Uint8Array[] {
    const count = (this.#bytes[start] ?? 0) + 1;
    let at = start + 1;
    const sizes: number[] = [];
    for (let packet = 0; packet < count - 1; packet++) {
      const { size, next } = this.#laceSize({ lacing, at, end, last: sizes.at(-1) });
      sizes.push(size);
      at = next;
    }
    const left = end - at;
    if (lacing === fixedLacing) sizes.fill(Math.floor(left / count));
    const used = sizes.reduce((sum, size) => sum + size, 0);
    if (used > left) throw damaged("one of its blocks is too short");
    sizes.push(left - used);
    return sizes.map((size) => {
      at += size;
      return this.#bytes.subarray(at - size, at);
    });
  }

  #laceSize({ lacing, at, end, last }: LaceSize): { readonly size: number; readonly next: number } {
    if (lacing === fixedLacing) return { size: 0, next: at };
    if (lacing === xiphLacing) {
      let size = 0;
      let next = at;
      while (next < end && this.#bytes[next] === 255) {
        size += 255;
        next += 1;
      }
      return { size: size + (this.#bytes[next] ?? 0), next: next + 1 };
    }
    // The first is a size, the others are differences, shifted so that they may be negative.
    const read = readVariableInteger(this.#view, { position: at, end });
    if (read === undefined) throw damaged("one of its blocks is too short");
    const shift = last === undefined ? 0 : 2 ** (7 * read.sizeBytes - 1) - 1;
    const size = (last ?? 0) + read.value - shift;
    if (size < 0) throw damaged("one of its blocks is too short");
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

function toClock(codec: string, headers: Uint8Array | undefined): PacketClock {
  if (codec === "A_OPUS") return new OpusClock();
  if (codec !== "A_VORBIS" || headers === undefined)
    throw new UnreadableMedia("is a WebM with a codec other than Opus or Vorbis");
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
