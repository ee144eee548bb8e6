/** Requests in one form, so that those that mean the same are equal. */

import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";
import type { Driver, Question } from "../driver.ts";
import type { Extras } from "./random.ts";

/** The question as the dialect's request, with the extras that the dialect has a place for. */
export function toRequest(
  driver: Driver,
  question: Question,
  extras: Extras,
): Record<string, Json | undefined> {
  const { user, isSerial, topK, verbosity, effort, alternatives, cacheKey, budget } = extras;
  const thinking = budget === undefined ? undefined : { type: "enabled", budget_tokens: budget };
  const body = driver.toBody(question);
  const withMore = (more: Record<string, Json | undefined>) => ({
    ...body,
    ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)),
  });
  const objectAt = (name: string) => (isJsonObject(body[name]) ? body[name] : {});
  switch (driver.name) {
    case "responses":
      return withMore({
        user,
        parallel_tool_calls: isSerial === true ? false : undefined,
        text: verbosity === undefined ? body["text"] : { ...objectAt("text"), verbosity },
        reasoning: effort === undefined ? undefined : { effort },
        top_logprobs: alternatives,
        prompt_cache_key: cacheKey,
      });
    case "messages": {
      const choice = body["tool_choice"] ?? { type: "auto" };
      const serial = { ...(choice as JsonObject), disable_parallel_tool_use: true };
      const canBeSerial = isSerial === true && question.toolChoice !== "none";
      return withMore({
        top_k: topK,
        thinking,
        metadata: user === undefined ? undefined : { user_id: user },
        tool_choice: canBeSerial ? serial : body["tool_choice"],
        output_config:
          effort === undefined ? body["output_config"] : { ...objectAt("output_config"), effort },
      });
    }
    default:
      return withMore({
        user,
        top_k: topK,
        parallel_tool_calls: isSerial === true ? false : undefined,
        verbosity,
        reasoning_effort: effort,
        logprobs: alternatives === undefined ? undefined : true,
        top_logprobs: alternatives,
        prompt_cache_key: cacheKey,
        thinking,
      });
  }
}

/** What the dialect has no place for. */
export function withoutPlace({ name }: Driver, question: Question, extras: Extras) {
  const { stop: _stop, ...unstopped } = question;
  const { topK: _topK, budget: _budget, ...plain } = extras;
  if (name === "responses") return { question: unstopped, extras: plain };
  const { verbosity: _verbosity, alternatives: _alternatives, ...others } = extras;
  const { cacheKey: _cacheKey, isSerial, ...rest } = others;
  const canBeSerial = isSerial === true && question.toolChoice !== "none";
  // In Messages the wish stands within the choice of tools, which chat then has, too.
  const toolChoice = question.toolChoice ?? "auto";
  return canBeSerial
    ? { question: { ...question, toolChoice }, extras: { ...rest, isSerial } }
    : { question, extras: rest };
}

/** A request to a server of the chat-completions format, in the one form of its meaning. */
export function canonical(body: JsonObject): JsonObject {
  const { messages, tools, response_format: format, ...rest } = body;
  return {
    ...rest,
    messages: listOf(messages).map(toMessage),
    tools: listOf(tools).map((tool) => toTool(tool)),
    response_format: toFormat(format),
  };
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);

function toMessage(message: JsonObject): JsonObject {
  const { role, content, tool_calls: calls, ...rest } = message;
  const parts: readonly JsonObject[] =
    typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return {
    ...rest,
    role: role === "developer" ? "system" : role,
    content: parts.map(toPart).filter(({ text }) => text !== ""),
    tool_calls: listOf(calls).map(({ function: called, ...call }) => {
      const { name, arguments: text } = isJsonObject(called) ? called : {};
      return { ...call, function: { name, arguments: JSON.parse(String(text)) as Json } };
    }),
  };
}

function toPart(part: JsonObject): JsonObject {
  const image = part["image_url"];
  if (!isJsonObject(image)) return part;
  // Not to name a detail is to leave it to the vendor.
  const { detail, ...url } = image;
  const named = detail === undefined || detail === "auto" ? url : image;
  return { ...part, image_url: named };
}

/** Not to ask for strictness is to have none. */
function toTool(tool: JsonObject): JsonObject {
  const { strict, ...called } = isJsonObject(tool["function"]) ? tool["function"] : {};
  return { ...tool, function: strict === true ? { ...called, strict } : called };
}

/** The name of a schema is a label that not all dialects have. */
function toFormat(format: unknown): Json {
  const { type, json_schema: named } = isJsonObject(format) ? format : {};
  if (type !== "json_schema" || !isJsonObject(named)) return (format as Json) ?? null;
  return { type, schema: named["schema"] };
}
