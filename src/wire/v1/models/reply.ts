import { toDecimal } from "../../../base/decimal.ts";
import { type Endpoint, endpointPaths, type InputKind } from "../../../call/endpoint.ts";
import type { Price, PriceKey } from "../../../call/price.ts";
import { voices } from "../../../call/speak.ts";
import type { ModelListReply, ModelReply, VoiceListReply } from "../openapi/replies.ts";

/** What the model list says of a model. */
export interface ListedModel {
  readonly id: string;
  readonly createdAtMs: number;
  readonly ownedBy: string;
  readonly deprecation?: {
    readonly deprecatedAtMs: number;
    readonly retiresAtMs: number | undefined;
    readonly replacement: string | undefined;
  };
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly seesImages: boolean;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly price: Price | undefined;
}

/** Without completions, which only some upstreams have. */
const chatPaths = [endpointPaths.chat, "/v1/responses", "/v1/messages"];

/** The contract's fields first; what follows is for clients that sort models by what they do. */
export function toModel(listed: ListedModel): ModelReply {
  const { id, createdAtMs, ownedBy, deprecation, endpoint, price } = listed;
  const { contextLength, maxOutputTokens } = listed;
  return {
    id,
    object: "model",
    created: toSeconds(createdAtMs),
    owned_by: ownedBy,
    ...(deprecation === undefined
      ? {}
      : {
          deprecated: true,
          deprecated_at: toSeconds(deprecation.deprecatedAtMs),
          retires_at:
            deprecation.retiresAtMs === undefined ? null : toSeconds(deprecation.retiresAtMs),
          replacement: deprecation.replacement ?? null,
        }),
    supported_endpoints: endpoint === "chat" ? chatPaths : [endpointPaths[endpoint]],
    architecture: {
      input_modalities: inputOf(listed),
      output_modalities: [outputs[endpoint]],
    },
    ...(contextLength === undefined ? {} : { context_length: contextLength }),
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
    ...(price === undefined ? {} : { pricing: toPricing(endpoint, price) }),
  };
}

type InputModality = "text" | "image" | "video" | "audio";

function inputOf({ endpoint, input, seesImages }: ListedModel): InputModality[] {
  if (endpoint === "embeddings" && input === "media") return ["image", "video"];
  if (endpoint === "transcription") return ["audio"];
  return endpoint === "chat" && seesImages ? ["text", "image"] : ["text"];
}

const outputs = {
  chat: "text",
  embeddings: "embeddings",
  speech: "audio",
  transcription: "text",
} as const;

/** OpenRouter's names, which other clients read, too; those of the last four are ours. */
const priceNames = {
  input: "prompt",
  output: "completion",
  cached_input: "input_cache_read",
  cache_write: "input_cache_write",
  audio_output: "audio_output",
  image: "image",
  video_second: "video_second",
  audio_second: "audio_second",
} as const satisfies Record<PriceKey, string>;

/** Prices are integer nano-USD per million units: 10^-15 USD per unit. */
const unitScale = 15;

function toPricing(endpoint: Endpoint, price: Price): Record<string, string> {
  const pricing: Record<string, string> = {};
  for (const [key, name] of Object.entries(priceNames)) {
    const units = price[key as PriceKey];
    if (units !== undefined) pricing[name] = toDecimal(units, unitScale);
  }
  // Clients that compute a price take both for granted.
  if (endpoint === "embeddings" && price.input !== undefined) pricing["completion"] ??= "0";
  return pricing;
}

/** Every speech model has the same voices. */
export function toVoiceList(): VoiceListReply {
  return { voices: voices.map((name) => ({ id: name, name })) };
}

export function toModelList(models: readonly ListedModel[]): ModelListReply {
  return { object: "list", data: models.map(toModel) };
}

const toSeconds = (ms: number) => Math.floor(ms / 1000);
