import type { Signal } from "../../call/signal.ts";
import type { Provider, UpstreamModel } from "../contract.ts";
import type { Dialer } from "../kit/dial.ts";
import { baseHeaders, send, toBody } from "../kit/http.ts";
import { LengthMemory } from "../kit/length-memory.ts";
import { readJson } from "../kit/reply.ts";
import { createGenerateCalls, type GenerateSending } from "./chat/generate.ts";
import { fromEmbedReply, toEmbedRequest } from "./embeddings.ts";
import { fromModelPage } from "./models.ts";
import { withoutFolder } from "./wire.ts";

export interface GeminiOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly dialer: Dialer;
}

/** More than any vendor has; one that turns its pages forever is not followed. */
const mostModels = 2_000;
const mostPages = 20;

export function createGeminiProvider({ name, baseUrl, apiKey, dialer }: GeminiOptions): Provider {
  const pin = dialer.pin(baseUrl);
  // In a header: an address is kept in logs.
  const key = apiKey === undefined ? {} : { "x-goog-api-key": apiKey };
  const headers = new Headers({ ...baseHeaders(pin), ...key });
  const base = new URL(baseUrl).pathname.replace(/\/+$/, "");
  const post = (path: string, body: string, { signal, onAccepted, onDial }: GenerateSending) =>
    send({ provider: name, pin, path: base + path, headers, body, signal, onAccepted, onDial });
  const lengths = new LengthMemory();
  const readPage = async (token: string | undefined, signal: Signal) => {
    const next = token === undefined ? "" : `&pageToken=${encodeURIComponent(token)}`;
    const path = `${base}/models?pageSize=1000${next}`;
    const response = await send({ provider: name, pin, path, headers, signal });
    return fromModelPage(await readJson(response, { provider: name, signal }));
  };

  return {
    name,
    ...createGenerateCalls({
      name,
      hasCallIds: true,
      send({ model, method, body, call }) {
        const query = method === "streamGenerateContent" ? "?alt=sse" : "";
        return post(`${pathOf(model)}:${method}${query}`, body, call);
      },
    }),
    embed(options) {
      const { call, target, signal } = options;
      const { model } = target;
      return lengths.ask({ call, model }, async (dimensions) => {
        const { method, body, expected } = toEmbedRequest({ ...call, dimensions }, model);
        const response = await post(`${pathOf(model)}:${method}`, toBody(body), options);
        const reply = await readJson(response, { provider: name, signal });
        return fromEmbedReply(reply, { expected, provider: name });
      });
    },
    async listModels(signal) {
      const models: UpstreamModel[] = [];
      let token: string | undefined;
      for (let page = 0; page < mostPages; page++) {
        const { models: found, nextToken } = await readPage(token, signal);
        models.push(...found);
        token = nextToken;
        if (token === undefined || models.length >= mostModels) break;
      }
      return models.slice(0, mostModels);
    },
  };
}

function pathOf(model: string): string {
  return `/models/${encodeURIComponent(withoutFolder(model))}`;
}
