/** A decoded frame as FFmpeg lays it out: planes one after another, without gaps. */
export interface RawFrame {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

export interface Colors {
  /** As WebCodecs names it; unknown when the file does not say. */
  readonly matrix: string | undefined;
  readonly isFullRange: boolean;
}

interface Layout {
  readonly chromaWidth: number;
  readonly chromaHeight: number;
}

/** Red, green and blue, a byte each; `undefined` for a layout that is not known. */
export function toRgb(frame: RawFrame, colors: Colors): Buffer | undefined {
  const samples = toBytes(frame);
  const layout = layoutOf(frame, samples.length);
  if (!layout) return undefined;
  return colors.matrix === "rgb"
    ? fromPlanes(frame, samples)
    : fromYuv({ frame, samples, layout, colors });
}

function toBytes({ data, bitDepth }: RawFrame): Uint8Array {
  if (bitDepth <= 8) return data;
  const wide = new Uint16Array(data.buffer, data.byteOffset, data.length >> 1);
  return Uint8Array.from(wide, (sample) => sample >> (bitDepth - 8));
}

// The decoder does not name every layout, but the number of samples tells them apart.
function layoutOf({ width, height }: RawFrame, sampleCount: number): Layout | undefined {
  const halfWidth = (width + 1) >> 1;
  const halfHeight = (height + 1) >> 1;
  const layouts: readonly Layout[] = [
    { chromaWidth: halfWidth, chromaHeight: halfHeight },
    { chromaWidth: halfWidth, chromaHeight: height },
    { chromaWidth: width, chromaHeight: height },
    { chromaWidth: 0, chromaHeight: 0 },
  ];
  return layouts.find(
    (layout) => width * height + 2 * layout.chromaWidth * layout.chromaHeight === sampleCount,
  );
}

/** FFmpeg keeps such planes in the order green, blue, red. */
function fromPlanes({ width, height }: RawFrame, samples: Uint8Array): Buffer {
  const area = width * height;
  const rgb = Buffer.alloc(area * 3);
  for (let i = 0; i < area; i++) {
    rgb[i * 3] = samples[2 * area + i] ?? 0;
    rgb[i * 3 + 1] = samples[i] ?? 0;
    rgb[i * 3 + 2] = samples[area + i] ?? 0;
  }
  return rgb;
}

interface YuvOptions {
  readonly frame: RawFrame;
  readonly samples: Uint8Array;
  readonly layout: Layout;
  readonly colors: Colors;
}

function fromYuv({ frame, samples, layout, colors }: YuvOptions): Buffer {
  const { width, height } = frame;
  const { chromaWidth, chromaHeight } = layout;
  const { red, blue } = weightsOf(colors.matrix, height);
  const green = 1 - red - blue;
  const lumaScale = colors.isFullRange ? 1 : 255 / 219;
  const lumaBase = colors.isFullRange ? 0 : 16;
  const chromaScale = colors.isFullRange ? 1 : 255 / 224;
  const redFromV = 2 * (1 - red) * chromaScale;
  const blueFromU = 2 * (1 - blue) * chromaScale;
  const greenFromU = (blueFromU * blue) / green;
  const greenFromV = (redFromV * red) / green;

  const shiftX = chromaWidth < width ? 1 : 0;
  const shiftY = chromaHeight < height ? 1 : 0;
  const uStart = width * height;
  const vStart = uStart + chromaWidth * chromaHeight;
  // It clamps by itself, which is most of the work here.
  const rgb = new Uint8ClampedArray(width * height * 3);
  for (let y = 0; y < height; y++) {
    const chromaRow = (y >> shiftY) * chromaWidth;
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const chroma = chromaRow + (x >> shiftX);
      const luma = ((samples[at] ?? 0) - lumaBase) * lumaScale;
      const u = chromaWidth === 0 ? 0 : (samples[uStart + chroma] ?? 128) - 128;
      const v = chromaWidth === 0 ? 0 : (samples[vStart + chroma] ?? 128) - 128;
      rgb[at * 3] = luma + redFromV * v;
      rgb[at * 3 + 1] = luma - greenFromU * u - greenFromV * v;
      rgb[at * 3 + 2] = luma + blueFromU * u;
    }
  }
  return Buffer.from(rgb.buffer);
}

function weightsOf(matrix: string | undefined, height: number): { red: number; blue: number } {
  switch (matrix) {
    case "bt2020-ncl":
      return { red: 0.2627, blue: 0.0593 };
    case "bt709":
      return { red: 0.2126, blue: 0.0722 };
    case "bt470bg":
    case "smpte170m":
      return { red: 0.299, blue: 0.114 };
    default:
      // Players take the matrix of high definition from 720 lines on.
      return height >= 720 ? { red: 0.2126, blue: 0.0722 } : { red: 0.299, blue: 0.114 };
  }
}
