import type { ChatResult, JsonObject } from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import type { ReplyIdentity } from "../dialect.ts";
import type { ChatCompletion } from "../openapi/replies.ts";
import { callIdPrefix, toWholeCalls } from "./tool-pieces.ts";

/** Text put together piece by piece: objects made for the stringifier alone cost twice as much. */
export function toChatReply(
  { id, createdS, model }: ReplyIdentity,
  { choices, extras }: ChatResult,
  usage: Usage,
): string {
  let list = "";
  for (const { index, message, logprobs, finishReason } of choices) {
    const text = JSON.stringify(withWholeCalls(message, callIdPrefix(id, index)));
    const likely = logprobs === null ? "null" : JSON.stringify(logprobs);
    if (list !== "") list += ",";
    list += `{"index":${index},"message":${text},"logprobs":${likely},"finish_reason":"${finishReason}"}`;
  }
  const head = `{"id":"${id}","object":"chat.completion","created":${createdS},"model":${JSON.stringify(model)}`;
  const more = extras === undefined ? "" : fieldsOf(extras);
  return `${head}${more},"choices":[${list}],"usage":${JSON.stringify(toWireUsage(usage))}}`;
}

/** An object's fields as they follow others in JSON, or nothing. */
export function fieldsOf(fields: JsonObject): string {
  const text = JSON.stringify(fields);
  return text === "{}" ? "" : `,${text.slice(1, -1)}`;
}

function withWholeCalls(message: JsonObject, idPrefix: string): JsonObject {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? { ...message, tool_calls: toWholeCalls(calls, idPrefix) } : message;
}

export function toWireUsage({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  reasoningTokens,
  inputDetails,
  outputDetails,
}: Usage): ChatCompletion["usage"] {
  const usage: WireUsage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  if (cachedInputTokens !== undefined || inputDetails !== undefined)
    usage.prompt_tokens_details = withCount(inputDetails, "cached_tokens", cachedInputTokens);
  if (reasoningTokens !== undefined || outputDetails !== undefined)
    usage.completion_tokens_details = withCount(outputDetails, "reasoning_tokens", reasoningTokens);
  return usage;
}

type WireUsage = {
  -readonly [Name in keyof ChatCompletion["usage"]]: ChatCompletion["usage"][Name];
};

/** The copy is made only where there is something to copy: it costs more than all the rest. */
function withCount(
  details: Usage["inputDetails"],
  name: string,
  count: number | undefined,
): Readonly<Record<string, number>> {
  if (count === undefined) return details ?? {};
  return details === undefined ? { [name]: count } : { ...details, [name]: count };
}
