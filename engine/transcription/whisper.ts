/**
 * Whisper: writes down up to thirty seconds of speech at a time, with the times of its segments.
 *
 * Greedy decoding under Whisper's own rules for timestamps: they come in pairs, never go back, and
 * win where they are likelier together than any word.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { openOnnx } from "../onnx.ts";
import { melBands, melFrames, melRate } from "./log-mel.ts";
import { resample } from "./resample.ts";

/** What the model hears at once. */
export const windowS = 30;
const frames = 3000;
const heads = 8;
const headSize = 64;
const layers = 6;
const longestAnswer = 220;

const token = {
  end: 50257,
  start: 50258,
  transcribe: 50359,
  noSpeech: 50362,
  noTimestamps: 50363,
  firstTimestamp: 50364,
} as const;
const secondsPerTimestamp = 0.02;
/** A segment begins within the first second. */
const latestStart = 50;
const lastTimestamp = token.firstTimestamp + windowS / secondsPerTimestamp;

export interface WindowSegment {
  /** From the start of the window. */
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
}

export interface HeardWindow {
  readonly segments: readonly WindowSegment[];
  /** Where the next window begins: behind the last segment that is whole. */
  readonly nextS: number;
  readonly language: string;
}

export interface Recognizer {
  /** The text of at most thirty seconds of English, for checks. */
  hear(samples: Float32Array, rate: number): Promise<string>;
  /** At most thirty seconds of 16 kHz samples; detects the language where none is given. */
  hearWindow(samples: Float32Array, language: string | undefined): Promise<HeardWindow>;
  /** By code, such as `en`. */
  readonly languages: ReadonlySet<string>;
}

interface Whisper {
  readonly encoder: InferenceSession;
  readonly decoder: InferenceSession;
  readonly suppressed: ReadonlySet<number>;
  /** Their tokens by code. */
  readonly languages: ReadonlyMap<string, number>;
  readonly decode: (ids: readonly number[]) => string;
}

export async function loadRecognizer(dir: string): Promise<Recognizer> {
  const json = async (name: string) =>
    JSON.parse(await readFile(join(dir, name), "utf8")) as object;
  const [encoder, decoder, tokens, config, generation] = await Promise.all([
    openOnnx(join(dir, "onnx", "encoder_model_quantized.onnx")),
    openOnnx(join(dir, "onnx", "decoder_model_merged_quantized.onnx")),
    json("tokenizer.json"),
    json("tokenizer_config.json"),
    json("generation_config.json"),
  ]);
  const tokenizer = new Tokenizer(tokens, config);
  const { suppress_tokens: suppressed, lang_to_id: languages } = generation as {
    readonly suppress_tokens: number[];
    readonly lang_to_id: Readonly<Record<string, number>>;
  };
  const whisper: Whisper = {
    encoder,
    decoder,
    suppressed: new Set(suppressed),
    languages: new Map(
      Object.entries(languages).map(([name, id]) => [name.replace(/^<\||\|>$/g, ""), id]),
    ),
    decode: (ids) => tokenizer.decode([...ids], { skip_special_tokens: true }),
  };
  return {
    languages: new Set(whisper.languages.keys()),
    async hear(samples, rate) {
      const heard = resample(samples, rate, melRate);
      const { segments } = await hearWindow(whisper, heard, "en");
      return segments
        .map(({ text }) => text)
        .join("")
        .trim();
    },
    hearWindow: (samples, language) => hearWindow(whisper, samples, language),
  };
}

async function hearWindow(
  whisper: Whisper,
  samples: Float32Array,
  wanted: string | undefined,
): Promise<HeardWindow> {
  const { last_hidden_state: hidden } = await whisper.encoder.run(
    { input_features: toFeatures(samples) },
    // Its attention maps, half a gigabyte a sentence, are of no use here.
    ["last_hidden_state"],
  );
  if (hidden === undefined) throw new Error("The recognizer's encoder gave nothing.");
  const lengthS = samples.length / melRate;
  const language = wanted ?? (await detectLanguage(whisper, hidden as Tensor));
  const languageId = whisper.languages.get(language);
  if (languageId === undefined) throw new Error(`The recognizer does not know ${language}.`);
  const said = await transcribe(whisper, hidden as Tensor, languageId);
  if (said === undefined) return { segments: [], nextS: lengthS, language };
  return { ...toSegments(whisper, said, lengthS), language };
}

