import { type ChatCall, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { toThinkingConfig } from "./generation.ts";

/** Ours, and what they are called there. */
const sameValue = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
} as const;

/** Some models refuse a penalty of any size, and some clients send 0 where they mean none. */
const penalties = {
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
} as const;

/** Seeds are 32 bits there. */
const seedRange = 2 ** 31;

/** Of our fields, those that the vendor has a word for; the others are left out. */
export function toGenerationConfig(call: ChatCall, model: string): JsonObject | undefined {
  const { options, maxOutputTokens } = call;
  const config: Record<string, Json | undefined> = {};
  if (maxOutputTokens !== undefined) config["maxOutputTokens"] = maxOutputTokens;
  for (const [ours, theirs] of Object.entries(sameValue)) {
    const value = options[ours];
    if (typeof value === "number") config[theirs] = value;
  }
  for (const [ours, theirs] of Object.entries(penalties)) {
    const value = options[ours];
    if (typeof value === "number" && value !== 0) config[theirs] = value;
  }
  const { seed, n, stop, logprobs, top_logprobs: top, response_format: form } = options;
  if (typeof seed === "number") config["seed"] = seed % seedRange;
  if (typeof n === "number" && n > 1) config["candidateCount"] = n;
  const stops = (typeof stop === "string" ? [stop] : (stop ?? [])) as readonly Json[];
  const stopSequences = stops.filter((word) => typeof word === "string" && word !== "");
  if (stopSequences.length > 0) config["stopSequences"] = stopSequences;
  if (logprobs === true) {
    config["responseLogprobs"] = true;
    if (typeof top === "number" && top > 0) config["logprobs"] = top;
  }
  addForm(config, form);
  const thinkingConfig = toThinkingConfig(call, model);
  if (thinkingConfig !== undefined) config["thinkingConfig"] = thinkingConfig;
  return Object.keys(config).length === 0 ? undefined : config;
}

function addForm(config: Record<string, Json | undefined>, form: Json | undefined): void {
  if (!isJsonObject(form)) return;
  const { type, json_schema: given } = form;
  if (type !== "json_object" && type !== "json_schema") return;
  config["responseMimeType"] = "application/json";
  const schema = isJsonObject(given) ? given["schema"] : undefined;
  if (type === "json_schema" && isJsonObject(schema)) config["responseJsonSchema"] = schema;
}
