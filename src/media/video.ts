import type { InputVideoTrack, EncodedPacketSink as PacketSink } from "mediabunny";
import { nextTurn } from "../base/clock.ts";
import { base64SizeBytes, readBase64 } from "./data-uri.ts";
import { redactMp4 } from "./mp4-redaction.ts";
import { ebmlDocType, redactWebm } from "./webm-redaction.ts";

/**
 * What a video really is: its container and how long its frames last.
 *
 * Size first, from the length of the text; then base64; then a linear pass of our own, which refuses
 * cut files and hides from the demuxer all that it has no need of (redaction.ts);
 * only then mediabunny, which reads every frame. The duration is the span of the stored frames. Edit
 * lists are left out of it: decoders that ignore them see, and charge for, the frames they hide.
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
  readonly timeoutMs?: number;
}

type Duration =
  | { readonly ok: true; readonly durationS: number }
  | { readonly ok: false; readonly problem: string };

export const MAX_VIDEO_BYTES = 307_200;
export const MAX_VIDEO_DURATION_S = 6;
/** 180 frames at 29.97 a second take 6.006 s, and encoders like to add a frame. */
export const VIDEO_DURATION_GRACE_S = 0.05;
const DEFAULT_TIMEOUT_MS = 2_000;
const MAX_FRAMES = 4_096;
/** About two milliseconds of work: then others have the event loop. */
const FRAMES_PER_TURN = 200;
/** Sums of frame times are off by some billionths, which must not start another second. */
const ROUNDING_S = 1e-6;

/** These share the ftyp box with MP4 but are QuickTime movies or still pictures. */
const FOREIGN_BRANDS: ReadonlySet<string> = new Set(["qt  ", "avif", "heic", "heix", "mif1"]);

export async function inspectVideo(
  base64: string,
  limits: VideoLimits = {},
): Promise<VideoInspection> {
  const maxBytes = limits.maxBytes ?? MAX_VIDEO_BYTES;
  const maxDurationS = limits.maxDurationS ?? MAX_VIDEO_DURATION_S;
  const sizeBytes = base64SizeBytes(base64);
  if (sizeBytes > maxBytes) {
    return refused(`is ${sizeBytes} bytes, more than the ${maxBytes} bytes allowed`);
  }
  const reading = readBase64(base64);
  if (!reading.ok) {
    return reading;
  }
  const container = sniffContainer(reading.bytes);
  if (container === undefined) {
    return refused("is neither an MP4 nor a WebM video");
  }
  const redaction = container === "mp4" ? redactMp4(reading.bytes) : redactWebm(reading.bytes);
  if (!redaction.ok) {
    return redaction;
  }
  const timeoutMs = limits.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const duration = await oneAtATime(() => measureInTime({ bytes: redaction.bytes, timeoutMs }));
  if (!duration.ok) {
    return duration;
  }
  const { durationS } = duration;
  if (durationS > maxDurationS + VIDEO_DURATION_GRACE_S) {
    return refused(`lasts ${durationS.toFixed(2)} s, longer than the ${maxDurationS} s allowed`);
  }
  return { ok: true, container, durationS, sizeBytes };
}

let lastMeasured: Promise<unknown> = Promise.resolve();

/** Many videos that yield to each other would still fill the event loop together. */
function oneAtATime<T>(measureIt: () => Promise<T>): Promise<T> {
  const measured = lastMeasured.then(measureIt);
  lastMeasured = measured.catch(() => {});
  return measured;
}

/** Whole seconds, rounded up, at least one. The grace above the longest video is not billed. */
export function billedVideoSeconds(durationS: number): number {
  const isWithinGrace =
    durationS > MAX_VIDEO_DURATION_S && durationS <= MAX_VIDEO_DURATION_S + VIDEO_DURATION_GRACE_S;
  if (isWithinGrace) {
    return MAX_VIDEO_DURATION_S;
  }
  return Math.max(1, Math.ceil(durationS - ROUNDING_S));
}

function sniffContainer(bytes: Uint8Array): VideoContainer | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 12));
  if (start.slice(4, 8) === "ftyp") {
    return FOREIGN_BRANDS.has(start.slice(8, 12)) ? undefined : "mp4";
  }
  return ebmlDocType(bytes) === "webm" ? "webm" : undefined;
}

