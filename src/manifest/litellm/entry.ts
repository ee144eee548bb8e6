import { isReserved, reservedReference } from "../../base/reserved-variable.ts";
import type { Endpoint, InputKind } from "../../call/endpoint.ts";
import { type PriceTexts, readCosts } from "./price.ts";
import type { Remarks, Source } from "./source.ts";
import { readTarget, type Target, type TargetOptions, variableOf } from "./target.ts";
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

interface EntryOptions extends Omit<TargetOptions, "params" | "named"> {
  /** Of `credential_list`, by name. */
  readonly credentials: ReadonlyMap<string, Source>;
}

/** Undefined if it cannot be imported, with a note. */
export function readEntry(source: Source, options: EntryOptions): Entry | undefined {
  const { remarks } = options;
  const name = source.text("model_name");
  const own = source.inner("litellm_params");
  const info = source.inner("model_info");
  const written = own.text("model");
  if (name === undefined || written === undefined) {
    const lacking = name === undefined ? "model_name" : "litellm_params.model";
    remarks.problem(source.line(), `${lacking} is missing in an entry of model_list`);
    return undefined;
  }
  const line = source.line("model_name");
  const refusal = refusalOf(name, written);
  if (refusal !== undefined) {
    remarks.note(line, refusal);
    return undefined;
  }
  const params = withCredentials(own, options);
  if (!checkReferences(params, remarks)) return undefined;
  const named = splitModel(written, params.text("custom_llm_provider"));
  const use = readUse({ name, model: named.model, info, line, remarks });
  if (use === undefined) return undefined;
  const target = readTarget({ ...options, params, named });
  const costs = readCosts({ sources: [params, info], ...use, remarks });
  return target && { name, line, ...use, target, costs, source, params, info };
}

function refusalOf(name: string, model: string): string | undefined {
  if (name.includes("*") || model.includes("*"))
    return `${name} is a wildcard for ${model} and is not imported. Add each model by name; svc provider add lists the models of a vendor`;
  return /^[A-Za-z0-9][\w.:/@-]{0,127}$/.test(name)
    ? undefined
    : `${name} is not imported: model names may contain only letters, digits and . _ : / @ -`;
}

function withCredentials(params: Source, { credentials, remarks }: EntryOptions): Source {
  const field = "litellm_credential_name";
  const name = params.text(field);
  const found = name === undefined ? undefined : credentials.get(name);
  if (name !== undefined && found === undefined)
    remarks.problem(params.line(field), `credential "${name}" does not exist in credential_list`);
  const merged = found === undefined ? params : params.with(found);
  merged.use("model", field);
  return merged;
}

/**
 * The file may be another person's. A text in it is text, and never a reference of svc.yaml, which
 * could read a file or run a command; and it names no variable of the gateway's own.
 */
function checkReferences(params: Source, remarks: Remarks): boolean {
  const problems = params.ownTexts().flatMap(([field, text]) => {
    const line = params.line(field);
    const name = variableOf(text);
    if (text.includes("${"))
      return { line, text: `${field} must not contain \${: write os.environ/NAME for a variable` };
    if (name === undefined) return [];
    if (!/^[A-Za-z_]\w*$/.test(name))
      return { line, text: `${field} contains an invalid variable name` };
    return isReserved(name) ? { line, text: `${field} ${reservedReference}` } : [];
  });
  for (const { line, text } of problems) remarks.problem(line, text);
  return problems.length === 0;
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
  const given = info.text("mode");
  const mode = given ?? signs.find(([sign]) => sign.test(model))?.[1] ?? "chat";
  const endpoint = Object.hasOwn(endpointOf, mode) ? endpointOf[mode] : undefined;
  if (endpoint === undefined) {
    remarks.note(
      line,
      `${name} is not imported: the gateway serves chat, embeddings, speech and transcription, not ${mode}`,
    );
    return undefined;
  }
  if (given === undefined && endpoint !== "chat")
    remarks.note(line, `${name} has no mode; its name suggests ${endpoint}`);
  const isMedia = endpoint === "embeddings" && model.startsWith("multimodalembedding");
  return { endpoint, input: isMedia ? "media" : "text" };
}

const endpointOf: Readonly<Record<string, Endpoint>> = {
  chat: "chat",
  responses: "chat",
  completion: "chat",
  embedding: "embeddings",
  audio_speech: "speech",
  audio_transcription: "transcription",
};

const signs: readonly (readonly [RegExp, string])[] = [
  [/rerank/i, "rerank"],
  [/whisper|transcri/i, "audio_transcription"],
  [/dall-e|gpt-image|imagen|flux|stable-diffusion/i, "image_generation"],
  [/moderation/i, "moderation"],
  [/realtime/i, "realtime"],
  [/embed|(^|[-/])(bge|e5|gte)-/i, "embedding"],
  [/(^|[-/])tts(-|$)/i, "audio_speech"],
];

/** Once all have read what they know of it: the rest, in one line. */
export function noteUnused({ name, source, params, info }: Entry, remarks: Remarks): void {
  const left = [
    ...source.unused(),
    ...params.unused(),
    ...info.unused().map((field) => `model_info.${field}`),
  ];
  if (left.length > 0) remarks.note(params.line(), `${name}: not imported: ${left.join(", ")}`);
}
