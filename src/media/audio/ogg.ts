import { UnreadableMedia, viewOf } from "../frames.ts";
import { oggChecksum } from "./ogg-checksum.ts";
import {
  latin1,
  OpusClock,
  type Packet,
  type PacketClock,
  packetAt,
  VorbisClock,
} from "./packets.ts";
import { type Reading, Steps, stepsPerTurn, tooDense } from "./reading.ts";

/**
 * Ogg with Opus or Vorbis: the durations that the packets tell themselves. The positions on the
 * pages are claims: they may only trim what a decoder trims, which is less than a packet at the end.
 * Streams that follow each other or run side by side are added up.
 *
 * A decoder drops a page whose checksum is wrong and searches its bytes for other pages; another
 * plays it. So such a page is refused, and so is one that is cut off, and bytes between two pages.
 */
export function* oggDurationS(bytes: Uint8Array): Reading {
  const steps = new Steps(bytes.length);
  const file = new OggFile(bytes, steps);
  while (file.readPage()) if (steps.endsTurn()) yield;
  return file.durationS();
}

const headBytes = 27;
const continued = 1;
const firstPage = 2;
const allFlags = 7;
const maxStreams = 64;
/** Of a header that is kept: setup headers have some thousand bytes. */
const maxHeaderBytes = 64 * 1024;
/** Encoders start with 80 ms at most that are not played; decoders differ on whether to play them. */
const maxPreSkip = 4_800;

class OggFile {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #steps: Steps;
  readonly #streams = new Map<number, OggStream>();
  readonly #all: OggStream[] = [];
  #at = 0;

