import {
  isJsonObject,
  type Json,
  type JsonObject,
  type OriginalRequest,
} from "../../../call/chat.ts";
import { checkNested } from "../chat/call.ts";
import type { ChatOrder } from "../dialect.ts";
import { fieldError, reader } from "../validate.ts";
import { toOriginal } from "./original.ts";
import {
  type CountRequest,
  countRequest,
  type MessagesRequest,
  messagesRequest,
} from "./request.ts";
import { type Conversation, type Place, toConversation } from "./to-chat.ts";

/** A request in the Messages format. */
export interface MessagesOrder extends ChatOrder {
  /** The caller wants no text of the model's thoughts. */
  readonly hidesThoughts: boolean;
  /** Where each message of the call stands in the request. */
  readonly places: readonly Place[];
}

export const readMessagesRequest = reader<MessagesRequest>(messagesRequest);
export const readCountRequest = reader<CountRequest>(countRequest);

/** Checks a body and makes it a call. `maxOutputTokens` is the model's own limit. */
export function toMessagesOrder(
  body: JsonObject,
  maxOutputTokens: number | undefined,
  headers: Headers | undefined,
): MessagesOrder {
  const { max_tokens: asked, stream, thinking } = readMessagesRequest(body);
  const { call, places } = toCall(body, headers);
  const display = isJsonObject(thinking) ? thinking["display"] : undefined;
  return {
    call: { ...call, maxOutputTokens: Math.min(asked, maxOutputTokens ?? asked) },
    stream: stream === true,
    choices: 1,
    isCapNamed: true,
    hidesThoughts: display === "omitted",
    places,
  };
}

/** The same for a prompt that is only to be counted. */
export function toCountOrder(
  body: JsonObject,
  headers: Headers | undefined,
): Pick<MessagesOrder, "call" | "places"> {
  readCountRequest(body);
  return toCall(body, headers);
}

/** What vendors add to the prompt for a tool of their own. */
const nativeToolTokens = 1_500;

function toCall(body: JsonObject, headers: Headers | undefined) {
  for (const name of ["messages", "system", "tools", "output_config", "output_format"])
    checkNested(name, body[name]);
  checkTools(body);
  const { messages, system } = body;
  const conversation = toConversation(
    system,
    Array.isArray(messages) ? messages.filter(isJsonObject) : [],
  );
  if (conversation.messages.length === 0)
    throw fieldError("messages", "must contain text, an image, a document or a tool result");
  const original: OriginalRequest = {
    dialect: "messages",
    body: toOriginal(body),
    ...nativeTerms(body, conversation),
    ...withBetas(headers),
  };
  const call = {
    messages: conversation.messages,
    maxOutputTokens: undefined,
    options: toOptions(body),
    original,
  };
  return { call, places: conversation.places };
}

function nativeTerms({ tools }: JsonObject, { nativeField, signedTokens }: Conversation) {
  const own = (Array.isArray(tools) ? tools : []).flatMap((tool, at) =>
    isJsonObject(tool) && isNative(tool) ? [`tools[${at}].type`] : [],
  );
  const addedTokens = signedTokens + own.length * nativeToolTokens;
  return {
    nativeField: nativeField ?? own[0],
    ...(addedTokens === 0 ? {} : { addedTokens }),
  };
}

const isNative = ({ type }: JsonObject) => typeof type === "string" && type !== "custom";