/** Thirty seconds of log energies, scaled the way the model was trained. */
function toFeatures(samples: Float32Array): Tensor {
  const rows = melFrames(samples).slice(0, frames);
  const values = new Float32Array(melBands * frames).fill(-10);
  let loudest = -10;
  rows.forEach((row, frame) => {
    row.forEach((energy, band) => {
      const log = Math.log10(Math.max(energy, 1e-10));
      loudest = Math.max(loudest, log);
      values[band * frames + frame] = log;
    });
  });
  const scaled = values.map((value) => (Math.max(value, loudest - 8) + 4) / 4);
  return new Tensor("float32", scaled, [1, melBands, frames]);
}

async function detectLanguage(whisper: Whisper, hidden: Tensor): Promise<string> {
  const { rows } = await step(whisper, { hidden, input: [token.start], past: undefined });
  const logits = rows.at(-1);
  let best = "en";
  let highest = Number.NEGATIVE_INFINITY;
  for (const [code, id] of whisper.languages) {
    const value = logits?.[id] ?? Number.NEGATIVE_INFINITY;
    if (value > highest) {
      highest = value;
      best = code;
    }
  }
  return best;
}

/** Surer than this that nobody speaks, and of no word: it is silence, and words would be made up. */
const silence = { noSpeech: 0.6, meanLog: -1 };

/** Undefined: nobody speaks. */
async function transcribe(
  whisper: Whisper,
  hidden: Tensor,
  languageId: number,
): Promise<readonly number[] | undefined> {
  let input: readonly number[] = [token.start, languageId, token.transcribe];
  let past: Past | undefined;
  let noSpeech = 0;
  let sumLog = 0;
  const said: number[] = [];
  while (said.length < longestAnswer) {
    const { rows, next } = await step(whisper, { hidden, input, past });
    const logits = rows.at(-1);
    if (logits === undefined) throw new Error("The recognizer's decoder gave nothing.");
    if (past === undefined) noSpeech = probability(rows[0] ?? logits, token.noSpeech);
    const chosen = bestToken(logits, said, whisper.suppressed);
    sumLog += chosen.log;
    if (chosen.id === token.end) break;
    said.push(chosen.id);
    input = [chosen.id];
    past = next;
  }
  const meanLog = sumLog / (said.length + 1);
  return noSpeech > silence.noSpeech && meanLog < silence.meanLog ? undefined : said;
}

function toSegments(
  { decode }: Whisper,
  said: readonly number[],
  lengthS: number,
): Pick<HeardWindow, "segments" | "nextS"> {
  const timeOf = (id: number) =>
    Math.min(lengthS, (id - token.firstTimestamp) * secondsPerTimestamp);
  const segments: WindowSegment[] = [];
  let startS = 0;
  let words: number[] = [];
  let nextS = lengthS;
  for (const [at, id] of said.entries()) {
    if (id < token.firstTimestamp) {
      words.push(id);
      continue;
    }
    const text = words.length === 0 ? "" : decode(words);
    if (text.trim() !== "") segments.push({ startS, endS: Math.max(startS, timeOf(id)), text });
    words = [];
    startS = timeOf(id);
    // An end and a start together: the next segment goes on beyond what was heard.
    const isPair = (said[at - 1] ?? 0) >= token.firstTimestamp;
    if (isPair && at === said.length - 1) nextS = startS;
  }
  const rest = words.length === 0 ? "" : decode(words);
  if (rest.trim() !== "") segments.push({ startS, endS: Math.max(startS, lengthS), text: rest });
  // A window that is not full is the last one.
  const isLast = lengthS < windowS - 0.01;
  return { segments, nextS: isLast || nextS < 1 ? lengthS : nextS };
}

type Past = Record<string, Tensor>;

