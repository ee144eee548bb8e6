import { parseExact } from "../../../base/json/exact.ts";
import {
  type ChatChoice,
  type FinishReason,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import { type Carried, toOpaque } from "../carried.ts";
import { toWholeCalls } from "../chat/tool-pieces.ts";
import type { ReplyIdentity, WholeReply } from "../dialect.ts";
import type { MessagesOrder } from "./call.ts";
import { toCitations } from "./citations.ts";

/** In this format, what is read from or written to a cache is not part of `input_tokens`. */
export function toMessagesUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, reasoningTokens } = usage;
  const read = Math.min(usage.cachedInputTokens ?? 0, inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - read);
  return {
    input_tokens: inputTokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: outputTokens,
    ...(reasoningTokens === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}

/** Which of several sequences stopped an answer is not known of other vendors. */
export const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/** Ids of calls as this format has them. */
export const toolIdPrefix = ({ id }: ReplyIdentity) => `toolu_${id.slice(id.indexOf("_") + 1)}_`;

export function toMessagesReply(options: WholeReply<MessagesOrder>): string {
  const { identity, order, result, usage } = options;
  const { id, model } = identity;
  const { native, choices } = result;
  if (native !== undefined) {
    // The vendor's own counts stay, where it has counted.
    const counted = usage.estimated ? { usage: toMessagesUsage(usage) } : {};
    return JSON.stringify({ ...native, id, model, ...counted });
  }
  const [choice] = choices;
  const content = choice === undefined ? [] : toContent(choice, identity, order.hidesThoughts);
  return JSON.stringify({
    id,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: choice === undefined ? "end_turn" : toStopReason(choice),
    stop_sequence: null,
    usage: toMessagesUsage(usage),
  });
}

function toStopReason({ finishReason, message: { refusal } }: ChatChoice): string {
  return isText(refusal) ? "refusal" : stopReasons[finishReason];
}

function toContent(
  { message }: ChatChoice,
  identity: ReplyIdentity,
  hidesThoughts: boolean,
): readonly JsonObject[] {
  const { content, refusal, reasoning_content: thought, tool_calls: given } = message;
  const calls = Array.isArray(given) ? toWholeCalls(given, toolIdPrefix(identity)) : [];
  const blocks: JsonObject[] = [];
  const carried = carriedOf(message, calls);
  if (isText(thought))
    blocks.push({
      type: "thinking",
      thinking: hidesThoughts ? "" : thought,
      signature: toOpaque(carried ?? {}),
    });
  else if (carried !== undefined)
    blocks.push({ type: "redacted_thinking", data: toOpaque(carried) });
  if (isText(content)) {
    const citations = toCitations(message["annotations"]);
    const cited = citations.length === 0 ? {} : { citations };
    blocks.push({ type: "text", text: content, ...cited });
  }
  if (isText(refusal)) blocks.push({ type: "text", text: refusal });
  for (const call of calls) blocks.push(toToolUse(call));
  return blocks;
}

function carriedOf(message: JsonObject, calls: readonly JsonObject[]): Carried | undefined {
  const { reasoning_details: given, extra_content: extra } = message;
  const details = Array.isArray(given) ? given.filter(isJsonObject) : [];
  const extras: Record<string, JsonObject> = {};
  for (const { id, extra_content: one } of calls) if (isJsonObject(one)) extras[String(id)] = one;
  const hasExtras = Object.keys(extras).length > 0;
  if (details.length === 0 && !isJsonObject(extra) && !hasExtras) return undefined;
  return {
    ...(details.length === 0 ? {} : { details }),
    ...(isJsonObject(extra) ? { extra } : {}),
    ...(hasExtras ? { calls: extras } : {}),
  };
}

function toToolUse({ id, function: called }: JsonObject): JsonObject {
  const { name, arguments: text } = isJsonObject(called) ? called : {};
  return { type: "tool_use", id, name, input: toInput(text) };
}

/**
 * What is not an object, or was cut off, does not fit this format. It is wrapped, as the vendor
 * of the format proposes, so that tools refuse it and the model sees what it did.
 */
function toInput(text: Json | undefined): JsonObject {
  if (!isText(text) || text.trim() === "") return {};
  try {
    const input = parseExact(text);
    if (isJsonObject(input)) return input;
  } catch {
    // Kept below.
  }
  return { INVALID_JSON: text };
}

const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";