function checkTools({ tools, tool_choice: choice }: JsonObject): void {
  const names = new Set<Json | undefined>();
  for (const [at, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    if (!isJsonObject(tool)) continue;
    names.add(tool["name"]);
    if (!isNative(tool) && !isJsonObject(tool["input_schema"]))
      throw fieldError(`tools[${at}].input_schema`, "is required and must be a JSON schema");
  }
  if (isJsonObject(choice) && choice["type"] === "tool" && !names.has(choice["name"]))
    throw fieldError("tool_choice.name", "must be the name of a tool in tools");
}

/**
 * Betas that change neither the price nor what we read of the reply. All others stay away: longer
 * contexts, caches and servers' tools have other prices.
 */
const harmlessBeta =
  /^(interleaved-thinking|fine-grained-tool-streaming|token-efficient-tools|output-128k|structured-outputs|effort|computer-use)-\d{4}-\d{2}-\d{2}$/;
const maxBetas = 32;

function withBetas(headers: Headers | undefined) {
  const given = headers?.get("anthropic-beta") ?? "";
  if (given === "") return {};
  const betas = given
    .split(",", maxBetas)
    .map((name) => name.trim())
    .filter((name) => harmlessBeta.test(name));
  return betas.length === 0 ? {} : { headers: { "anthropic-beta": betas.join(",") } };
}

/** The other fields, by the names of chat completions. */
function toOptions(body: JsonObject): JsonObject {
  const options: Record<string, Json | undefined> = {};
  for (const name of ["temperature", "top_p", "top_k"])
    if (body[name] !== undefined) options[name] = body[name];
  const { stop_sequences: stops, tools, metadata } = body;
  if (Array.isArray(stops) && stops.length > 0) options["stop"] = stops;
  if (Array.isArray(tools) && tools.length > 0)
    options["tools"] = tools.filter(isJsonObject).map(toTool);
  addToolChoice(options, body["tool_choice"]);
  addThinking(options, body);
  const { format = body["output_format"] } = fieldsOf(body["output_config"]);
  if (isJsonObject(format)) {
    const described = { name: "output", schema: format["schema"], strict: true };
    options["response_format"] = { type: "json_schema", json_schema: described };
  }
  const { user_id: user } = fieldsOf(metadata);
  if (typeof user === "string") options["user"] = user;
  return options;
}

const fieldsOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

function toTool(tool: JsonObject): JsonObject {
  const { name, description, input_schema: parameters, strict, cache_control: cache } = tool;
  const called: Record<string, Json | undefined> = { name };
  if (typeof description === "string") called["description"] = description;
  called["parameters"] = isJsonObject(parameters) ? parameters : { type: "object", properties: {} };
  if (strict === true) called["strict"] = true;
  const wish = isJsonObject(cache) ? { cache_control: { type: "ephemeral" } } : {};
  return { type: "function", function: called, ...wish };
}

const choices: Readonly<Record<string, string>> = { auto: "auto", any: "required", none: "none" };

function addToolChoice(options: Record<string, Json | undefined>, choice: Json | undefined): void {
  if (!isJsonObject(choice) || options["tools"] === undefined) return;
  const { type, name, disable_parallel_tool_use: isSingle } = choice;
  options["tool_choice"] =
    type === "tool" ? { type: "function", function: { name } } : choices[String(type)];
  if (isSingle === true) options["parallel_tool_calls"] = false;
}

/** An effort is worth more than a wish to think at all: it says how much. */
function addThinking(options: Record<string, Json | undefined>, body: JsonObject): void {
  const { type, budget_tokens: budget } = fieldsOf(body["thinking"]);
  const { effort } = fieldsOf(body["output_config"]);
  if (type === "enabled") options["thinking"] = { type, budget_tokens: budget };
  else if (type === "disabled") options["thinking"] = { type };
  else if (typeof effort === "string") options["reasoning_effort"] = effort;
  else if (type === "adaptive") options["thinking"] = { type };
}

const optionFields: readonly (readonly [RegExp, string])[] = [
  [/^tools\[(\d+)\]\.function\.parameters/, "tools[$1].input_schema"],
  [/^tools\[(\d+)\]\.function/, "tools[$1]"],
  [/^tool_choice\.function\.name/, "tool_choice.name"],
  [/^response_format.*/, "output_config.format"],
  [/^reasoning_effort.*/, "output_config.effort"],
  [/^stop\b/, "stop_sequences"],
  [/^user\b/, "metadata.user_id"],
];
const messageField = /^messages\[(\d+)\](?:\.(content|tool_calls)\[(\d+)\])?(.*)$/s;
const contentTails: readonly (readonly [RegExp, string])[] = [
  [/^\.(image_url|file)\b.*/s, ".source"],
  [/^\.tool_call_id/, ".tool_use_id"],
  [/^\.function\.arguments/, ".input"],
  [/^\.function\.name/, ".name"],
];

/** The caller's name for a field of the chat that the request was made into. */
export function toMessagesField(param: string, places: readonly Place[]): string {
  const [, index, list, entry, tail = ""] = messageField.exec(param) ?? [];
  // Of an upstream that got the request itself.
  if (/\.source\b/.test(tail)) return param;
  const place = index === undefined ? undefined : places[Number(index)];
  if (place === undefined) return replaced(param, optionFields);
  const inner = list === "tool_calls" ? place.calls : place.parts;
  const path = entry === undefined ? place.path : (inner[Number(entry)] ?? place.path);
  return path + replaced(tail, contentTails);
}

function replaced(text: string, rules: readonly (readonly [RegExp, string])[]): string {
  const rule = rules.find(([pattern]) => pattern.test(text));
  return rule === undefined ? text : text.replace(...rule);
}
