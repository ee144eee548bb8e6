import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { fieldError } from "../validate.ts";
import type { ResponseRequest } from "./request.ts";
import { type ToolBook, toChatName } from "./tool-book.ts";

/** Fields of the same name and meaning. */
const same = ["temperature", "top_p", "user", "prompt_cache_key", "service_tier"] as const;

/** The options of a request in the vocabulary of chat completions. */
export function toOptions(request: ResponseRequest, book: ToolBook): JsonObject {
  const options: Record<string, Json | undefined> = {};
  for (const name of same) if (request[name] !== undefined) options[name] = request[name];
  const { reasoning, top_logprobs: likely = 0, include = [], text } = request;
  if (typeof reasoning?.effort === "string") options["reasoning_effort"] = reasoning.effort;
  if (likely > 0 || include.includes("message.output_text.logprobs")) {
    options["logprobs"] = true;
    if (likely > 0) options["top_logprobs"] = likely;
  }
  if (typeof text?.verbosity === "string") options["verbosity"] = text.verbosity;
  const format = toFormat(text?.format as JsonObject | undefined);
  if (format !== undefined) options["response_format"] = format;
  addTools(options, request, book);
  return options;
}

/** Whether the caller asks for a summary of the reasoning. */
export function asksForSummary({ reasoning }: ResponseRequest): boolean {
  const wish = reasoning?.summary ?? reasoning?.generate_summary;
  return typeof wish === "string" && wish !== "none";
}

/** Plain text is every model's default, so it is not sent. */
function toFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (!isJsonObject(format) || format["type"] === "text") return undefined;
  if (format["type"] === "json_object") return { type: "json_object" };
  const { type, name, schema, description, strict } = format;
  return {
    type,
    json_schema: {
      name,
      ...(typeof description === "string" ? { description } : {}),
      schema,
      ...(typeof strict === "boolean" ? { strict } : {}),
    },
  };
}

/** Servers refuse tool options in a request without tools. */
function addTools(
  options: Record<string, Json | undefined>,
  { tool_choice: choice, parallel_tool_calls: isParallel }: ResponseRequest,
  book: ToolBook,
): void {
  if (book.functions.length === 0) {
    const isPlain = choice === undefined || choice === "auto" || choice === "none";
    if (!isPlain && book.nativeField === undefined)
      throw fieldError("tool_choice", "must be auto or none, because the request has no tools");
    return;
  }
  options["tools"] = book.functions;
  if (isParallel !== undefined) options["parallel_tool_calls"] = isParallel;
  if (typeof choice === "string") options["tool_choice"] = choice;
  else if (choice !== undefined) addChoice(options, choice as JsonObject, book);
}

function addChoice(
  options: Record<string, Json | undefined>,
  choice: JsonObject,
  book: ToolBook,
): void {
  const { type, mode, tools } = choice;
  if (type === "function" || type === "custom" || type === "tool_search") {
    const [only] = book.only(new Set([nameIn(choice)]));
    if (only === undefined)
      throw fieldError("tool_choice.name", "must be the name of a tool in tools");
    options["tool_choice"] = { type: "function", function: { name: nameIn(choice) } };
    return;
  }
  if (type !== "allowed_tools") {
    book.nativeField ??= "tool_choice.type";
    return;
  }
  // Not every vendor has such lists, so the model gets only the listed tools.
  const listed = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  const allowed = book.allow(new Set(listed.map(nameIn)));
  if (allowed.length === 0)
    throw fieldError("tool_choice.tools", "must be a list of at least one tool in tools");
  options["tools"] = allowed;
  options["tool_choice"] = mode === "required" ? "required" : "auto";
}

function nameIn({ type, name, namespace }: JsonObject): string {
  if (type === "tool_search") return "tool_search";
  return toChatName(String(name), typeof namespace === "string" ? namespace : undefined);
}
