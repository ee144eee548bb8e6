import { type ChatCall, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { nearestEffort, reasoningWishOf, showsThoughts } from "../../../call/reasoning-wish.ts";
import type { FieldRule } from "../field-rules.ts";
import { toOptions } from "../to-messages.ts";
import { refusal, toInput } from "./input.ts";

/** The least that the vendor takes; a larger one than asked for could cost more than is held. */
export const leastCap = 16;

/** What a model, or an account, does not take. */
export interface RequestForm {
  readonly hasEncrypted: boolean;
  readonly hasInclude: boolean;
  readonly hasSummary: boolean;
}

export interface RequestOptions {
  readonly model: string;
  readonly rules: readonly FieldRule[];
  readonly takesUrls: boolean;
  readonly mark: string;
  readonly form: RequestForm;
  readonly isStreamed: boolean;
}

/** A chat as a request for a response. Fields that are undefined are not written. */
export function toResponseRequest(call: ChatCall, options: RequestOptions): JsonObject {
  const { messages, maxOutputTokens: cap } = call;
  const { model, rules, takesUrls, mark, form, isStreamed } = options;
  if (cap !== undefined && cap < leastCap)
    throw refusal("max_tokens", `must be at least ${leastCap} for this model`);
  const asked = toOptions(call.options, { cap, rules });
  checkCarried(asked);
  const { temperature, top_p, parallel_tool_calls, user, safety_identifier } = asked;
  const { prompt_cache_key, service_tier, top_logprobs } = asked;
  const hasLogprobs = asked["logprobs"] === true;
  return {
    model,
    stream: isStreamed ? true : undefined,
    input: toInput(messages, { takesUrls, mark: form.hasEncrypted ? mark : undefined }),
    max_output_tokens: cap,
    temperature,
    top_p,
    tools: toTools(asked["tools"]),
    tool_choice: toChoice(asked["tool_choice"]),
    parallel_tool_calls,
    text: toTextForm(asked),
    reasoning: toReasoning(call, form.hasSummary),
    include: includeOf({ hasLogprobs, hasReasoning: form.hasInclude }),
    top_logprobs: hasLogprobs ? top_logprobs : undefined,
    user,
    safety_identifier,
    prompt_cache_key,
    service_tier,
    // It would be in the operator's account, for all callers.
    store: false,
  };
}

/** Fields without a counterpart that change the answer, each with the values that change nothing. */
const uncarried: readonly (readonly [string, readonly Json[]])[] = [
  ["n", [1]],
  ["stop", []],
  ["seed", []],
  ["presence_penalty", [0]],
  ["frequency_penalty", [0]],
  ["repetition_penalty", [1]],
  ["logit_bias", []],
  ["top_k", []],
  ["min_p", [0]],
  ["chat_template_kwargs", []],
];

function checkCarried(asked: JsonObject): void {
  for (const [name, usual] of uncarried) {
    const value = asked[name];
    if (value === undefined || value === null || usual.includes(value)) continue;
    throw refusal(
      name,
      name === "n" ? "must be 1 for this model" : "is not supported by this model. Omit it",
    );
  }
}

function toTools(tools: Json | undefined): readonly JsonObject[] | undefined {
  if (!Array.isArray(tools)) return undefined;
  return tools.filter(isJsonObject).map((tool) => {
    const { name, description, parameters, strict } = isJsonObject(tool["function"])
      ? tool["function"]
      : {};
    return {
      type: "function",
      name,
      description: typeof description === "string" ? description : undefined,
      parameters: isJsonObject(parameters) ? parameters : { type: "object", properties: {} },
      // The default is another one than that of chat completions.
      strict: strict === true,
    };
  });
}

function toChoice(choice: Json | undefined): Json | undefined {
  if (!isJsonObject(choice)) return choice;
  const { type, function: called, allowed_tools: allowed } = choice;
  if (type === "function" && isJsonObject(called)) return { type, name: called["name"] };
  if (type !== "allowed_tools" || !isJsonObject(allowed))
    throw refusal("tool_choice", "must be none, auto, required or a function for this model");
  const { mode, tools } = allowed;
  const listed = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  return { type, mode, tools: listed.map((tool) => toChoice(tool) ?? null) };
}

function toTextForm({ response_format: format, verbosity }: JsonObject): JsonObject | undefined {
  const known = isJsonObject(format) ? toFormat(format) : undefined;
  return known === undefined && verbosity === undefined ? undefined : { format: known, verbosity };
}

function toFormat({ type, json_schema: described }: JsonObject): JsonObject {
  if (type !== "json_schema" || !isJsonObject(described)) return { type };
  const { name, description, schema, strict } = described;
  return { type, name, description, schema, strict };
}

function toReasoning({ options, original }: ChatCall, hasSummary: boolean): JsonObject | undefined {
  const wish = reasoningWishOf(options);
  if (wish?.kind === "off") return { effort: "none" };
  const isShown = showsThoughts(options) ?? original?.showsThoughts === true;
  const summary = isShown && hasSummary ? "auto" : undefined;
  // Without an effort it is as long as the model sees fit.
  const effort = wish === undefined || wish.kind === "on" ? undefined : nearestEffort(wish);
  return effort === undefined && summary === undefined ? undefined : { effort, summary };
}

function includeOf(options: {
  readonly hasLogprobs: boolean;
  readonly hasReasoning: boolean;
}): readonly string[] | undefined {
  const include: string[] = [];
  if (options.hasReasoning) include.push("reasoning.encrypted_content");
  if (options.hasLogprobs) include.push("message.output_text.logprobs");
  return include.length === 0 ? undefined : include;
}
