import {
  type ChatCall,
  type ChatResult,
  type FinishReason,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import type { ProviderCall } from "../contract.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { toBody } from "../kit/http.ts";
import { readJson, type UpstreamReply } from "../kit/reply.ts";
import { ResponsesStream } from "./responses-stream.ts";
import { withSafeParts } from "./to-messages.ts";
import { throwTold } from "./told-failure.ts";

/** The least that the vendor takes; shorter answers go by chat completions. */
const leastCap = 16;
/** Every other tier costs more or less than the price of the model. */
const pricedTier = "default";

/** Whether a call can go to a server's own Responses endpoint. */
export function isForResponses({ original, maxOutputTokens: cap }: ChatCall): boolean {
  if (original?.dialect !== "responses") return false;
  return cap === undefined || cap >= leastCap || original.nativeField !== undefined;
}

export interface ResponsesOptions {
  readonly name: string;
  readonly takesUrls: boolean;
  readonly send: (
    path: string,
    body: string,
    options: ProviderCall<ChatCall>,
  ) => Promise<UpstreamReply>;
}

/** Calls of a server that speaks the caller's own dialect. */
export function createResponses({ name, takesUrls, send }: ResponsesOptions) {
  const bodyOf = ({ call, target }: ProviderCall<ChatCall>, further: JsonObject) =>
    toBody({ model: target.model, ...toResponsesBody(call, takesUrls), ...further });
  return {
    async whole(options: ProviderCall<ChatCall>): Promise<ChatResult> {
      const { signal } = options;
      const reply = await send("/responses", bodyOf(options, {}), options);
      return fromResponse(await readJson(reply, { provider: name, signal }), name);
    },
    async stream(options: ProviderCall<ChatCall>) {
      const { signal } = options;
      const reply = await send("/responses", bodyOf(options, { stream: true }), options);
      return new ResponsesStream({ provider: name, reply, signal });
    },
  };
}

/** Nothing is stored there: it would be in the operator's account, for all callers. */
function toResponsesBody(
  { original, maxOutputTokens: cap }: ChatCall,
  takesUrls: boolean,
): JsonObject {
  const { input, service_tier: tier, ...rest } = original?.body ?? {};
  return {
    ...rest,
    input: Array.isArray(input) ? toItems(input, takesUrls) : input,
    ...(tier === pricedTier ? { service_tier: tier } : {}),
    ...(cap === undefined ? {} : { max_output_tokens: cap }),
    store: false,
  };
}

function toItems(items: readonly Json[], takesUrls: boolean): readonly Json[] {
  return items.map((item, at) => {
    if (!isJsonObject(item)) return item;
    let sent = item;
    for (const name of ["content", "output"] as const) {
      const parts = item[name];
      if (!Array.isArray(parts) && !isJsonObject(parts)) continue;
      const options = { param: `input[${at}].${name}`, takesUrls, noCacheControl: false };
      const safe = Array.isArray(parts)
        ? withSafeParts(parts, options)
        : withSafeParts([parts], options)[0];
      if (safe !== parts) sent = { ...sent, [name]: safe };
    }
    return sent;
  });
}

export function fromResponse(reply: unknown, provider: string): ChatResult {
  const response: JsonObject = isJsonObject(reply) ? reply : {};
  throwTold(response, provider);
  const { output, status } = response;
  if (!Array.isArray(output) || status === "failed" || status === "cancelled")
    throw upstreamError("upstream_error", { detail: `${provider} sent a response without output` });
  return {
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: output.map(wordsOfItem).join("\n") },
        logprobs: null,
        finishReason: finishOf(response),
      },
    ],
    usage: fromResponsesUsage(response["usage"]),
    native: response,
  };
}

export function finishOf({
  status,
  incomplete_details: details,
  output,
}: JsonObject): FinishReason {
  if (status === "incomplete") {
    const reason = isJsonObject(details) ? details["reason"] : undefined;
    return reason === "content_filter" ? "content_filter" : "length";
  }
  const isCall = (item: Json) => isJsonObject(item) && /_call$/.test(String(item["type"]));
  return Array.isArray(output) && output.some(isCall) ? "tool_calls" : "stop";
}

/** Fields of items that the model has written. */
const written = ["text", "refusal", "arguments", "input", "code"] as const;
const lists = ["content", "summary"] as const;
const actions = ["action", "operation"] as const;

/** What a model wrote in an item. */
export function wordsOfItem(item: Json): string {
  if (!isJsonObject(item)) return "";
  let words = "";
  for (const name of written) {
    const value = item[name];
    if (typeof value === "string") words += value;
    else if (isJsonObject(value)) words += JSON.stringify(value);
  }
  for (const name of lists) {
    const parts = item[name];
    if (Array.isArray(parts)) for (const part of parts) words += wordsOfItem(part);
  }
  for (const name of actions) if (isJsonObject(item[name])) words += JSON.stringify(item[name]);
  return words;
}

/** Undefined when the upstream told no usage that can be relied on. */
export function fromResponsesUsage(value: Json | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = toCount(value["input_tokens"]);
  const outputTokens = toCount(value["output_tokens"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const input = detailsOf(value["input_tokens_details"]);
  const output = detailsOf(value["output_tokens_details"]);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: toCount(input["cached_tokens"]),
    cacheWriteTokens: toCount(input["cache_write_tokens"]),
    reasoningTokens: toCount(output["reasoning_tokens"]),
    estimated: false,
  };
}

const detailsOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