interface Step {
  readonly hidden: Tensor;
  readonly input: readonly number[];
  readonly past: Past | undefined;
}

async function step(
  { decoder }: Whisper,
  { hidden, input, past }: Step,
): Promise<{ readonly rows: readonly Float32Array[]; readonly next: Past }> {
  const before = past ?? emptyPast();
  const output = await decoder.run(
    {
      input_ids: new Tensor("int64", BigInt64Array.from(input, BigInt), [1, input.length]),
      encoder_hidden_states: hidden,
      use_cache_branch: new Tensor("bool", [past !== undefined], [1]),
      ...before,
    },
    ["logits", ...cacheNames().map((name) => `present.${name}`)],
  );
  const logits = output["logits"];
  if (logits === undefined) throw new Error("The recognizer's decoder gave nothing.");
  const size = logits.dims.at(-1) ?? 0;
  const data = logits.data as Float32Array;
  const rows = input.map((_, at) => data.subarray(at * size, (at + 1) * size));
  return { rows, next: nextPast(output, before, past === undefined) };
}

function emptyPast(): Past {
  const past: Past = {};
  for (const name of cacheNames()) {
    past[`past_key_values.${name}`] = new Tensor("float32", new Float32Array(0), [
      1,
      heads,
      0,
      headSize,
    ]);
  }
  return past;
}

/** What the decoder keeps of the sound is computed once, on its first step. */
function nextPast(output: InferenceSession.OnnxValueMapType, past: Past, first: boolean): Past {
  const next: Past = {};
  for (const name of cacheNames()) {
    const key = `past_key_values.${name}`;
    const kept = first || name.includes("decoder") ? output[`present.${name}`] : past[key];
    if (kept === undefined) throw new Error(`The recognizer's decoder gave no ${name}.`);
    next[key] = kept as Tensor;
  }
  return next;
}

function cacheNames(): string[] {
  return Array.from({ length: layers }, (_, layer) =>
    ["decoder.key", "decoder.value", "encoder.key", "encoder.value"].map(
      (part) => `${layer}.${part}`,
    ),
  ).flat();
}

interface Chosen {
  readonly id: number;
  /** Of its probability. */
  readonly log: number;
}

function bestToken(
  logits: Float32Array,
  said: readonly number[],
  suppressed: ReadonlySet<number>,
): Chosen {
  const isTime = (id: number | undefined) => id !== undefined && id >= token.firstTimestamp;
  const first = said.length === 0;
  const wasTime = isTime(said.at(-1));
  const wasPair = wasTime && (said.length < 2 || isTime(said.at(-2)));
  const latest = said.findLast((id) => id >= token.firstTimestamp) ?? token.firstTimestamp;
  // A segment is never empty, so its end is later than its start.
  const earliest = wasTime && !wasPair ? latest : latest + (first || wasPair ? 0 : 1);
  const upTo = first ? token.firstTimestamp + latestStart : lastTimestamp;
  let text: Chosen = { id: token.end, log: Number.NEGATIVE_INFINITY };
  let time: Chosen = { id: earliest, log: Number.NEGATIVE_INFINITY };
  let times = 0;
  const sum = logSum(logits);
  if (!first && !(wasTime && !wasPair))
    for (let id = 0; id < token.end; id++)
      if (!suppressed.has(id) && (logits[id] ?? 0) - sum > text.log)
        text = { id, log: (logits[id] ?? 0) - sum };
  const endLog = (logits[token.end] ?? 0) - sum;
  if (!first && endLog > text.log) text = { id: token.end, log: endLog };
  if (first || !wasPair)
    for (let id = earliest; id <= upTo; id++) {
      const log = (logits[id] ?? 0) - sum;
      times += Math.exp(log);
      if (log > time.log) time = { id, log };
    }
  return Math.log(times) > text.log ? time : text;
}

function probability(logits: Float32Array, id: number): number {
  return Math.exp((logits[id] ?? 0) - logSum(logits));
}

function logSum(logits: Float32Array): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const value of logits) if (value > highest) highest = value;
  let sum = 0;
  for (const value of logits) sum += Math.exp(value - highest);
  return highest + Math.log(sum);
}
