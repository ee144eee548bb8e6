import sharp, { type Sharp } from "sharp";
import { inputSide } from "../weights/convert/resnet-graph.ts";

/** Red, green and blue, a byte each, of the size that the network takes. */
export type Picture = Buffer;

export const maxPixels = 64_000_000;

export class PictureError extends Error {
  override readonly name = "PictureError";
}

/** Reads a PNG, JPEG, WebP or GIF: its first frame, upright, over white. */
export async function readPicture(bytes: Uint8Array): Promise<Picture> {
  // Asked first, because sharp reads more than this, SVG among it, and each is a way in.
  if (!isKnownFormat(bytes)) throw new PictureError("it is not a PNG, JPEG, WebP or GIF file");
  try {
    return await shrink(
      sharp(bytes, {
        failOn: "error",
        limitInputPixels: maxPixels,
        sequentialRead: true,
      }).autoOrient(),
    );
  } catch (error) {
    const isTooLarge = String(error).includes("exceeds pixel limit");
    throw new PictureError(
      isTooLarge ? `it has more than ${maxPixels} pixels` : "it is damaged or truncated",
      { cause: error },
    );
  }
}

export interface RgbFrame {
  readonly rgb: Buffer;
  readonly width: number;
  readonly height: number;
  /** How far to turn it clockwise. */
  readonly rotation: number;
}

export function fromRgb({ rgb, width, height, rotation }: RgbFrame): Promise<Picture> {
  return shrink(sharp(rgb, { raw: { width, height, channels: 3 } }).rotate(rotation));
}

/** Squeezed to a square, as Keras does: nothing at the edges is lost. */
async function shrink(image: Sharp): Promise<Picture> {
  return await image
    .flatten({ background: "#ffffff" })
    .resize(inputSide, inputSide, { fit: "fill" })
    .toColorspace("srgb")
    .removeAlpha()
    .raw({ depth: "uchar" })
    .toBuffer();
}

function isKnownFormat(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return (
    start.startsWith("\x89PNG\r\n\x1a\n") ||
    start.startsWith("\xff\xd8\xff") ||
    start.startsWith("GIF8") ||
    (start.startsWith("RIFF") && start.endsWith("WEBP"))
  );
}
