import {
  type ChatResult,
  type FinishReason,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { throwTold } from "./told-failure.ts";

/** A whole reply of a server that speaks the Responses format. */
export function fromResponse(reply: unknown, provider: string): ChatResult {
  const response: JsonObject = isJsonObject(reply) ? reply : {};
  throwTold(response, provider);
  const output = outputOf(response, provider);
  return {
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          /** Read only where the vendor has sent no usage. */
          get content() {
            return output.map(wordsOfItem).join("\n");
          },
        },
        logprobs: null,
        finishReason: finishOf(response),
      },
    ],
    usage: fromResponsesUsage(response["usage"]),
    native: response,
  };
}

/** What a response can be at its end; servers that are like OpenAI's can leave it out. */
const endStatuses: ReadonlySet<unknown> = new Set(["completed", "incomplete", undefined]);

/** False: it failed, or it has not ended, as one that runs in the background. */
export const hasEnded = ({ status }: JsonObject): boolean => endStatuses.has(status);

/** The items of a whole reply. */
export function outputOf(response: JsonObject, provider: string): readonly Json[] {
  const { output } = response;
  if (Array.isArray(output) && hasEnded(response)) return output;
  throw upstreamError("upstream_error", { detail: `${provider} sent a response without output` });
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
  const isCall = (item: Json) => isJsonObject(item) && String(item["type"]).endsWith("_call");
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

/** Undefined if the upstream reported no reliable usage. */
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
