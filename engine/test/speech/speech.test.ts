import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  EngineError,
  type Model,
  type SpeechJob,
  type SpeechPiece,
  type SpeechResult,
  type VoiceName,
  voiceNames,
} from "../../contract.ts";
import { sampleRate } from "../../speech/audio.ts";
import { loudness, targetLufs } from "../../speech/loudness.ts";
import { loadSpeech } from "../../speech/speech.ts";
import { melBands, melFrames, melRate } from "../../transcription/log-mel.ts";
import { resample } from "../../transcription/resample.ts";
import { modelFiles } from "../../weights/sets.ts";
import { weightsDir } from "../weights/weights-dir.ts";

type Speech = Model<SpeechJob, SpeechPiece, SpeechResult>;

const trainSentence = "The early train to the city leaves at nine.";
const bookSentence = "Please put the blue books back on the shelf.";

let dir = "";
let speech: Speech;
const flash = new Map<VoiceName, Float32Array>();
const pro = new Map<VoiceName, Float32Array>();

/** Fetching on a new machine, loading, and ten sentences. */
setDefaultTimeout(600_000);

beforeAll(async () => {
  dir = await weightsDir("speech");
  speech = await loadSpeech({ dir });
  for (const voice of voiceNames) {
    flash.set(voice, join16(await piecesOf({ text: trainSentence, voice, style: "flash" })));
    pro.set(voice, join16(await piecesOf({ text: bookSentence, voice, style: "pro" })));
  }
});

async function piecesOf(job: SpeechJob): Promise<Int16Array[]> {
  const pieces: Int16Array[] = [];
  const { signal } = new AbortController();
  const { samples } = await speech.run(job, { signal, emit: (piece) => pieces.push(piece) });
  expect(samples).toBe(pieces.reduce((sum, piece) => sum + piece.length, 0));
  return pieces;
}

function join16(pieces: readonly Int16Array[]): Float32Array {
  return Float32Array.from(
    pieces.flatMap((piece) => [...piece]),
    (sample) => sample / 32_768,
  );
}

function soundOf(sounds: ReadonlyMap<VoiceName, Float32Array>, voice: VoiceName): Float32Array {
  return sounds.get(voice) ?? new Float32Array(0);
}

function peakOf(samples: Float32Array): number {
  return samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
}

describe("every voice", () => {
  test.each([...voiceNames])(
    "%s speaks a sentence in a sensible time, loud enough and unclipped",
    (voice) => {
      for (const sounds of [flash, pro]) {
        const samples = soundOf(sounds, voice);
        expect(samples.length / sampleRate).toBeGreaterThan(1);
        expect(samples.length / sampleRate).toBeLessThan(8);
        expect(peakOf(samples)).toBeGreaterThan(0.2);
        expect(peakOf(samples)).toBeLessThan(0.98);
        expect(loudness(samples)).toBeGreaterThan(-26);
        expect(loudness(samples)).toBeLessThan(-14);
      }
    },
  );

  test("is further from every other voice than twice from itself on another sentence", () => {
    const spectra = (sounds: ReadonlyMap<VoiceName, Float32Array>) =>
      voiceNames.map((voice) => averageSpectrum(soundOf(sounds, voice)));
    const [first, second] = [spectra(flash), spectra(pro)];
    const same = first.map((spectrum, index) => distance(spectrum, second[index]));
    const apart = first.flatMap((spectrum, index) =>
      first.slice(index + 1).map((other) => distance(spectrum, other)),
    );
    expect(apart.length).toBe(10);
    expect(Math.min(...apart)).toBeGreaterThan(2 * Math.max(...same));
  });

  test("has the same loudness in pro", () => {
    const levels = voiceNames.map((voice) => loudness(soundOf(pro, voice)));
    for (const level of levels) expect(Math.abs(level - targetLufs)).toBeLessThan(0.5);
  });
});

/** Mean decibels a band over the frames that hold speech, without the overall level. */
function averageSpectrum(samples: Float32Array): Float64Array {
  const frames = melFrames(resample(samples, sampleRate, melRate)).map((frame) =>
    Array.from(frame, (energy) => 10 * Math.log10(Math.max(energy, 1e-10))),
  );
  const levels = frames.map((frame) => mean(frame));
  const loudest = Math.max(...levels);
  const spoken = frames.filter((_, index) => (levels[index] ?? 0) > loudest - 20);
  const bands = Float64Array.from({ length: melBands }, (_, band) =>
    mean(spoken.map((frame) => frame[band] ?? 0)),
  );
  return bands.map((level) => level - mean([...bands]));
}

