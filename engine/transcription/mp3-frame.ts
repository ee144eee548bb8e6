/** The head of a frame of MPEG audio. */
export interface Mp3Frame {
  readonly layer: number;
  /** What a decoder prepares its output for: layer, channels and rate. */
  readonly form: string;
  readonly sizeBytes: number;
}

const rates = [44_100, 48_000, 32_000];
/** In kbit/s by the index of the header, for each layer of version 1 and of the others. */
const bitrates = {
  v1: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  v2: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;

/** Undefined where no frame begins. */
export function mp3FrameAt(bytes: Uint8Array, at: number): Mp3Frame | undefined {
  const kind = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  if (bytes[at] !== 0xff || (kind & 0xe0) !== 0xe0 || at + 4 > bytes.length) return undefined;
  const version = (kind >> 3) & 3;
  const isVersion1 = version === 3;
  const layer = 4 - ((kind >> 1) & 3);
  const hertz = rates[(third >> 2) & 3];
  const kbits = bitrates[isVersion1 ? "v1" : "v2"][layer - 1]?.[third >> 4] ?? 0;
  if (version === 1 || hertz === undefined || kbits === 0) return undefined;
  const rate = isVersion1 ? hertz : version === 2 ? hertz / 2 : hertz / 4;
  const padding = (third >> 1) & 1;
  const samples = layer === 3 && !isVersion1 ? 576 : 1152;
  const sizeBytes =
    layer === 1
      ? (Math.floor((12_000 * kbits) / rate) + padding) * 4
      : Math.floor((samples * 125 * kbits) / rate) + padding;
  const channels = (bytes[at + 3] ?? 0) >> 6 === 3 ? 1 : 2;
  return { layer, form: `${layer} ${channels} ${rate}`, sizeBytes };
}
