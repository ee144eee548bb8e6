/**
 * Speech to text. The file is decoded and heard thirty seconds at a time, so that memory does not
 * grow with its length; each window begins behind the last segment that was whole.
 */
import { setImmediate } from "node:timers/promises";
import {
  EngineError,
  type Model,
  type RunContext,
  type TranscriptionJob,
  type TranscriptionPiece,
  type TranscriptionResult,
} from "../contract.ts";
import { decodeAudio } from "./decode.ts";
import { melRate } from "./log-mel.ts";
import { audioRefusal } from "./sound.ts";
import { loadRecognizer, type Recognizer, windowS } from "./whisper.ts";

const windowSamples = windowS * melRate;
/** Less is no word, and the end of most files. */
const leastSamples = melRate / 10;

export async function loadTranscription({
  dir,
}: {
  readonly dir: string;
}): Promise<Model<TranscriptionJob, TranscriptionPiece, TranscriptionResult>> {
  const recognizer = await loadRecognizer(dir);
  return { run: (job, context) => transcribe({ recognizer, job, context }) };
}

interface Transcribing {
  readonly recognizer: Recognizer;
  readonly job: TranscriptionJob;
  readonly context: RunContext<TranscriptionPiece>;
}

async function transcribe({
  recognizer,
  job,
  context,
}: Transcribing): Promise<TranscriptionResult> {
  const { signal, emit } = context;
  let language = toCode(recognizer, job.language);
  const sound = new SoundReader(decodeAudio({ audio: job.audio, signal }));
  let startS = 0;
  for (;;) {
    const window = await sound.window();
    if (window.length < (startS === 0 ? 1 : leastSamples)) break;
    // The runtime blocks while it computes: between windows the caller's leaving can be heard.
    await setImmediate();
    signal.throwIfAborted();
    const heard = await recognizer.hearWindow(window, language);
    language ??= heard.language;
    for (const { startS: from, endS, text } of heard.segments)
      emit({ startS: rounded(startS + from), endS: rounded(startS + endS), text });
    emit({ startS, endS: startS, text: "" });
    const samples = Math.min(window.length, Math.round(heard.nextS * melRate));
    sound.skip(samples);
    startS += samples / melRate;
  }
  if (startS === 0) throw audioRefusal("it has no sound");
  return { language: language ?? "en", durationS: rounded(startS) };
}

const rounded = (seconds: number) => Math.round(seconds * 1000) / 1000;

/** Windows over a sound that comes in pieces. */
class SoundReader {
  readonly #pieces: AsyncGenerator<Float32Array>;
  #buffer = new Float32Array(windowSamples);
  #filled = 0;
  /** What did not fit. */
  #rest: Float32Array | undefined;

  constructor(pieces: AsyncGenerator<Float32Array>) {
    this.#pieces = pieces;
  }

  /** Thirty seconds from where it stands, or what is left. */
  async window(): Promise<Float32Array> {
    while (this.#filled < windowSamples) {
      const piece = this.#rest ?? (await this.#pieces.next()).value;
      this.#rest = undefined;
      if (piece === undefined) break;
      const fitting = piece.subarray(0, windowSamples - this.#filled);
      this.#buffer.set(fitting, this.#filled);
      this.#filled += fitting.length;
      if (fitting.length < piece.length) this.#rest = piece.subarray(fitting.length);
    }
    return this.#buffer.subarray(0, this.#filled);
  }

  skip(samples: number): void {
    this.#buffer.copyWithin(0, samples, this.#filled);
    this.#filled -= samples;
  }
}

/** Codes are as they are; English names are looked up. */
function toCode({ languages }: Recognizer, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  const code = wanted.toLowerCase().split("-")[0] ?? "";
  if (languages.has(code)) return code;
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const named = [...languages].find((each) => names.of(each)?.toLowerCase() === code);
  if (named !== undefined) return named;
  throw new EngineError({
    message: "language must be a language that the model knows, as a code such as en.",
    param: "language",
  });
}
