/** The header of a frame of MPEG audio: four bytes that tell its size and how long it lasts. */
export interface MpegFrame {
  /** Its version, layer and rate, which all frames of a stream share. */
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

/** Undefined where no frame begins, and for frames that do not state their bitrate, and so not their size. */
export function mpegFrameAt(bytes: Uint8Array, at: number): MpegFrame | undefined {
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
