import type { ApiError } from "../../../base/errors.ts";
import type { FinishReason, Json, JsonObject } from "../../../call/chat.ts";
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

/** The object that describes a response, as JSON. What the request said is written once for all. */
export class ResponseObject {
  readonly #head: string;
  readonly #echo: string;

  constructor({ id, createdS, model }: ReplyIdentity, order: ResponseOrder) {
    this.#head = `{"id":"${id}","object":"response","created_at":${createdS},"model":${JSON.stringify(model)}`;
    this.#echo = fieldsOf(toEcho(order));
  }

  toJson(outcome: Outcome, isStored: boolean): string {
    const { status, output, usage, reason, error, extras } = outcome;
    const failure = error && { code: error.code, message: error.message };
    const details = reason && { reason };
    const counted = usage && toResponseUsage(usage);
    const more = extras === undefined ? "" : fieldsOf(extras);
    return `${this.#head},"status":"${status}","background":false,"error":${orNull(failure)},"incomplete_details":${orNull(details)},"output":[${output.join(",")}],"usage":${orNull(counted)},"store":${isStored}${this.#echo}${more}}`;
  }
}

const orNull = (value: object | undefined) =>
  value === undefined ? "null" : JSON.stringify(value);

/** What every response says of its request. */
export function toEcho({ request }: ResponseOrder): JsonObject {
  const { reasoning, text, tools = [], tool_choice: choice = "auto" } = request;
  const format = (text?.format ?? { type: "text" }) as Json;
  return {
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: (request.metadata ?? {}) as JsonObject,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: {
      effort: reasoning?.effort ?? null,
      summary: reasoning?.summary ?? reasoning?.generate_summary ?? null,
    },
    safety_identifier: request.safety_identifier ?? null,
    temperature: request.temperature ?? null,
    text: { format, ...(text?.verbosity == null ? {} : { verbosity: text.verbosity }) },
    tool_choice: choice as Json,
    tools: tools as readonly Json[],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? null,
    truncation: request.truncation ?? "disabled",
    user: request.user ?? null,
  };
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