/**
 * The redaction bounds the work; the deadline is for what it overlooks. It is kept twice: between two
 * frames, since the demuxer yields to no timer while it has bytes, and by a timer, should it hang.
 */
async function measureInTime(measured: {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly timeoutMs: number;
}): Promise<Duration> {
  const { bytes, timeoutMs } = measured;
  // Outside the deadline and the catch below: a demuxer that does not load is our fault.
  const demuxer = await loadDemuxer();
  const late = refused(`could not be read within ${timeoutMs} ms`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Duration>((resolve) => {
    timer = setTimeout(() => resolve(late), timeoutMs);
  });
  const deadlineMs = performance.now() + timeoutMs;
  try {
    return await Promise.race([measure({ demuxer, bytes, deadlineMs, late }), timeout]);
  } catch {
    // The message of the demuxer's error speaks of its insides, so it is of no use to a caller.
    return refused("is truncated or damaged: its frames cannot be read");
  } finally {
    clearTimeout(timer);
  }
}

interface Measurement {
  readonly demuxer: Demuxer;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly deadlineMs: number;
  readonly late: Duration;
}

/** The longest video track counts, since an upstream may pick another than the first. */
async function measure(measurement: Measurement): Promise<Duration> {
  const { BufferSource, Input, MP4, WEBM } = measurement.demuxer;
  using input = new Input({ source: new BufferSource(measurement.bytes), formats: [MP4, WEBM] });
  const tracks = await input.getVideoTracks();
  let durationS = 0;
  for (const track of tracks) {
    const ofTrack = await measureTrack(track, measurement);
    if (!ofTrack.ok) {
      return ofTrack;
    }
    durationS = Math.max(durationS, ofTrack.durationS);
  }
  return tracks.length === 0 ? refused("has no video track") : { ok: true, durationS };
}

/**
 * Reading ends without an error at a frame whose bytes are not there, while the index still lists it
 * and the rest: so the frames are counted with and without their bytes.
 */
async function measureTrack(track: InputVideoTrack, measurement: Measurement): Promise<Duration> {
  const sink = new measurement.demuxer.EncodedPacketSink(track);
  const { deadlineMs } = measurement;
  const listed = await readFrames(sink, { metadataOnly: true, deadlineMs });
  if (listed.frames > MAX_FRAMES) {
    return refused(`has more than ${MAX_FRAMES} frames`);
  }
  const present = await readFrames(sink, { metadataOnly: false, deadlineMs });
  if (performance.now() > deadlineMs) {
    return measurement.late;
  }
  if (present.frames < listed.frames) {
    return refused("is truncated: the bytes of a frame are missing");
  }
  const durationS = listed.endS - listed.startS;
  return durationS > 0 && Number.isFinite(durationS)
    ? { ok: true, durationS }
    : refused("is truncated: its video track has no duration");
}

/** Stops at the deadline, after the most frames there may be, and at a frame without its bytes. */
async function readFrames(
  sink: PacketSink,
  options: { readonly metadataOnly: boolean; readonly deadlineMs: number },
): Promise<{ readonly frames: number; readonly startS: number; readonly endS: number }> {
  const { metadataOnly, deadlineMs } = options;
  let frames = 0;
  let startS = Infinity;
  let endS = -Infinity;
  let frame = await sink.getFirstPacket({ metadataOnly });
  while (frame !== null && frames <= MAX_FRAMES && performance.now() <= deadlineMs) {
    if (!metadataOnly && frame.data.byteLength !== frame.byteLength) {
      break;
    }
    frames += 1;
    if (frames % FRAMES_PER_TURN === 0) {
      await nextTurn();
    }
    startS = Math.min(startS, frame.timestamp);
    endS = Math.max(endS, frame.timestamp + frame.duration);
    frame = await sink.getNextPacket(frame, { metadataOnly });
  }
  return { frames, startS, endS };
}

function refused(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

type Demuxer = typeof import("mediabunny");
let loading: Promise<Demuxer> | undefined;

/** 80 ms of start-up that only callers with a video pay, once. */
function loadDemuxer(): Promise<Demuxer> {
  loading ??= import("mediabunny").then((demuxer) => {
    // Its warnings quote the file, and what callers send stays out of the logs.
    demuxer.Logging.level = demuxer.LogLevel.Silent;
    return demuxer;
  });
  return loading;
}
