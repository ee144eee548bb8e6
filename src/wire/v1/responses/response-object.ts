import type { ApiError } from "../../../base/errors.ts";
import { type FinishReason, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import { fieldsOf } from "../chat/reply.ts";
import type { ReplyIdentity } from "../dialect.ts";
import type { ResponseOrder } from "./order.ts";

export interface Outcome {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  /** JSON of the items. */
  readonly output: readonly string[];
  readonly usage?: Usage | undefined;
  /** Why it is incomplete. */
  readonly reason?: "max_output_tokens" | "content_filter" | undefined;
  readonly error?: ApiError | undefined;
  readonly extras?: JsonObject | undefined;
}

export function outcomeOf(finish: FinishReason): Pick<Outcome, "status" | "reason"> {
  if (finish === "length") return { status: "incomplete", reason: "max_output_tokens" };
  if (finish === "content_filter") return { status: "incomplete", reason: "content_filter" };
  return { status: "completed" };
}

/** The object that describes a response, as JSON. The request's fields are serialized once. */
export class ResponseObject {
  readonly #identity: ReplyIdentity;
  readonly #head: string;
  readonly #echo: string;

  constructor(identity: ReplyIdentity, order: ResponseOrder) {
    const { id, createdS, model } = identity;
    this.#identity = identity;
    this.#head = `{"id":"${id}","object":"response","created_at":${createdS},"model":${JSON.stringify(model)}`;
    this.#echo = echoOf(order);
  }

  toJson(outcome: Outcome, isStored: boolean): string {
    const { status, output, usage, reason, error, extras } = outcome;
    const failure = error && { code: error.code, message: error.message };
    const details = reason && { reason };
    const counted = usage && toResponseUsage(usage);
    const more = extras === undefined ? "" : fieldsOf(extras);
    const completedAt = completedAtOf(status, this.#identity);
    const tier = extras?.["service_tier"] === undefined ? ',"service_tier":"default"' : "";
    return `${this.#head},"completed_at":${completedAt},"status":"${status}","background":false,"error":${orNull(failure)},"incomplete_details":${orNull(details)},"output":[${output.join(",")}],"usage":${orNull(counted)},"store":${isStored}${this.#echo}${tier}${more}}`;
  }
}

/** In seconds; null for a response that is not, or not wholly, there. */
export const completedAtOf = (status: Json | undefined, { clock, createdS }: ReplyIdentity) =>
  status === "completed" ? Math.max(createdS, Math.floor(clock.nowMs() / 1000)) : null;

const orNull = (value: unknown) =>
  value === undefined || value === null ? "null" : JSON.stringify(value);

/** Settings that clients read as numbers, at the values that vendors have by default. */
const settings = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const;

/** What replies of vendors may lack, and clients with a strict schema require. */
const defaults: JsonObject = {
  ...settings,
  service_tier: "default",
  background: false,
  error: null,
  incomplete_details: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: null,
  safety_identifier: null,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  truncation: "disabled",
};

/** A vendor's own object with the fields that it lacks. */
export function withRequired(native: JsonObject, identity: ReplyIdentity): JsonObject {
  const whole: Record<string, Json | undefined> = { ...native };
  for (const name in defaults)
    if (whole[name] === undefined || (whole[name] === null && defaults[name] !== null))
      whole[name] = defaults[name];
  whole["completed_at"] ??= completedAtOf(native["status"], identity);
  return whole;
}

/** A function has all of its fields, also those that the caller left out. */
function wholeTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool["type"] !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function wholeFormat(format: unknown): unknown {
  if (!isJsonObject(format) || format["type"] !== "json_schema") return format;
  return { description: null, ...format, strict: format["strict"] ?? false };
}

/** The fields of the request that every response repeats. Most of them are absent. */
function echoOf({ request }: ResponseOrder): string {
  const { reasoning, text, tools, tool_choice: choice, metadata } = request;
  const summary = reasoning?.summary ?? reasoning?.generate_summary;
  const verbosity = text?.verbosity;
  const format =
    text?.format === undefined ? '{"type":"text"}' : JSON.stringify(wholeFormat(text.format));
  return `,"instructions":${orNull(request.instructions)},"max_output_tokens":${orNull(request.max_output_tokens)},"max_tool_calls":${orNull(request.max_tool_calls)},"metadata":${metadata === undefined ? "{}" : JSON.stringify(metadata)},"parallel_tool_calls":${request.parallel_tool_calls ?? true},"previous_response_id":${orNull(request.previous_response_id)},"prompt_cache_key":${orNull(request.prompt_cache_key)},"reasoning":{"effort":${orNull(reasoning?.effort)},"summary":${orNull(summary)}},"safety_identifier":${orNull(request.safety_identifier)},"temperature":${request.temperature ?? settings.temperature},"presence_penalty":${settings.presence_penalty},"frequency_penalty":${settings.frequency_penalty},"text":{"format":${format}${typeof verbosity === "string" ? `,"verbosity":${JSON.stringify(verbosity)}` : ""}},"tool_choice":${choice === undefined ? '"auto"' : JSON.stringify(choice)},"tools":${tools === undefined ? "[]" : JSON.stringify(tools.map(wholeTool))},"top_logprobs":${request.top_logprobs ?? 0},"top_p":${request.top_p ?? settings.top_p},"truncation":"${request.truncation ?? "disabled"}","user":${orNull(request.user)}`;
}

export function toResponseUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cachedInputTokens ?? 0,
      cache_write_tokens: cacheWriteTokens ?? 0,
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: inputTokens + outputTokens,
  };
}
