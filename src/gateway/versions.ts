import { requestPath } from "../base/network/address.ts";
import { parseMessagesBody } from "../wire/v1/messages/exact-inputs.ts";
import type { GatewayDependencies } from "./dependencies.ts";
import { serveChatCompletions } from "./endpoints/chat/chat.ts";
import { serveCompletions } from "./endpoints/completions/completions.ts";
import { serveEmbeddings } from "./endpoints/embeddings/embeddings.ts";
import { serveCountTokens } from "./endpoints/messages/count-tokens.ts";
import { serveMessages } from "./endpoints/messages/messages.ts";
import { listModels, listVoices, showModel } from "./endpoints/models/models.ts";
import { serveResponses } from "./endpoints/responses/responses.ts";
import { manageResponse } from "./endpoints/responses/stored-response.ts";
import { serveSpeech } from "./endpoints/speech/speech.ts";
import { serveTranscription } from "./endpoints/transcription/transcription.ts";
import { modelEndpoint, type Work } from "./pipeline.ts";

export interface Endpoint {
  readonly methods: readonly string[];
  readonly work: Work;
  /** Answered also while this process does not know what the others have changed. */
  readonly isUngated?: boolean;
}

/** By path. One that ends in `/*` takes every path below it and finds the rest in `exchange.rest`. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** A version of the API: mounted by its prefix, so that the next can stand beside it. */
export interface ApiVersion {
  readonly prefix: string;
  readonly endpoints: (dependencies: GatewayDependencies) => Endpoints;
}

export const post = (work: Work): Endpoint => ({ methods: ["POST"], work });
export const get = (work: Work): Endpoint => ({ methods: ["GET", "HEAD"], work });

/** Version 1 of the API. */
export const v1: ApiVersion = {
  prefix: "/v1",
  endpoints: (dependencies) => ({
    "/chat/completions": post(
      modelEndpoint(dependencies, { endpoint: "chat", dialect: "chat" }, serveChatCompletions),
    ),
    "/responses": post(
      modelEndpoint(dependencies, { endpoint: "chat", dialect: "responses" }, serveResponses),
    ),
    "/responses/*": {
      methods: ["GET", "HEAD", "DELETE", "POST"],
      work: manageResponse(dependencies),
    },
    "/completions": post(
      modelEndpoint(dependencies, { endpoint: "chat", dialect: "completions" }, serveCompletions),
    ),
    "/messages": post(
      modelEndpoint(
        dependencies,
        { endpoint: "chat", dialect: "messages", parse: parseMessagesBody },
        serveMessages,
      ),
    ),
    "/messages/count_tokens": post(
      modelEndpoint(
        dependencies,
        {
          endpoint: "chat",
          dialect: "messages",
          claimScope: "count_tokens",
          parse: parseMessagesBody,
        },
        serveCountTokens,
      ),
    ),
    "/embeddings": post(modelEndpoint(dependencies, { endpoint: "embeddings" }, serveEmbeddings)),
    "/audio/speech": post(modelEndpoint(dependencies, { endpoint: "speech" }, serveSpeech)),
    "/audio/transcriptions": post(
      modelEndpoint(
        dependencies,
        { endpoint: "transcription", form: "upload" },
        serveTranscription,
      ),
    ),
    "/models": get(listModels(dependencies)),
    "/models/*": get(showModel(dependencies)),
    "/audio/voices": get(listVoices()),
  }),
};

/** The endpoints of all versions by their full paths. */
export function mount(
  versions: readonly ApiVersion[],
  dependencies: GatewayDependencies,
): Endpoints {
  const mounted: Record<string, Endpoint> = {};
  for (const { prefix, endpoints } of versions)
    for (const [path, endpoint] of Object.entries(endpoints(dependencies))) {
      if (Object.hasOwn(mounted, prefix + path))
        throw new Error(`${prefix}${path} is mounted twice`);
      mounted[prefix + path] = endpoint;
    }
  return mounted;
}

export interface Found {
  readonly endpoint: Endpoint;
  /** What stands for the `*`, decoded; "" without one. */
  readonly rest: string;
}

/** A base URL with a slash too many reaches the same endpoints. */
export function findEndpoint(endpoints: Endpoints, url: string): Found | undefined {
  const path = requestPath(url)
    .replace(/\/{2,}/g, "/")
    .replace(/(?<=.)\/$/, "");
  const isPlain = Object.hasOwn(endpoints, path) && !path.endsWith("*");
  const exact = isPlain ? endpoints[path] : undefined;
  if (exact !== undefined) return { endpoint: exact, rest: "" };
  for (const [pattern, endpoint] of Object.entries(endpoints)) {
    const parent = pattern.endsWith("/*") ? pattern.slice(0, -1) : undefined;
    const rest =
      parent !== undefined && path.startsWith(parent) ? decode(path.slice(parent.length)) : "";
    if (rest !== "") return { endpoint, rest };
  }
  return undefined;
}

/** SDKs percent-encode a slash in a model's id. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
