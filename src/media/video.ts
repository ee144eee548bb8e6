import { base64SizeBytes, readBase64 } from "./data-uri.ts";
import { ebmlDocType } from "./ebml.ts";
import { UnreadableMedia } from "./frames.ts";
import { mp4DurationS } from "./mp4.ts";
import { webmDurationS } from "./webm.ts";

/**
 * What a video really is: its container and how long its frames last.
 *
 * Size first, from the length of the text; then base64; then one linear pass over the tables that time
 * the frames. Frames are not decoded.
 */
export type VideoContainer = "mp4" | "webm";

export type VideoInspection =
  | {
      readonly ok: true;
      readonly container: VideoContainer;
      readonly durationS: number;
      readonly sizeBytes: number;
    }
  | { readonly ok: false; readonly problem: string };

export interface VideoLimits {
  readonly maxBytes?: number;
  readonly maxDurationS?: number;
}

export const maxVideoBytes = 307_200;
const maxVideoDurationS = 6;
/** 180 frames at 29.97 per second take 6.006 s, and encoders like to add a frame. */
const durationGraceS = 0.05;
/** Sums of frame times are off by some billionths, which must not start another second. */
const roundingS = 1e-6;

/** These share the ftyp box with MP4 but are QuickTime movies or still pictures. */
const foreignBrands: ReadonlySet<string> = new Set(["qt  ", "avif", "heic", "heix", "mif1"]);

export function inspectVideo(base64: string, limits: VideoLimits = {}): VideoInspection {
  const { maxBytes = maxVideoBytes, maxDurationS = maxVideoDurationS } = limits;
  const sizeBytes = base64SizeBytes(base64);
  if (sizeBytes > maxBytes)
    return refused(`is ${sizeBytes} bytes, more than the ${maxBytes} bytes allowed`);
  const reading = readBase64(base64);
  if (!reading.ok) return reading;
  const container = sniffContainer(reading.bytes);
  if (container === undefined) return refused("is neither an MP4 nor a WebM video");
  try {
    const durationS =
      container === "mp4" ? mp4DurationS(reading.bytes) : webmDurationS(reading.bytes);
    return durationS > maxDurationS + durationGraceS
      ? refused(`lasts ${durationS.toFixed(2)} s, longer than the ${maxDurationS} s allowed`)
      : { ok: true, container, durationS, sizeBytes };
  } catch (error) {
    if (error instanceof UnreadableMedia) return refused(error.message);
    throw error;
  }
}

/** Whole seconds, rounded up, at least one. The grace above the longest video is not billed. */
export function billedVideoSeconds(durationS: number): number {
  const isWithinGrace =
    durationS > maxVideoDurationS && durationS <= maxVideoDurationS + durationGraceS;
  if (isWithinGrace) return maxVideoDurationS;
  return Math.max(1, Math.ceil(durationS - roundingS));
}

function sniffContainer(bytes: Uint8Array): VideoContainer | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 12));
  if (start.slice(4, 8) === "ftyp")
    return foreignBrands.has(start.slice(8, 12)) ? undefined : "mp4";
  return ebmlDocType(bytes) === "webm" ? "webm" : undefined;
}

function refused(problem: string): VideoInspection {
  return { ok: false, problem };
}
