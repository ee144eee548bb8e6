import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { Endpoint } from "../../call/endpoint.ts";
import type { UpstreamModel } from "../contract.ts";
import { upstreamError } from "../kit/failure.ts";

/** More than anybody offers; what is beyond is left out. */
const mostModels = 2_000;
const longestName = 300;

/** The models of a list, each once, in the order in which the server tells them. */
export function fromOpenAiModels(reply: unknown, provider: string): readonly UpstreamModel[] {
  const rows = rowsOf(reply);
  if (rows === undefined)
    throw upstreamError("upstream_error", { detail: `${provider} did not send a list of models` });
  const models = new Map<string, UpstreamModel>();
  for (const row of rows) {
    const model = toModel(row);
    if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
    if (models.size === mostModels) break;
  }
  return [...models.values()];
}

/** Under `data`, or `models`, or bare; a server without models may say null. */
function rowsOf(reply: unknown): readonly unknown[] | undefined {
  if (Array.isArray(reply)) return reply;
  if (!isJsonObject(reply)) return undefined;
  const { data, models } = reply;
  if (Array.isArray(data)) return data;
  if (Array.isArray(models)) return models;
  return data === null || models === null ? [] : undefined;
}

function toModel(row: unknown): UpstreamModel | undefined {
  const fields: JsonObject = isJsonObject(row) ? row : { id: typeof row === "string" ? row : null };
  const { id: named, name, model } = fields;
  const id = [named, model, name].find(isName);
  if (id === undefined) return undefined;
  const endpoint = endpointOf(fields);
  const maxOutputTokens = capOf(fields);
  return {
    id,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function isName(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= longestName;
}

const endpointsByWord: Readonly<Record<string, Endpoint>> = {
  chat: "chat",
  text: "chat",
  embedding: "embeddings",
  embeddings: "embeddings",
  audio: "speech",
  speech: "speech",
  transcription: "transcription",
};

/** Few servers tell what a model is for: by a word of its own, or by what comes out of it. */
function endpointOf({ type, architecture }: JsonObject): Endpoint | undefined {
  const outputs = isJsonObject(architecture) ? architecture["output_modalities"] : undefined;
  const words = [type, ...(Array.isArray(outputs) ? outputs : [])];
  for (const word of words)
    if (typeof word === "string" && Object.hasOwn(endpointsByWord, word))
      return endpointsByWord[word];
  return undefined;
}

function capOf({ max_completion_tokens: own, top_provider: best }: JsonObject) {
  const cap = own ?? (isJsonObject(best) ? best["max_completion_tokens"] : undefined);
  return typeof cap === "number" && Number.isSafeInteger(cap) && cap > 0 ? cap : undefined;
}
