import {
  type ChatChoice,
  type ChatPart,
  type ChatResult,
  type FinishReason,
  finishReasons,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import { upstreamError } from "../kit/failure.ts";
import { isRecord } from "./json.ts";
import { fromOpenAiUsage } from "./usage.ts";

/** A whole reply. Fields that we do not know stay in the message. */
export function fromOpenAiReply(reply: unknown, provider: string): ChatResult {
  const choices =
    isRecord(reply) && Array.isArray(reply["choices"]) ? reply["choices"].filter(isRecord) : [];
  if (choices.length === 0)
    throw upstreamError("upstream_error", {
      detail: `${provider} sent a chat reply without choices`,
    });
  return {
    choices: choices.map(toChoice),
    usage: isRecord(reply) ? fromOpenAiUsage(reply["usage"]) : undefined,
  };
}

/** For upstreams that answer a request for a stream with a whole reply. */
export function toParts({ choices, usage }: ChatResult): ChatPart[] {
  const parts: ChatPart[] = [];
  for (const { index, message, logprobs, finishReason } of choices) {
    const calls = message["tool_calls"];
    const delta = Array.isArray(calls)
      ? {
          ...message,
          tool_calls: calls.map((call, at) => (isRecord(call) ? { index: at, ...call } : call)),
        }
      : message;
    parts.push(
      { type: "delta", index, delta, logprobs },
      { type: "finish", index, reason: finishReason },
    );
  }
  if (usage !== undefined) parts.push({ type: "usage", usage });
  parts.push({ type: "done" });
  return parts;
}

/** Some servers end with "stop" although the model called tools, and some with words of their own. */
export function toFinishReason(word: unknown, hasToolCalls: boolean): FinishReason {
  if (word === "function_call") return "tool_calls";
  const known = finishReasons.find((reason) => reason === word) ?? "stop";
  return known === "stop" && hasToolCalls ? "tool_calls" : known;
}

function toChoice(choice: JsonObject, position: number): ChatChoice {
  // The reply was parsed for us alone: its message is completed in place.
  const message: Record<string, Json | undefined> = isRecord(choice["message"])
    ? choice["message"]
    : {};
  const { tool_calls: calls, content } = message;
  const hasToolCalls = Array.isArray(calls) && calls.length > 0;
  message["role"] = "assistant";
  if (typeof content !== "string") message["content"] = toContent(content);
  if (message["refusal"] === undefined) message["refusal"] = null;
  if (calls !== undefined && !hasToolCalls) delete message["tool_calls"];
  if (message["function_call"] !== undefined) delete message["function_call"];
  return {
    index: typeof choice["index"] === "number" ? choice["index"] : position,
    message,
    logprobs: toLogprobs(choice["logprobs"]),
    finishReason: toFinishReason(choice["finish_reason"], hasToolCalls),
  };
}

export function toLogprobs(value: Json | undefined): Json {
  return isRecord(value) ? value : null;
}

/** Content is text or null for our callers, although some servers send a list of parts. */
export function toContent(content: Json | undefined): string | null {
  if (!Array.isArray(content)) return null;
  return content
    .map((part) => (isRecord(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}
