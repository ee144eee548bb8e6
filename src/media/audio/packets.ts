import { UnreadableMedia } from "../frames.ts";

/** A stream of packets that tell their own durations. */
export interface PacketClock {
  /** In samples per second. */
  readonly rate: number;
  /** The longest that one packet can last, in samples: no end of a stream is cut by more. */
  readonly longest: number;
  /** What all packets so far last, in samples. */
  readonly total: number;
  /** The start of a packet, at least two bytes of it where it has two. */
  add(packet: Uint8Array): void;
}

const opusRate = 48_000;
const maxOpusSamples = (120 * opusRate) / 1000;

/** Opus: the first byte of a packet tells the length of its frames, and that or the second how many. */
export class OpusClock implements PacketClock {
  readonly rate = opusRate;
  readonly longest = maxOpusSamples;
  total = 0;

  add(packet: Uint8Array): void {
    const [head, count = 48] = packet;
    // An empty packet stands for one that was lost.
    if (head === undefined) return;
    const code = head & 3;
    const frames = code === 0 ? 1 : code === 3 ? count & 63 : 2;
    this.total += Math.min(frames * opusFrameSamples(head >> 3), maxOpusSamples);
  }
}

function opusFrameSamples(config: number): number {
  if (config >= 16) return 120 << (config & 3);
  if (config >= 12) return 480 << (config & 1);
  return [480, 960, 1920, 2880][config & 3] ?? 0;
}

/**
 * Vorbis: a packet names a mode, a mode names one of two block sizes, and a packet lasts a quarter
 * of its block and of the one before. The modes stand at the end of the setup header, behind books
 * that only a decoder reads; they are found from the end, as 41 bits each with 32 zeros among them.
 */
export class VorbisClock implements PacketClock {
  readonly rate: number;
  readonly longest: number;
  total = 0;
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
    if (this.rate === 0 || !areSizes) throw damaged("its block sizes are invalid");
    this.#isLong = readModes(setup);
    this.#modeBits = 32 - Math.clz32(this.#isLong.length - 1);
  }

  add(packet: Uint8Array): void {
    const [head = 1] = packet;
    // Headers have an odd first byte and no sound.
    if ((head & 1) === 1) return;
    const mode = (head >> 1) & (2 ** this.#modeBits - 1);
    const size = this.#sizes[this.#isLong[mode] === true ? 1 : 0];
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

const maxModes = 64;
const modeBits = 41;

/** Whether each mode has long blocks. */
function readModes(setup: Uint8Array): readonly boolean[] {
  // Bits count from the lowest of each byte.
  const bitsAt = (start: number, count: number) => {
    let value = 0;
    for (let bit = 0; bit < count; bit++)
      value += (((setup[(start + bit) >> 3] ?? 0) >> ((start + bit) & 7)) & 1) * 2 ** bit;
    return value;
  };
  let end = setup.length * 8 - 1;
  const isPadding = () => bitsAt(end, 1) === 0;
  while (end > setup.length * 8 - 16 && isPadding()) end--;
  let found: readonly boolean[] | undefined;
  const modes: boolean[] = [];
  for (let count = 1; count <= maxModes; count++) {
    const start = end - count * modeBits;
    // The window and the transform have no other kinds than 0.
    if (start < 64 || bitsAt(start + 1, 32) !== 0 || bitsAt(start + 33, 8) >= 64) break;
    modes.unshift(bitsAt(start, 1) === 1);
    if (bitsAt(start - 6, 6) + 1 === count) found = [...modes];
  }
  if (found === undefined) throw damaged("its modes cannot be read");
  return found;
}

function damaged(reason: string): UnreadableMedia {
  return new UnreadableMedia(`is damaged Vorbis audio: ${reason}`);
}
