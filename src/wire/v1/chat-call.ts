import type { ChatCall, Json, JsonObject } from "../../call/chat.ts";
import type { ChatRequest } from "./requests.ts";
import { fieldError, readChatRequest } from "./validate.ts";

/** The fields that go upstream. What could change the vendor's bill and is not priced stays out. */
const passedOn: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "stop",
  "n",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "repetition_penalty",
  "logprobs",
  "top_logprobs",
  "logit_bias",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "user",
  "reasoning_effort",
  "verbosity",
  "chat_template_kwargs",
]);

export interface ChatOrder {
  readonly call: ChatCall;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** Checks a body and makes it a call. `maxOutputTokens` is the model's own limit. */
export function toChatOrder(body: JsonObject, maxOutputTokens: number | undefined): ChatOrder {
  const request = readChatRequest(body);
  checkAssistants(request.messages as readonly JsonObject[]);
  const options: Record<string, JsonObject[string]> = {};
  for (const name in body) if (passedOn.has(name)) options[name] = body[name];
  checkDepth("messages", body["messages"]);
  for (const name in options) checkDepth(name, options[name]);
  const stream = request.stream === true;
  return {
    call: {
      messages: request.messages as readonly JsonObject[],
      maxOutputTokens: cap(request, maxOutputTokens),
      options,
    },
    stream,
    includeUsage: stream && request.stream_options?.include_usage === true,
  };
}

/** Both names mean the same cap; the model's own limit is never passed. */
function cap(
  { max_tokens, max_completion_tokens }: ChatRequest,
  limit: number | undefined,
): number | undefined {
  let least = limit;
  for (const named of [max_tokens, max_completion_tokens])
    if (named !== undefined && (least === undefined || named < least)) least = named;
  return least;
}

function checkAssistants(messages: readonly JsonObject[]): void {
  for (const [at, { role, content, tool_calls: calls }] of messages.entries()) {
    const hasCalls = Array.isArray(calls) && calls.length > 0;
    if (role === "assistant" && !hasCalls && (content === undefined || content === null))
      throw fieldError(
        `messages[${at}].content`,
        "is missing: it must be text, unless the message has tool_calls",
      );
  }
}

/**
 * Far more than any tool's schema has. The runtime takes seconds, on the event loop, to find that
 * it cannot write back what is nested 40,000 levels deep.
 */
const maxDepth = 128;

function checkDepth(param: string, value: Json | undefined): void {
  if (isDeeper(value, maxDepth))
    throw fieldError(param, `must be nested at most ${maxDepth} levels deep`);
}

function isDeeper(value: Json | undefined, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((one) => isDeeper(one, levels - 1));
  const fields = value as JsonObject;
  for (const name in fields) if (isDeeper(fields[name], levels - 1)) return true;
  return false;
}
