import { nextTurn } from "../../base/clock.ts";
import type { AudioType } from "../../call/transcribe.ts";
import { ebmlDocType } from "../ebml.ts";
import { UnreadableMedia } from "../frames.ts";
import { flacDurationS } from "./flac.ts";
import { checkForeign } from "./foreign.ts";
import { m4aDurationS } from "./m4a.ts";
import { isMp3, mp3DurationS, mp3Start } from "./mp3.ts";
import { oggDurationS } from "./ogg.ts";
import { type Reading, Steps } from "./reading.ts";
import { wavDurationS } from "./wav.ts";
import { webmAudioDurationS } from "./webm-audio.ts";

/**
 * What audio really is, and how long it lasts. The duration is what a caller pays for, so it is
 * counted from the frames that a decoder would play, never read from a field that claims it.
 *
 * What decoders could play for longer than is counted here is refused: bytes that belong to no part
 * of the format, streams of other formats, two headers that contradict each other, a checksum that
 * is wrong, tables in places where only some look.
 *
 * Two linear passes. Nothing is decoded. Large files are read in several turns of the event loop.
 */
export type AudioInspection =
  | { readonly ok: true; readonly type: AudioType; readonly durationS: number }
  | { readonly ok: false; readonly problem: string };

const readers: Readonly<Record<AudioType, (bytes: Uint8Array) => Reading>> = {
  wav: wavDurationS,
  mp3: mp3DurationS,
  flac: flacDurationS,
  ogg: oggDurationS,
  m4a: m4aDurationS,
  webm: webmAudioDurationS,
};

/** An aborted signal ends the reading, at its next turn, with the signal's reason. */
export async function inspectAudio(
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<AudioInspection> {
  const type = sniffAudio(bytes);
  if (type === undefined)
    return { ok: false, problem: "is not a WAV, MP3, FLAC, Ogg, M4A or WebM file" };
  try {
    const reading = measured(bytes, type);
    for (;;) {
      const { done, value } = reading.next();
      if (done !== true) {
        await nextTurn();
        signal?.throwIfAborted();
        continue;
      }
      if (value > 0 && Number.isFinite(value)) return { ok: true, type, durationS: value };
      return { ok: false, problem: "has no audio, so its duration is unknown" };
    }
  } catch (error) {
    if (error instanceof UnreadableMedia)
      return { ok: false, problem: `${error.message}. If it plays, re-encode it` };
    throw error;
  }
}

/** The reader comes first: it refuses most of what is no audio within a few steps. */
function* measured(bytes: Uint8Array, type: AudioType): Reading {
  const durationS = yield* readers[type](bytes);
  const start = type === "mp3" ? mp3Start(bytes) : 0;
  yield* checkForeign(bytes, { type, start, steps: new Steps(bytes.length) });
  return durationS;
}

/** Images and movies that share their first bytes with audio files. */
const foreignBrands: ReadonlySet<string> = new Set([
  "qt  ",
  "avif",
  "heic",
  "heix",
  "mif1",
  "jp2 ",
  "jpx ",
  "jxl ",
]);

/** By the first bytes. Only MP3 may have a tag in front, because decoders skip it before all else there. */
function sniffAudio(bytes: Uint8Array): AudioType | undefined {
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, 12));
  if (text.startsWith("RIFF") && text.endsWith("WAVE")) return "wav";
  if (text.startsWith("fLaC")) return "flac";
  if (text.startsWith("OggS")) return "ogg";
  if (text.slice(4, 8) === "ftyp") return foreignBrands.has(text.slice(8, 12)) ? undefined : "m4a";
  if (ebmlDocType(bytes) === "webm") return "webm";
  return isMp3(bytes) ? "mp3" : undefined;
}
