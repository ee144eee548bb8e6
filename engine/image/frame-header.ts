/**
 * Reads how large the frames of a packet are, before a decoder sees it. The container's word for
 * it cannot be trusted: a packet of a few bytes can make a decoder reserve gigabytes.
 */
export type VideoCodec = "avc" | "vp8" | "vp9";

export interface FrameShape {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

export interface PacketOptions {
  readonly codec: VideoCodec;
  readonly packet: Uint8Array;
  /** The `avcC` box of H.264, which is kept apart from the packets. */
  readonly box: Uint8Array | undefined;
}

/** The shapes that a packet declares; none when it goes on in the shape declared before. */
export function shapesIn({ codec, packet, box }: PacketOptions): readonly FrameShape[] {
  switch (codec) {
    case "avc":
      return unitsIn(packet, ((box?.[4] ?? 3) & 3) + 1).flatMap(fromAvcUnit);
    case "vp8":
      return fromVp8(packet);
    case "vp9":
      return framesIn(packet).flatMap(fromVp9);
    default:
      return codec satisfies never;
  }
}

export function shapesInBox(box: Uint8Array): readonly FrameShape[] {
  const shapes: FrameShape[] = [];
  let at = 6;
  for (let left = (box[5] ?? 0) & 31; left > 0; left--) {
    const size = ((box[at] ?? 0) << 8) | (box[at + 1] ?? 0);
    shapes.push(...fromAvcUnit(box.subarray(at + 2, at + 2 + size)));
    at += 2 + size;
  }
  return shapes;
}

/** Bits from the front; past the end they are zeros, and a decoder refuses such a frame anyway. */
class BitReader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      const byte = this.bytes[this.at >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.at & 7))) & 1);
      this.at++;
    }
    return value;
  }

  flag(): boolean {
    return this.bits(1) === 1;
  }

  /** H.264's `ue(v)`. */
  golomb(): number {
    let zeros = 0;
    while (zeros < 32 && !this.flag()) zeros++;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** H.264's `se(v)`. */
  signedGolomb(): number {
    const code = this.golomb();
    return code % 2 === 0 ? -code / 2 : (code + 1) / 2;
  }
}

function unitsIn(packet: Uint8Array, lengthBytes: number): readonly Uint8Array[] {
  const units: Uint8Array[] = [];
  let at = 0;
  while (at + lengthBytes <= packet.length) {
    let size = 0;
    for (let i = 0; i < lengthBytes; i++) size = size * 256 + (packet[at + i] ?? 0);
    at += lengthBytes;
    units.push(packet.subarray(at, at + size));
    at += size;
  }
  return units;
}

const sequenceParameterSet = 7;
// Profiles that tell the kind of color and the bit depth.
const highProfiles = new Set([44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]);

function fromAvcUnit(unit: Uint8Array): readonly FrameShape[] {
  if (((unit[0] ?? 0) & 31) !== sequenceParameterSet) return [];
  const reader = new BitReader(withoutEscapes(unit.subarray(1)));
  const profile = reader.bits(8);
  reader.bits(16);
  reader.golomb();
  const bitDepth = highProfiles.has(profile) ? readHighProfile(reader) : 8;
  reader.golomb();
  skipPictureOrder(reader);
  reader.golomb();
  reader.flag();
  const width = (reader.golomb() + 1) * 16;
  const rows = (reader.golomb() + 1) * 16;
  const height = reader.flag() ? rows : rows * 2;
  return [{ width, height, bitDepth }];
}

function readHighProfile(reader: BitReader): number {
  const color = reader.golomb();
  if (color === 3) reader.flag();
  const bitDepth = reader.golomb() + 8;
  reader.golomb();
  reader.flag();
  if (reader.flag()) {
    for (let list = 0; list < (color === 3 ? 12 : 8); list++) {
      if (reader.flag()) skipScalingList(reader, list < 6 ? 16 : 64);
    }
  }
  return bitDepth;
}

function skipScalingList(reader: BitReader, size: number): void {
  let last = 8;
  let next = 8;
  for (let i = 0; i < size; i++) {
    if (next !== 0) next = (last + reader.signedGolomb() + 256) % 256;
    last = next === 0 ? last : next;
  }
}

function skipPictureOrder(reader: BitReader): void {
  const kind = reader.golomb();
  if (kind === 0) reader.golomb();
  if (kind !== 1) return;
  reader.flag();
  reader.golomb();
  reader.golomb();
  const count = Math.min(reader.golomb(), 255);
  for (let i = 0; i < count; i++) reader.golomb();
}

/** H.264 puts a 3 behind two zeros, so that no data looks like the start of a unit. */
function withoutEscapes(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, i) => !(byte === 3 && bytes[i - 1] === 0 && bytes[i - 2] === 0));
}

function fromVp8(packet: Uint8Array): readonly FrameShape[] {
  const isKey = ((packet[0] ?? 1) & 1) === 0;
  if (!isKey || packet.length < 10) return [];
  const sizeAt = (at: number): number =>
    ((packet[at] ?? 0) | ((packet[at + 1] ?? 0) << 8)) & 0x3fff;
  return [{ width: sizeAt(6), height: sizeAt(8), bitDepth: 8 }];
}

/** A VP9 packet may hold several frames; then its last bytes say where each begins. */
function framesIn(packet: Uint8Array): readonly Uint8Array[] {
  const marker = packet.at(-1) ?? 0;
  const count = (marker & 7) + 1;
  const width = ((marker >> 3) & 3) + 1;
  const index = packet.subarray(packet.length - (2 + count * width));
  if (marker >> 5 !== 6 || index[0] !== marker) return [packet];
  const frames: Uint8Array[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    let size = 0;
    for (let byte = width - 1; byte >= 0; byte--)
      size = size * 256 + (index[1 + i * width + byte] ?? 0);
    frames.push(packet.subarray(at, at + size));
    at += size;
  }
  return frames;
}

function fromVp9(frame: Uint8Array): readonly FrameShape[] {
  const reader = new BitReader(frame);
  if (reader.bits(2) !== 2) return [];
  const profile = reader.bits(1) + reader.bits(1) * 2;
  if (profile === 3) reader.flag();
  const repeatsFrame = reader.flag();
  if (repeatsFrame) return [];
  const isKey = !reader.flag();
  const isShown = reader.flag();
  const isResilient = reader.flag();
  if (isKey) {
    reader.bits(24);
    return [readVp9Size(reader, readVp9Color(reader, profile))];
  }
  const isIntra = !isShown && reader.flag();
  if (!isResilient) reader.bits(2);
  if (isIntra) {
    reader.bits(24);
    const bitDepth = profile > 0 ? readVp9Color(reader, profile) : 8;
    reader.bits(8);
    return [readVp9Size(reader, bitDepth)];
  }
  reader.bits(8 + 3 * 4);
  const takesSizeOfOther = reader.flag() || reader.flag() || reader.flag();
  // The depth cannot change here; a caller keeps the larger of what it has seen.
  return takesSizeOfOther ? [] : [readVp9Size(reader, 8)];
}

function readVp9Color(reader: BitReader, profile: number): number {
  const bitDepth = profile < 2 ? 8 : reader.flag() ? 12 : 10;
  const isRgb = reader.bits(3) === 7;
  if (!isRgb) reader.flag();
  if (profile % 2 === 1) reader.bits(isRgb ? 1 : 3);
  return bitDepth;
}

function readVp9Size(reader: BitReader, bitDepth: number): FrameShape {
  return { width: reader.bits(16) + 1, height: reader.bits(16) + 1, bitDepth };
}