  constructor(bytes: Uint8Array, steps: Steps) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#steps = steps;
  }

  /** Reads the next page; false at the end. */
  readPage(): boolean {
    if (this.#at === this.#bytes.length) return false;
    if (latin1(this.#bytes.subarray(this.#at, this.#at + 4)) !== "OggS")
      throw damaged("there are bytes between its pages");
    const page = this.#pageAt(this.#at);
    this.#streamOf(page).addPage(this.#bytes, page);
    this.#at = page.end;
    return true;
  }

  durationS(): number {
    if (this.#all.length === 0) throw damaged("it has no pages");
    return this.#all.reduce((sum, stream) => sum + stream.durationS(), 0);
  }

  #pageAt(start: number): Page {
    const tableStart = start + headBytes;
    const segments = tableStart <= this.#bytes.length ? this.#view.getUint8(start + 26) : Infinity;
    const bodyStart = tableStart + segments;
    if (bodyStart > this.#bytes.length) throw cut();
    const end = this.#bytes
      .subarray(tableStart, bodyStart)
      .reduce((sum, length) => sum + length, bodyStart);
    if (end > this.#bytes.length) throw cut();
    // Each segment but the last of a packet has 255 bytes: only packets are many.
    this.#steps.add(1);
    this.#steps.scan(end - start);
    const flags = this.#view.getUint8(start + 5);
    if (this.#view.getUint8(start + 4) !== 0 || flags > allFlags)
      throw damaged("a page has an unknown version or unknown flags");
    if (oggChecksum(this.#bytes.subarray(start, end)) !== this.#view.getUint32(start + 22, true))
      throw damaged("the checksum of a page is wrong");
    return { start, tableStart, bodyStart, end, flags };
  }

  #streamOf({ start, flags }: Page): OggStream {
    const serial = this.#view.getUint32(start + 14, true);
    const open = this.#streams.get(serial);
    if (open !== undefined && (flags & firstPage) === 0) return open;
    if (this.#all.length === maxStreams) throw damaged(`it has more than ${maxStreams} streams`);
    const stream = new OggStream(this.#steps);
    this.#streams.set(serial, stream);
    this.#all.push(stream);
    return stream;
  }
}

interface Page {
  readonly start: number;
  readonly tableStart: number;
  readonly bodyStart: number;
  readonly end: number;
  readonly flags: number;
}

class OggStream {
  readonly #steps: Steps;
  /** The newest that a page claims, in samples. */
  #position = 0;
  #packets = 0;
  #clock: PacketClock | undefined;
  #preSkip = 0;
  #identification: Uint8Array | undefined;
  /** Of a packet that goes on on the next page: of a header all pieces so far, else the first. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #soundBytes = 0;

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  addPage(bytes: Uint8Array, page: Page): void {
    const { tableStart, bodyStart, flags } = page;
    let end = bodyStart;
    let start = bodyStart;
    if (((flags & continued) !== 0) !== this.#open.length > 0)
      throw damaged("a packet does not go on where its page says so");
    for (let at = tableStart; at < bodyStart; at++) {
      const length = bytes[at] ?? 0;
      end += length;
      if (length === 255) continue;
      this.#addPacket(bytes, { start, end });
      start = end;
    }
    if (start < end) this.#keep(bytes.subarray(start, end));
    const position = Number(viewOf(bytes).getBigInt64(page.start + 6, true));
    if (position >= 0) this.#position = position;
  }

  #close(): void {
    this.#open = [];
    this.#openBytes = 0;
  }

  #keep(piece: Uint8Array): void {
    const isRead = this.#clock === undefined && this.#packets !== tagsPacket;
    // A piece has at least 255 bytes, and of a packet that is no header only the start counts.
    this.#openBytes += piece.length;
    if (!isRead && this.#open.length > 0) return;
    if (isRead && this.#openBytes > maxHeaderBytes) throw damaged("one of its headers is too long");
    this.#open.push(piece);
  }

  #addPacket(bytes: Uint8Array, place: { readonly start: number; readonly end: number }): void {
    this.#steps.add(1);
    const number = this.#packets;
    const [open] = this.#open;
    const sizeBytes = this.#openBytes + place.end - place.start;
    if (number !== tagsPacket && this.#clock !== undefined) {
      this.#clock.add(open === undefined ? packetAt(bytes, place) : startOf(open));
      this.#soundBytes += sizeBytes;
    } else if (number === tagsPacket) {
      const start = open ?? bytes.subarray(place.start, place.end);
      if (!tagsMarks.includes(latin1(start.subarray(0, 8)).slice(0, this.#clock ? 8 : 7)))
        throw damaged("its second packet does not hold tags");
    } else {
      this.#keep(bytes.subarray(place.start, place.end));
      // Headers are copied, and those of Vorbis are long to read.
      this.#steps.scan(bytesPerHeader);
      this.#addHeader(Buffer.concat(this.#open), number);
    }
    this.#close();
    this.#packets += 1;
  }

  #addHeader(packet: Uint8Array, number: number): void {
    if (number === 0 && latin1(packet.subarray(0, 8)) === "OpusHead" && packet.length >= 19) {
      this.#preSkip = Math.min(viewOf(packet).getUint16(10, true), maxPreSkip);
      this.#clock = new OpusClock(packet[18] === 0 ? 1 : packet[19]);
    } else if (number === 0 && latin1(packet.subarray(0, 7)) === "\u0001vorbis") {
      this.#identification = packet;
    } else if (this.#identification === undefined) {
      throw new UnreadableMedia("is an Ogg file with a codec other than Opus or Vorbis");
    } else {
      this.#clock = new VorbisClock({ identification: this.#identification, setup: packet });
    }
  }

  durationS(): number {
    const clock = this.#clock;
    if (clock === undefined)
      throw new UnreadableMedia("is truncated: its Ogg headers are incomplete");
    if (this.#soundBytes > clock.maxBytes) throw tooDense();
    const isTrim = this.#position <= clock.total && this.#position > clock.total - clock.longest;
    const samples = isTrim ? this.#position : clock.total;
    return Math.max(0, samples - this.#preSkip) / clock.rate;
  }
}

/** The second packet of either codec holds tags, and begins like this. */
const tagsPacket = 1;
const tagsMarks = ["OpusTags", "\u0003vorbis"];
/** A header takes a turn of its own. */
const bytesPerHeader = stepsPerTurn * 8;

const startOf = (piece: Uint8Array): Packet => packetAt(piece, { start: 0, end: piece.length });

function cut(): UnreadableMedia {
  return new UnreadableMedia("is truncated: its last Ogg page is cut off");
}

function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is a damaged Ogg file: ${reason}`);
}
