import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { ChatOrder, ReadOptions } from "../dialect.ts";
import { fieldError, readChatRequest } from "../validate.ts";
import { illFormed } from "../well-formed.ts";
import { biasForm, type ChatRequest } from "./request.ts";

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
  "metadata",
  "store",
  "prompt_cache_key",
  "prediction",
  // Adapters pass on only what the model's price covers.
  "service_tier",
  "reasoning_effort",
  "reasoning",
  "include_reasoning",
  "thinking",
  "enable_thinking",
  "verbosity",
  "chat_template_kwargs",
]);

/** A request for a chat completion. */
export interface CompletionOrder extends ChatOrder {
  /** Usage is asked for in a stream. */
  readonly includeUsage: boolean;
}

/** Checks a body and makes it a call. */
export function toChatOrder(
  body: JsonObject,
  { maxOutputTokens }: Pick<ReadOptions, "maxOutputTokens">,
): CompletionOrder {
  checkMessages(body["messages"]);
  const request = readChatRequest(body);
  checkToolChoice(request);
  checkBias(request.logit_bias);
  const options: Record<string, JsonObject[string]> = {};
  for (const name in body)
    if (passedOn.has(name) && !isDefault(name, body[name])) options[name] = body[name];
  checkNested("messages", body["messages"]);
  for (const name in options) checkNested(name, options[name]);
  const stream = request.stream === true;
  return {
    call: {
      messages: request.messages as readonly JsonObject[],
      maxOutputTokens: cap(request, maxOutputTokens),
      options,
    },
    stream,
    includeUsage: stream && request.stream_options?.include_usage === true,
    choices: request.n ?? 1,
    isCapNamed: request.max_tokens !== undefined || request.max_completion_tokens !== undefined,
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

/** Absent means the same, and some vendors refuse the very names. */
function isDefault(name: string, value: Json | undefined): boolean {
  if (name === "logprobs") return value === false;
  if (name === "top_logprobs") return value === 0;
  return name === "logit_bias" && isJsonObject(value) && Object.keys(value).length === 0;
}

/** Checks that give a better message than the schema does, so they run first. */
function checkMessages(messages: Json | undefined): void {
  if (!Array.isArray(messages)) return;
  for (let at = 0; at < messages.length; at++) {
    const message: Json = messages[at];
    if (!isJsonObject(message)) continue;
    if (message["role"] === "function")
      throw fieldError(
        `messages[${at}].role`,
        'must be "tool" (with tool_call_id). The "function" role is not supported',
      );
    if (Array.isArray(message["content"])) checkFiles(message["content"], at);
  }
}

/** A file id could name any file in the operator's own vendor account. */
function checkFiles(content: readonly Json[], at: number): void {
  for (let place = 0; place < content.length; place++) {
    const part = content[place];
    if (!isJsonObject(part) || part["type"] !== "file" || !isJsonObject(part["file"])) continue;
    if (part["file"]["file_id"] !== undefined && part["file"]["file_id"] !== null)
      throw fieldError(
        `messages[${at}].content[${place}].file.file_id`,
        "is not supported. Send the file itself as file_data",
      );
  }
}

const tokenId = /^\d{1,15}$/;

export function checkBias(bias: object | undefined): void {
  for (const id in bias)
    if (!tokenId.test(id)) throw fieldError("logit_bias", `must be ${biasForm}`);
}

/** A choice that names a tool must name one of those that the request declares. */
function checkToolChoice({ tool_choice: choice, tools }: ChatRequest): void {
  if (typeof choice !== "object" || choice.type !== "function") return;
  const name = choice.function?.name;
  if (name === undefined) return;
  const isDeclared = tools?.some(
    (tool) => (tool as { readonly function: { readonly name: string } }).function.name === name,
  );
  if (isDeclared !== true)
    throw fieldError("tool_choice.function.name", "must be the name of a tool in tools");
}

/** Deeper than any schema or message of a real client. */
const maxDepth = 128;

/** Rejects values that are nested too deeply or are not valid Unicode before they are serialized again. */
export function checkNested(field: string, value: Json | undefined): void {
  const problem = problemIn(value, 0);
  if (problem === undefined) return;
  throw problem === "deep"
    ? fieldError(field, `must not be nested more than ${maxDepth} levels deep`)
    : illFormed(field, value);
}

function problemIn(value: Json | undefined, depth: number): "deep" | "ill-formed" | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : "ill-formed";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= maxDepth) return "deep";
  if (Array.isArray(value)) {
    for (const inner of value) {
      const problem = problemIn(inner, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const fields = value as JsonObject;
  for (const name in fields) {
    const problem = name.isWellFormed() ? problemIn(fields[name], depth + 1) : "ill-formed";
    if (problem !== undefined) return problem;
  }
  return undefined;
}
