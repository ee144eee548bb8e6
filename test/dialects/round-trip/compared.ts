/** Requests in one form, so that those that mean the same are equal. */

import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";
import type { Content, Driver, Heard, Question } from "../driver.ts";
import type { Extras, Format, PastQuestion, PastTurn } from "./random.ts";
import type { Spoken } from "./spoken.ts";

/** The question as the dialect's request, with the extras that the dialect has a place for. */
export function toRequest(
  driver: Driver,
  question: Question,
  extras: Extras,
): Record<string, Json | undefined> {
  const { user, isSerial, topK, verbosity, effort, alternatives, cacheKey, budget, format } =
    extras;
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
        text: textOf({ format, verbosity, schema: question.schema }),
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
        response_format:
          format === undefined || question.schema === undefined
            ? body["response_format"]
            : { type: "json_schema", json_schema: { ...format, schema: question.schema } },
      });
  }
}

function textOf(options: {
  readonly format: Format | undefined;
  readonly verbosity: Extras["verbosity"];
  readonly schema: JsonObject | undefined;
}): JsonObject | undefined {
  const { format, verbosity, schema } = options;
  const ofSchema = schema === undefined ? {} : { type: "json_schema", ...format, schema };
  if (schema === undefined && verbosity === undefined) return undefined;
  return {
    ...(schema === undefined ? {} : { format: ofSchema }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

/** The same, without what the dialect has no place for. */
export function withoutPlace(
  { name }: Driver,
  question: PastQuestion,
  extras: Extras,
): { readonly question: PastQuestion; readonly extras: Extras } {
  if (name === "responses") {
    const { stop: _stop, ...unstopped } = question;
    const { topK: _topK, budget: _budget, ...plain } = extras;
    const turns = question.turns.map(withoutFailure);
    return { question: { ...unstopped, turns }, extras: plain };
  }
  const { verbosity: _verbosity, alternatives: _alternatives, ...others } = extras;
  const { cacheKey: _cacheKey, isSerial, ...rest } = others;
  const canBeSerial = isSerial === true && question.toolChoice !== "none";
  const turns = question.turns.map(toPlainTurn);
  // In Messages the wish stands within the choice of tools, which chat then has, too.
  const choice = canBeSerial ? { toolChoice: question.toolChoice ?? "auto" } : {};
  return {
    question: { ...question, turns, ...choice },
    // All schemas are of one name there, and always enforced.
    extras: {
      ...rest,
      ...(canBeSerial ? { isSerial } : {}),
      format: { name: "output", strict: true },
    },
  };
}

/** In Responses, results of tools do not say that the tool has failed. */
function withoutFailure(turn: PastTurn): PastTurn {
  if (turn.by !== "tool") return turn;
  const { isError: _isError, ...rest } = turn;
  return rest;
}

/** Messages have one kind of instructions, no detail of images, and refusals are text. */
function toPlainTurn(turn: PastTurn): PastTurn {
  if (turn.by === "developer") return { ...turn, by: "system" };
  if ("content" in turn) return { ...turn, content: withoutDetail(turn.content) };
  if ("heard" in turn) return { ...turn, heard: withoutRefusal(turn.heard) };
  if (turn.by !== "assistant" || "echo" in turn) return turn;
  const { refusal, ...rest } = turn;
  return refusal === undefined ? turn : { ...rest, text: refusal };
}

const withoutDetail = (content: Content): Content =>
  content.map((part) => {
    if (typeof part === "string" || "filename" in part) return part;
    const { detail: _detail, ...plain } = part;
    return plain;
  });

const withoutRefusal = ({ pieces, ...rest }: Spoken): Spoken => ({
  ...rest,
  pieces: pieces.map((piece) => ("refusal" in piece ? { text: piece.refusal } : piece)),
});

type Said = Pick<
  Heard,
  "text" | "refusal" | "reasoning" | "calls" | "finish" | "sources" | "logprobs"
>;

/** What is said, apart from names, counts, and the form in which it comes back. */
export function saidIn(heard: Heard): Said {
  const { text, reasoning, calls, finish, refusal, sources, logprobs } = heard;
  return {
    text,
    reasoning,
    calls,
    finish,
    ...(refusal === undefined ? {} : { refusal }),
    ...(sources === undefined ? {} : { sources }),
    ...(logprobs === undefined ? {} : { logprobs }),
  };
}

/** What a caller of the dialect hears where a caller of chat hears this. */
export function inDialect({ name }: Driver, said: Said): Said {
  if (name !== "messages") return said;
  // There, a refusal is text with a reason of its own.
  const { refusal = "", sources = [], logprobs: _logprobs, ...rest } = said;
  // A stream cannot cite for a text that a call has closed.
  const known = rest.calls.length === 0 ? sources : [];
  const cited = known.map(({ type, url, title }) => ({ type, url, title }) as JsonObject);
  return {
    ...rest,
    ...(cited.length === 0 ? {} : { sources: cited }),
    text: rest.text + refusal,
    finish: refusal === "" ? rest.finish : "content_filter",
  };
}

/** A request to a server of the chat-completions format, in the one form of its meaning. */
export function canonical(body: JsonObject): JsonObject {
  const { messages, tools, ...rest } = body;
  return {
    ...rest,
    messages: listOf(messages).map(toMessage),
    tools: listOf(tools).map((tool) => toTool(tool)),
  };
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);

function toMessage(message: JsonObject): JsonObject {
  const { role, content, tool_calls: calls, refusal, ...rest } = message;
  const parts: readonly JsonObject[] =
    typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return {
    ...rest,
    role,
    // To refuse nothing is not to refuse.
    ...(typeof refusal === "string" ? { refusal } : {}),
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
