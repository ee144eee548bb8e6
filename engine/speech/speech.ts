/**
 * Speech from Kokoro. Text becomes spoken words (normalize.ts), then phonemes (phonemes.ts) in pieces
 * that the model takes at once (split.ts); each piece is synthesised, cleaned (audio.ts) and emitted
 * before the next one starts. A text with nothing to speak is refused, not answered with silence.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import {
  EngineError,
  type Model,
  type RunContext,
  type SpeechJob,
  type SpeechPiece,
  type SpeechResult,
  type VoiceName,
  voiceNames,
} from "../contract.ts";
import { openOnnx } from "../onnx.ts";
import { modelFiles } from "../weights/sets.ts";
import { isSound, toInt16, trim } from "./audio.ts";
import { gainToTarget } from "./loudness.ts";
import { maximumSymbols, toSymbolIds } from "./phonemes/vocabulary.ts";
import { type Boundary, type Piece, toPieces } from "./split.ts";

export const maximumCodePoints = 5000;

/** Kokoro has no Charon; Onyx is the deep voice nearest to it. */
const voiceFiles: Readonly<Record<VoiceName, string>> = {
  Kore: "af_kore",
  Puck: "am_puck",
  Charon: "am_onyx",
  Fenrir: "am_fenrir",
  Aoede: "af_aoede",
};

const pauseMs: Readonly<Record<Boundary, number>> = {
  clause: 90,
  sentence: 280,
  paragraph: 650,
  end: 0,
};

/** The model swallows a word or two on its own unless it speaks more slowly. */
const shortSymbols = 20;
const tinySymbols = 6;
const tinySpeed = 0.85;

/** Each voice file holds one style for every length of input, from one symbol on. */
const styleSize = 256;
const styleCount = 510;

export async function loadSpeech({
  dir,
}: {
  readonly dir: string;
}): Promise<Model<SpeechJob, SpeechPiece, SpeechResult>> {
  const [session, voices] = await Promise.all([
    openOnnx(join(dir, modelFiles.speech)),
    loadVoices(dir),
  ]);
  return { run: (job, context) => speak({ session, voices, job, context }) };
}

type Voices = ReadonlyMap<VoiceName, Float32Array>;

async function loadVoices(dir: string): Promise<Voices> {
  const entries = await Promise.all(
    voiceNames.map(async (name) => {
      const bytes = await readFile(join(dir, "voices", `${voiceFiles[name]}.bin`));
      if (bytes.length !== styleCount * styleSize * 4) {
        throw new Error(`The voice file of ${name} has the wrong size (${bytes.length} bytes).`);
      }
      return [name, new Float32Array(Uint8Array.from(bytes).buffer)] as const;
    }),
  );
  return new Map(entries);
}

interface Speaking {
  readonly session: InferenceSession;
  readonly voices: Voices;
  readonly job: SpeechJob;
  readonly context: RunContext<SpeechPiece>;
}

async function speak({ session, voices, job, context }: Speaking): Promise<SpeechResult> {
  const voice = voices.get(job.voice);
  if (voice === undefined) throw new Error(`Voice ${job.voice} does not exist.`);
  let samples = 0;
  for (const piece of piecesOf(job)) {
    // The runtime blocks while it computes: between pieces the caller's leaving can be heard.
    await setImmediate();
    context.signal.throwIfAborted();
    const sound = await synthesise({ session, voice, piece });
    const gain = job.style === "pro" ? gainToTarget(sound) : 1;
    const out = toInt16({ samples: sound, gain, pauseMs: pauseMs[piece.boundary] });
    context.emit(out);
    samples += out.length;
  }
  return { samples };
}

function piecesOf({ text, style }: SpeechJob): Piece[] {
  if ([...text].length > maximumCodePoints) {
    throw new EngineError({
      message: `input must not be longer than ${maximumCodePoints} characters.`,
      param: "input",
    });
  }
  const pieces = toPieces(text, style);
  if (pieces.length > 0) return pieces;
  throw new EngineError({
    message: "input must contain at least one word or number that the voices can read.",
    param: "input",
  });
}

async function synthesise({
  session,
  voice,
  piece,
}: {
  readonly session: InferenceSession;
  readonly voice: Float32Array;
  readonly piece: Piece;
}): Promise<Float32Array> {
  const ids = toSymbolIds(piece.phonemes);
  if (ids.length > maximumSymbols) throw new Error(`A piece has ${ids.length} symbols.`);
  const style = voice.slice((ids.length - 1) * styleSize, ids.length * styleSize);
  const { waveform } = await session.run({
    input_ids: new Tensor("int64", BigInt64Array.from([0, ...ids, 0], BigInt), [1, ids.length + 2]),
    style: new Tensor("float32", style, [1, styleSize]),
    speed: new Tensor("float32", Float32Array.of(speedOf(ids.length)), [1]),
  });
  const data = waveform?.data;
  if (!(data instanceof Float32Array) || data.length === 0 || !isSound(data)) {
    throw new EngineError({
      status: 500,
      code: "speech_failed",
      message: "The speech model produced no usable audio for this text.",
    });
  }
  return trim(data);
}

function speedOf(symbols: number): number {
  const share = (symbols - tinySymbols) / (shortSymbols - tinySymbols);
  return tinySpeed + (1 - tinySpeed) * Math.min(1, Math.max(0, share));
}
