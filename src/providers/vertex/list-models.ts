import { isJsonObject } from "../../call/chat.ts";
import type { Signal } from "../../call/signal.ts";
import type { UpstreamModel } from "../contract.ts";
import { readJson } from "../kit/reply.ts";
import type { VertexSend } from "./send.ts";

interface ListOptions {
  readonly name: string;
  readonly send: VertexSend;
  /** The path of the API's version. */
  readonly base: string;
}

const maxPages = 20;
/** More than anybody chooses from. */
const maxModels = 2_000;

/** The publisher's own list, which only the beta version has. It tells names, not what they do. */
export function createListModels({ name, send, base }: ListOptions) {
  const path = `${base.replace(/\/v1$/, "/v1beta1")}/publishers/google/models?pageSize=100`;
  return async (signal: Signal): Promise<readonly UpstreamModel[]> => {
    const found = new Map<string, UpstreamModel>();
    let page = "";
    for (let count = 0; count < maxPages; count++) {
      const request = { path: path + page, body: undefined, call: { signal } };
      const reply = await readJson(await send(request), { provider: name, signal });
      const { publisherModels: models, nextPageToken: next } = isJsonObject(reply) ? reply : {};
      for (const model of Array.isArray(models) ? models : []) {
        const id = toId(model);
        if (id !== undefined && found.size < maxModels) found.set(id, toModel(id));
      }
      if (typeof next !== "string" || next === "") break;
      page = `&pageToken=${encodeURIComponent(next)}`;
    }
    return [...found.values()];
  };
}

/** Older models are called with their version behind an @. */
function toId(model: unknown): string | undefined {
  const { name, versionId } = isJsonObject(model) ? model : {};
  const id =
    typeof name === "string" ? /^publishers\/google\/models\/([^/]+)$/.exec(name)?.[1] : undefined;
  if (id === undefined || id.includes("@")) return id;
  return typeof versionId === "string" && /^\d{3}$/.test(versionId) ? `${id}@${versionId}` : id;
}

function toModel(id: string): UpstreamModel {
  if (id.includes("embedding"))
    return { id, endpoint: "embeddings", input: id.startsWith("multimodal") ? "media" : "text" };
  if (!id.startsWith("gemini-")) return { id };
  if (id.includes("-tts")) return { id, endpoint: "speech" };
  return /-(live|image|audio)/.test(id) ? { id } : { id, endpoint: "chat" };
}
