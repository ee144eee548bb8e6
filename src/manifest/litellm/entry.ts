import type { Endpoint, InputKind } from "../../call/endpoint.ts";
import { type PriceTexts, readCosts } from "./price.ts";
import type { Secret } from "./secret.ts";
import type { Remarks, Source } from "./source.ts";
import { readTarget, type Target } from "./target.ts";
import { splitModel } from "./vendors.ts";

/** One entry of `model_list` that this gateway can serve. */
export interface Entry {
  readonly name: string;
  readonly line: number;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly target: Target;
  readonly costs: PriceTexts;
  readonly source: Source;
  readonly params: Source;
  readonly info: Source;
}

export interface EntryParts {
  readonly remarks: Remarks;
  readonly secret: Secret;
  readonly variable: (name: string) => string | undefined;
  /** Of `credential_list`, by name. */
  readonly credentials: ReadonlyMap<string, Source>;
}

/** Undefined where it cannot be taken over; that is told. */
export function readEntry(source: Source, parts: EntryParts): Entry | undefined {
  const { remarks } = parts;
  const name = source.text("model_name");
  const own = source.inner("litellm_params");
  const info = source.inner("model_info");
  const written = own.text("model");
  if (name === undefined || written === undefined) {
    const lacking = name === undefined ? "model_name" : "litellm_params.model";
    remarks.problem(source.line(), `an entry of model_list has no ${lacking}`);
    return undefined;
  }
  const line = source.line("model_name");
  const refusal = refusalOf(name, written);
  if (refusal !== undefined) {
    remarks.note(line, refusal);
    return undefined;
  }
  const params = withCredentials(own, parts);
  const named = splitModel(written, params.text("custom_llm_provider"));
  const use = readUse({ name, model: named.model, info, line, remarks });
  if (use === undefined) return undefined;
  const target = readTarget({ ...parts, params, named });
  const costs = readCosts({ sources: [params, info], ...use, remarks });
  return target === undefined
    ? undefined
    : { name, line, ...use, target, costs, source, params, info };
}

function refusalOf(name: string, model: string): string | undefined {
  if (name.includes("*") || model.includes("*"))
    return `${name} stands for any model of ${model}: name each model that you serve; svc provider add lists what a vendor has`;
  return /^[A-Za-z0-9][\w.:/@-]{0,127}$/.test(name)
    ? undefined
    : `${name} is not taken over: a model's name has letters, digits and . _ : / @ - here`;
}

function withCredentials(params: Source, { credentials, remarks }: EntryParts): Source {
  const name = params.text("litellm_credential_name");
  if (name === undefined) return params;
  const found = credentials.get(name);
  if (found === undefined)
    remarks.problem(
      params.line("litellm_credential_name"),
      `credential_list has no credential ${name}`,
    );
  const merged = found === undefined ? params : params.with(found);
  merged.use("model", "litellm_credential_name");
  return merged;
}

type Use = Pick<Entry, "endpoint" | "input">;

/** What the model is for: as the file says, else as its name does. */
function readUse(options: {
  readonly name: string;
  readonly model: string;
  readonly info: Source;
  readonly line: number;
  readonly remarks: Remarks;
}): Use | undefined {
  const { name, model, info, line, remarks } = options;
  const mode = info.text("mode");
  const isMedia = model.startsWith("multimodalembedding");
  switch (mode ?? guessMode(model)) {
    case "chat":
      return { endpoint: "chat", input: "text" };
    case "responses":
    case "completion":
      remarks.note(line, `${name} is of mode ${mode}: it is taken over as a chat model`);
      return { endpoint: "chat", input: "text" };
    case "embedding":
      if (mode === undefined)
        remarks.note(line, `${name} has no mode: it is taken for an embeddings model by its name`);
      return { endpoint: "embeddings", input: isMedia ? "media" : "text" };
    case "audio_speech":
      if (mode === undefined)
        remarks.note(line, `${name} has no mode: it is taken for a speech model by its name`);
      return { endpoint: "speech", input: "text" };
    default:
      remarks.note(
        line,
        `${name} is not taken over: this gateway serves chat, embeddings and speech, not ${mode ?? guessMode(model)}`,
      );
      return undefined;
  }
}

const signs: readonly (readonly [RegExp, string])[] = [
  [/rerank/i, "rerank"],
  [/whisper|transcri/i, "audio_transcription"],
  [/dall-e|gpt-image|imagen|flux|stable-diffusion/i, "image_generation"],
  [/moderation/i, "moderation"],
  [/realtime/i, "realtime"],
  [/embed|(^|[-/])(bge|e5|gte)-/i, "embedding"],
  [/(^|[-/])tts(-|$)/i, "audio_speech"],
];

function guessMode(model: string): string {
  return signs.find(([sign]) => sign.test(model))?.[1] ?? "chat";
}

/** Once all have read what they know of it: the rest, in one line. */
export function noteUnused({ name, source, params, info }: Entry, remarks: Remarks): void {
  const left = [
    ...source.unused(),
    ...params.unused(),
    ...info.unused().map((field) => `model_info.${field}`),
  ];
  if (left.length > 0) remarks.note(params.line(), `${name}: not taken over: ${left.join(", ")}`);
}
