import type { JsonObject } from "../../call/chat.ts";
import { isJsonObject } from "../../call/chat.ts";
import type { UpstreamModel } from "../contract.ts";
import { toCount } from "../kit/count.ts";
import { objectsOf, withoutFolder } from "./wire.ts";

export interface ModelPage {
  readonly models: readonly UpstreamModel[];
  readonly nextToken: string | undefined;
}

export function fromModelPage(reply: unknown): ModelPage {
  const { models, nextPageToken: token }: JsonObject = isJsonObject(reply) ? reply : {};
  return {
    models: objectsOf(models).flatMap((model) => toModel(model) ?? []),
    nextToken: typeof token === "string" && token !== "" ? token : undefined,
  };
}

function toModel(fields: JsonObject): UpstreamModel | undefined {
  const { name, supportedGenerationMethods: methods, outputTokenLimit } = fields;
  if (typeof name !== "string") return undefined;
  const id = withoutFolder(name);
  const can = (method: string) => Array.isArray(methods) && methods.includes(method);
  if (can("embedContent") || can("batchEmbedContents"))
    return { id, endpoint: "embeddings", input: "text" };
  if (!can("generateContent")) return { id };
  // The list does not tell what an answer is made of; the names of those that speak do.
  if (/(^|-)tts(-|$)/.test(id)) return { id, endpoint: "speech" };
  const maxOutputTokens = toCount(outputTokenLimit);
  return { id, endpoint: "chat", ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
}
