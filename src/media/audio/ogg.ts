import { UnreadableMedia, viewOf } from "../frames.ts";
import { latin1, OpusClock, type PacketClock, VorbisClock } from "./packets.ts";
import { type Reading, stepsPerTurn } from "./reading.ts";

/**
 * Ogg with Opus or Vorbis: the durations that the packets tell themselves. The positions on the
 * pages are claims: they may only trim what a decoder trims, which is less than a packet at the end.
 * Streams that follow each other or run side by side are added up.
 */
export function* oggDurationS(bytes: Uint8Array): Reading {
  const view = viewOf(bytes);
  const streams = new Map<number, OggStream>();
  const all: OggStream[] = [];
  let steps = 0;
  for (let at = 0; at + headBytes <= bytes.length; ) {
    if (view.getUint32(at) !== pageMark) {
      const next = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(
        "OggS",
        at + 1,
      );
      if (next === -1) break;
      at = next;
      continue;
    }
    const segments = view.getUint8(at + 26);
    if ((steps += segments + 1) > stepsPerTurn) {
      steps = 0;
      yield;
    }
    const serial = view.getUint32(at + 14, true);
    const flags = view.getUint8(at + 5);
    let stream = streams.get(serial);
    if (stream === undefined || (flags & firstPage) !== 0) {
      if (all.length === maxStreams) throw damaged(`it has more than ${maxStreams} streams`);
      stream = new OggStream();
      streams.set(serial, stream);
      all.push(stream);
    }
    at = stream.addPage(bytes, { at, segments, isContinued: (flags & continued) !== 0 });
    const position = Number(view.getBigInt64(at - stream.pageBytes + 6, true));
    if (position >= 0) stream.position = position;
  }
  if (all.length === 0) throw damaged("it has no pages");
  return all.reduce((sum, stream) => sum + stream.durationS(), 0);
}

const pageMark = 0x4f676753;
const headBytes = 27;
const continued = 1;
const firstPage = 2;
const maxStreams = 64;
/** Of a header that is kept: setup headers have some thousand bytes. */
const maxHeaderBytes = 256 * 1024;

class OggStream {
  /** The newest that a page claims, in samples. */
  position = 0;
  pageBytes = 0;
  #packets = 0;
  #clock: PacketClock | undefined;
  #preSkip = 0;
  #identification: Uint8Array | undefined;
  /** Pieces of a packet that goes on on the next page: all of a header, the start of any other. */
  #open: Uint8Array | undefined;

  /** Returns where the next page begins. */
  addPage(
    bytes: Uint8Array,
    page: { readonly at: number; readonly segments: number; readonly isContinued: boolean },
  ): number {
    const table = page.at + headBytes;
    let position = table + page.segments;
    let start = position;
    if (!page.isContinued) this.#open = undefined;
    for (let segment = 0; segment < page.segments; segment++) {
      const length = bytes[table + segment] ?? 0;
      position += length;
      if (length === 255) continue;
      this.#addPacket(this.#joined(bytes.subarray(start, position)));
      this.#open = undefined;
      start = position;
    }
    if (start < position) this.#open = this.#joined(bytes.subarray(start, position));
    this.pageBytes = position - page.at;
    return position;
  }

  #joined(piece: Uint8Array): Uint8Array {
    const open = this.#open;
    if (open === undefined) return piece;
    // Of what is no header, only the start counts.
    if (this.#clock !== undefined && open.length >= 2) return open;
    if (open.length + piece.length > maxHeaderBytes)
      throw damaged("one of its headers is too long");
    return Buffer.concat([open, piece]);
  }

  #addPacket(packet: Uint8Array): void {
    const number = this.#packets++;
    // The second packet of either codec holds tags.
    if (number === 1) return;
    if (this.#clock !== undefined) return this.#clock.add(packet);
    if (number === 0 && latin1(packet.subarray(0, 8)) === "OpusHead" && packet.length >= 19) {
      this.#preSkip = viewOf(packet).getUint16(10, true);
      this.#clock = new OpusClock();
    } else if (number === 0 && latin1(packet.subarray(0, 7)) === "\u0001vorbis") {
      this.#identification = packet.slice();
    } else if (this.#identification === undefined) {
      throw new UnreadableMedia("is an Ogg file with a codec other than Opus or Vorbis");
    } else if (number === 2) {
      this.#clock = new VorbisClock({ identification: this.#identification, setup: packet });
    }
  }

  durationS(): number {
    const clock = this.#clock;
    if (clock === undefined)
      throw new UnreadableMedia("is truncated: its Ogg headers are incomplete");
    const isTrim = this.position <= clock.total && this.position > clock.total - clock.longest;
    const samples = isTrim ? this.position : clock.total;
    return Math.max(0, samples - this.#preSkip) / clock.rate;
  }
}

function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged Ogg file: ${reason}`);
}
