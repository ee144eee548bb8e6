import { checkRate } from "./reading.ts";
import { damaged, readModes } from "./vorbis-setup.ts";

/** A stream of packets that tell their own durations. */
export interface PacketClock {
  /** In samples per second. */
  readonly rate: number;
  /** The longest that one packet can last, in samples: no end of a stream is cut by more. */
  readonly longest: number;
  /** What all packets so far last, in samples. */
  readonly total: number;
  /** The most bytes that they can have. */
  readonly maxBytes: number;
  add(packet: Packet): void;
}

/** The first two bytes of a packet, where it has them: no more of it is read. */
export interface Packet {
  readonly first: number | undefined;
  readonly second: number | undefined;
}

/** Of sound that is compressed hardly at all. */
const maxBytesPerSample = 2;

/** Of the bytes from `start` to `end`. A file has millions of packets: none gets a view of its own. */
export function packetAt(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
): Packet {
  return {
    first: start < end ? bytes[start] : undefined,
    second: start + 1 < end ? bytes[start + 1] : undefined,
  };
}

const opusRate = 48_000;
const maxOpusSamples = (120 * opusRate) / 1000;
/** Of a frame, by the standard, and of the headers of its packet. */
const maxFrameBytes = 1_275;
const maxPacketOverhead = 200;
const maxOpusStreams = 8;

/** Opus: the first byte of a packet tells the length of its frames, and that or the second how many. */
export class OpusClock implements PacketClock {
  readonly rate = opusRate;
  readonly longest = maxOpusSamples;
  total = 0;
  maxBytes = 0;
  readonly #maxFrameBytes: number;

  /** Sound of more than two channels has several streams in each packet. */
  constructor(streams = 1) {
    this.#maxFrameBytes = maxFrameBytes * Math.min(streams, maxOpusStreams);
  }

  add({ first, second = 48 }: Packet): void {
    // An empty packet stands for one that was lost.
    if (first === undefined) return;
    const code = first & 3;
    const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
    this.maxBytes += frames * this.#maxFrameBytes + maxPacketOverhead;
    this.total += Math.min(frames * opusFrameSamples(first >> 3), maxOpusSamples);
  }
}

function opusFrameSamples(config: number): number {
  if (config >= 16) return 120 << (config & 3);
  if (config >= 12) return 480 << (config & 1);
  return [480, 960, 1920, 2880][config & 3] ?? 0;
}

/**
 * Vorbis: a packet names a mode, a mode names one of two block sizes, and a packet lasts a quarter
 * of its block and of the one before.
 */
export class VorbisClock implements PacketClock {
  readonly rate: number;
  readonly longest: number;
  total = 0;
  maxBytes = maxPacketOverhead;
  readonly #channels: number;
  readonly #sizes: readonly [number, number];
  readonly #isLong: readonly boolean[];
  readonly #modeBits: number;
  #last: number | undefined;

  constructor({ identification, setup }: VorbisHeaders) {
    if (identification.length < 30 || !isVorbis(identification, 1) || !isVorbis(setup, 5))
      throw damaged("its headers are incomplete");
    const view = new DataView(identification.buffer, identification.byteOffset, 30);
    this.rate = view.getUint32(12, true);
    const sizes = view.getUint8(28);
    this.#sizes = [2 ** (sizes & 15), 2 ** (sizes >> 4)];
    this.longest = this.#sizes[1] / 2;
    const areSizes = sizes >> 4 <= 13 && (sizes & 15) >= 6 && this.#sizes[0] <= this.#sizes[1];
    if (!areSizes) throw damaged("its block sizes are invalid");
    checkRate(this.rate);
    this.#channels = view.getUint8(11);
    this.#isLong = readModes(setup, { channels: this.#channels });
    this.#modeBits = 32 - Math.clz32(this.#isLong.length - 1);
  }

  add({ first = 1 }: Packet): void {
    // Headers have an odd first byte and no sound.
    if ((first & 1) === 1) return;
    const mode = (first >> 1) & (2 ** this.#modeBits - 1);
    const size = this.#sizes[this.#isLong[mode] === true ? 1 : 0];
    this.maxBytes += (size / 2) * this.#channels * maxBytesPerSample + maxPacketOverhead;
    if (this.#last !== undefined) this.total += (this.#last + size) / 4;
    this.#last = size;
  }
}

export interface VorbisHeaders {
  readonly identification: Uint8Array;
  readonly setup: Uint8Array;
}

function isVorbis(packet: Uint8Array, kind: number): boolean {
  return packet[0] === kind && latin1(packet.subarray(1, 7)) === "vorbis";
}

export const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
