import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { Tensor } from "onnxruntime-node";
import type { Model, RunContext, TextJob, TextResult } from "../contract.ts";
import { openOnnx } from "../onnx.ts";
import { createLift } from "./lift.ts";

const modelSize = 384;
/** The length the model was made for; what is beyond is cut. */
const maxTokens = 256;
/** More than any 256 tokens can hold of real text; a megabyte would only keep the tokenizer busy. */
const maxCharacters = 32_768;

/** MiniLM-L6-v2: the mean of its token vectors, lifted to the size that was asked for. */
export async function loadText({
  dir,
}: {
  readonly dir: string;
}): Promise<Model<TextJob, never, TextResult>> {
  const readJson = (name: string) => JSON.parse(readFileSync(join(dir, name), "utf8"));
  const tokenizer = new Tokenizer(readJson("tokenizer.json"), readJson("tokenizer_config.json"));
  const session = await openOnnx(join(dir, "model.onnx"));
  const lift = createLift(modelSize);

  const embed = async (ids: readonly number[]): Promise<Float32Array> => {
    const shape = [1, ids.length];
    const whole = (values: readonly number[]) =>
      new Tensor("int64", BigInt64Array.from(values, BigInt), shape);
    const output = await session.run({
      input_ids: whole(ids),
      attention_mask: whole(ids.map(() => 1)),
      token_type_ids: whole(ids.map(() => 0)),
    });
    const hidden = output["last_hidden_state"]?.data;
    if (!(hidden instanceof Float32Array)) throw new TypeError("the model returned no vectors");
    return meanOf(hidden, ids.length);
  };

  return {
    // One text after the other: the weights are quantised on the fly over a whole batch, so that
    // a text's vector would depend on its neighbors.
    async run({ texts, dimensions }: TextJob, { signal }: RunContext<never>): Promise<TextResult> {
      const vectors: Float32Array[] = [];
      let tokens = 0;
      for (const text of texts) {
        signal.throwIfAborted();
        const ids = cut(tokenizer.encode(text.slice(0, maxCharacters)).ids);
        tokens += ids.length;
        vectors.push(lift(await embed(ids), dimensions));
      }
      return { vectors, tokens };
    },
  };
}

/** Keeps the closing mark, which the model expects at the end. */
function cut(ids: readonly number[]): readonly number[] {
  const last = ids.at(-1);
  return ids.length <= maxTokens || last === undefined
    ? ids
    : [...ids.slice(0, maxTokens - 1), last];
}

function meanOf(hidden: Float32Array, rows: number): Float32Array {
  const mean = new Float32Array(modelSize);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < modelSize; column++)
      mean[column] = (mean[column] ?? 0) + (hidden[row * modelSize + column] ?? 0) / rows;
  return mean;
}
