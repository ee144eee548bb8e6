import {
  type ChatResult,
  type FinishReason,
  isJsonObject,
  type Json,
  type JsonObject,
  wordsOf,
} from "../../call/chat.ts";
import { toldStatus } from "../kit/error-body.ts";
import { toApiFailure, upstreamError } from "../kit/failure.ts";
import { fromAnthropicUsage } from "./usage.ts";

const finishes: Readonly<Record<string, FinishReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export const toFinishReason = (stopReason: Json | undefined): FinishReason =>
  finishes[String(stopReason)] ?? "stop";

/** A whole reply, which goes to the caller unchanged. */
export function fromMessagesReply(reply: unknown, provider: string): ChatResult {
  if (!isJsonObject(reply)) throw noMessage(provider);
  throwTold(reply, provider);
  const { content, stop_reason: stopReason, usage } = reply;
  if (!Array.isArray(content)) throw noMessage(provider);
  // As in a stream: without a stop reason, the reply was cut off.
  if (typeof stopReason !== "string") throw noMessage(provider);
  // Only for counting, if the vendor sent no counts.
  const words = content.filter(isJsonObject).map(wordsOfBlock).join("\n");
  const message = { role: "assistant", content: words };
  return {
    choices: [{ index: 0, message, logprobs: null, finishReason: toFinishReason(stopReason) }],
    usage: fromAnthropicUsage(usage),
    native: reply,
  };
}

function wordsOfBlock({ input, ...block }: JsonObject): string {
  return wordsOf(block) + (isJsonObject(input) ? JSON.stringify(input) : "");
}

function noMessage(provider: string) {
  return upstreamError("upstream_error", { detail: `${provider} sent no message` });
}

/** Throws if a reply with status 200 reports a failure. */
export function throwTold({ type, error }: JsonObject, provider: string): void {
  if (type !== "error" && (error === undefined || error === null)) return;
  const status = toldStatus(isJsonObject(error) ? error : {});
  throw toApiFailure({ provider, status, body: { error: error ?? {} } });
}
