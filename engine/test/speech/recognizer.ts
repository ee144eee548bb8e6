/** Whisper, run to hear whether our speech can be understood. Only the check uses it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { openOnnx } from "../../onnx.ts";
import { melBands, melFrames, melRate, resample } from "./log-mel.ts";

const frames = 3000;
const heads = 8;
const headSize = 64;
const layers = 6;
const longestAnswer = 200;

// Start of transcript, English, transcribe, no timestamps.
const prompt = [50258, 50259, 50359, 50363];
const end = 50257;
const firstSpecial = 50257;

export interface Recognizer {
  hear(samples: Float32Array, rate: number): Promise<string>;
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
  const suppressed = new Set((generation as { suppress_tokens: number[] }).suppress_tokens);
  return {
    async hear(samples, rate) {
      const ids = await transcribe({
        encoder,
        decoder,
        suppressed,
        features: toFeatures(samples, rate),
      });
      return tokenizer.decode(ids, { skip_special_tokens: true }).trim();
    },
  };
}

/** Thirty seconds of log energies, scaled the way the model was trained. */
function toFeatures(samples: Float32Array, rate: number): Tensor {
  const rows = melFrames(resample(samples, rate, melRate)).slice(0, frames);
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

async function transcribe({
  encoder,
  decoder,
  suppressed,
  features,
}: {
  readonly encoder: InferenceSession;
  readonly decoder: InferenceSession;
  readonly suppressed: ReadonlySet<number>;
  readonly features: Tensor;
}): Promise<number[]> {
  const { last_hidden_state: hidden } = await encoder.run(
    { input_features: features },
    // Its attention maps, half a gigabyte a sentence, are of no use here.
    ["last_hidden_state"],
  );
  if (hidden === undefined) throw new Error("The recognizer's encoder gave nothing.");
  let past = emptyPast();
  let input = prompt;
  const heard: number[] = [];
  while (heard.length < longestAnswer) {
    const first = heard.length === 0;
    const output = await decoder.run(
      {
        input_ids: new Tensor("int64", BigInt64Array.from(input, BigInt), [1, input.length]),
        encoder_hidden_states: hidden,
        use_cache_branch: new Tensor("bool", [!first], [1]),
        ...past,
      },
      ["logits", ...cacheNames().map((name) => `present.${name}`)],
    );
    const next = bestToken(output["logits"], first, suppressed);
    if (next === end) break;
    heard.push(next);
    input = [next];
    past = nextPast(output, past, first);
  }
  return heard;
}

type Past = Record<string, Tensor>;

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

function bestToken(
  logits: InferenceSession.OnnxValueMapType[string] | undefined,
  first: boolean,
  suppressed: ReadonlySet<number>,
): number {
  if (logits === undefined) throw new Error("The recognizer's decoder gave nothing.");
  const size = logits.dims.at(-1) ?? 0;
  const last = (logits.data as Float32Array).subarray(-size);
  let best = end;
  let highest = Number.NEGATIVE_INFINITY;
  last.forEach((value, id) => {
    const allowed =
      id === end ? !first : id < firstSpecial && !suppressed.has(id) && !(first && id === 220);
    if (allowed && value > highest) {
      highest = value;
      best = id;
    }
  });
  return best;
}
