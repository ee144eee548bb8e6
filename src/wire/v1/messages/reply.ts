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

/** In this format, `input_tokens` excludes tokens read from or written to a cache. */
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

/** Other vendors do not report which stop sequence ended a reply. */
export const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/** Ids for calls of vendors that send none. */
export const toolIdPrefix = ({ id }: ReplyIdentity) => `toolu_${id.slice(id.indexOf("_") + 1)}_`;

export function toMessagesReply(options: WholeReply<MessagesOrder>): string {
  const { identity, order, result, usage } = options;
  const { id, model } = identity;
  const { native, choices } = result;
  if (native !== undefined) {
    // The vendor's own counts stay, if it sent any.
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
      signature: toOpaque(identity.modelId, carried ?? {}),
    });
  else if (carried !== undefined)
    blocks.push({ type: "redacted_thinking", data: toOpaque(identity.modelId, carried) });
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
 * This format has no place for arguments that are not an object or were cut off. They are wrapped as
 * Anthropic recommends, so that the tool rejects them and the model sees its mistake.
 */
function toInput(text: Json | undefined): JsonObject {
  if (!isText(text) || text.trim() === "") return {};
  try {
    const input = parseExact(text);
    if (isJsonObject(input)) return input;
  } catch {
    // Wrapped below.
  }
  return { INVALID_JSON: text };
}

const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";