function distance(a: Float64Array, b: Float64Array | undefined): number {
  return Math.sqrt(mean(Array.from(a, (level, band) => (level - (b?.[band] ?? 0)) ** 2)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe("flash", () => {
  test("emits sentence by sentence, and others get a turn in between", async () => {
    const events: string[] = [];
    const { signal } = new AbortController();
    const pieces: Int16Array[] = [];
    await speech.run(
      { text: "It is raining again. We shall stay at home.", voice: "Aoede", style: "flash" },
      {
        signal,
        emit: (piece) => {
          pieces.push(piece);
          events.push("piece");
          setImmediate(() => events.push("turn"));
        },
      },
    );
    expect(events.slice(0, 3)).toEqual(["piece", "turn", "piece"]);
    expect(pieces.length).toBe(2);
    expect(largestJump(pieces)).toBeLessThan(0.01);
  });

  test("stops at the next piece when the caller leaves", async () => {
    const leaving = new AbortController();
    let pieces = 0;
    const running = speech.run(
      { text: "We walked along the river. ".repeat(185), voice: "Kore", style: "flash" },
      {
        signal: leaving.signal,
        emit: () => {
          pieces += 1;
          if (pieces === 1) leaving.abort();
        },
      },
    );
    expect(
      await running.then(
        () => "done",
        (error: Error) => error.name,
      ),
    ).toBe("AbortError");
    expect(pieces).toBe(1);
  });
});

/** Between the last sample of a piece and the first of the next. */
function largestJump(pieces: readonly Int16Array[]): number {
  const jumps = pieces
    .slice(1)
    .map((piece, index) => Math.abs((piece[0] ?? 0) - (pieces[index]?.at(-1) ?? 0)));
  return Math.max(...jumps) / 32_768;
}

describe("pro", () => {
  test("speaks a paragraph at once and joins paragraphs without a click", async () => {
    const pieces = await piecesOf({
      text: "It rained. We stayed.\n\nThe sun came out.",
      voice: "Fenrir",
      style: "pro",
    });
    expect(pieces.length).toBe(2);
    expect(largestJump(pieces)).toBeLessThan(0.01);
    for (const piece of pieces)
      expect(Math.abs(loudness(join16([piece])) - targetLufs)).toBeLessThan(1);
  });
});

describe("a text that cannot be spoken", () => {
  const refusal = async (text: string) => {
    const error = await piecesOf({ text, voice: "Puck", style: "flash" }).catch(
      (reason: unknown) => reason,
    );
    return error instanceof EngineError ? `${error.status} ${error.param}` : String(error);
  };

  test.each(["", "...", "🙂", "你好"])("is refused: %j", async (text) => {
    expect(await refusal(text)).toBe("400 input");
  });

  test("is refused when it is too long", async () => {
    expect(await refusal("🙂".repeat(5001))).toBe("400 input");
  });
});

test("says that the model failed rather than give silence for broken sound", async () => {
  const broken = await mkdtemp(join(tmpdir(), "speech-"));
  try {
    await symlink(join(dir, modelFiles.speech), join(broken, modelFiles.speech));
    await mkdir(join(broken, "voices"));
    const style = new Uint8Array(new Float32Array(510 * 256).fill(Number.NaN).buffer);
    for (const name of ["af_kore", "am_puck", "am_onyx", "am_fenrir", "af_aoede"])
      await writeFile(join(broken, "voices", `${name}.bin`), style);
    const model = await loadSpeech({ dir: broken });
    const { signal } = new AbortController();
    const emitted: Int16Array[] = [];
    const running = model.run(
      { text: "Hello there.", voice: "Kore", style: "flash" },
      { signal, emit: (piece) => emitted.push(piece) },
    );
    expect(
      await running.then(
        () => 200,
        (error: EngineError) => error.status,
      ),
    ).toBe(500);
    expect(emitted).toEqual([]);
  } finally {
    await rm(broken, { recursive: true });
  }
});
