import {
  isJsonObject,
  type Json,
  type JsonObject,
  type OriginalRequest,
} from "../../../call/chat.ts";
import { checkNested } from "../chat/call.ts";
import type { ChatOrder, ReadOptions } from "../dialect.ts";
import { fieldError, reader } from "../validate.ts";
import { toOriginal } from "./original.ts";
import {
  type CountRequest,
  countRequest,
  type MessagesRequest,
  messagesRequest,
} from "./request.ts";
import { type Place, toConversation } from "./to-chat.ts";
import { checkTools, toTools } from "./tools.ts";

/** The position in the request of each message and each tool of the call. */
interface Places {
  readonly places: readonly Place[];
  readonly toolPlaces: readonly number[];
}

/** A request in the Messages format. */
export interface MessagesOrder extends ChatOrder, Places {
  /** The caller does not want the text of the model's reasoning. */
  readonly hidesThoughts: boolean;
}

export const readMessagesRequest = reader<MessagesRequest>(messagesRequest);
export const readCountRequest = reader<CountRequest>(countRequest);

/** Validates a body and turns it into a call. */
export function toMessagesOrder(body: JsonObject, options: ReadOptions): MessagesOrder {
  const { max_tokens: asked, stream, thinking } = readMessagesRequest(body);
  const cap = Math.min(asked, options.maxOutputTokens ?? asked);
  const { call, places, toolPlaces } = toCall(body, { ...options, maxOutputTokens: cap });
  const display = isJsonObject(thinking) ? thinking["display"] : undefined;
  return {
    call,
    stream: stream === true,
    choices: 1,
    isCapNamed: true,
    hidesThoughts: display === "omitted",
    places,
    toolPlaces,
  };
}

/** The same for a prompt whose tokens are counted. */
export function toCountOrder(
  body: JsonObject,
  options: Omit<ReadOptions, "maxOutputTokens">,
): Places & Pick<MessagesOrder, "call"> {
  readCountRequest(body);
  return toCall(body, { ...options, maxOutputTokens: undefined });
}

const nestedFields = ["messages", "system", "tools", "output_config", "output_format"] as const;

function toCall(body: JsonObject, { modelId, maxOutputTokens, headers }: ReadOptions) {
  for (const name of nestedFields) checkNested(name, body[name]);
  checkTools(body);
  const { messages, system } = body;
  const conversation = toConversation({
    modelId,
    system,
    // Validated by the schema.
    messages: Array.isArray(messages) ? (messages as readonly JsonObject[]) : [],
  });
  if (conversation.messages.length === 0)
    throw fieldError("messages", "must contain text, an image, a document or a tool result");
  const tools = toTools(body, conversation.references);
  const addedTokens = conversation.signedTokens + tools.addedTokens;
  const original = new MessagesOriginal(body, {
    nativeField: conversation.nativeField ?? tools.nativeField,
    addedTokens,
    headers: toBetas(headers),
  });
  const call = {
    messages: conversation.messages,
    maxOutputTokens,
    options: toOptions(body, tools.list),
    original,
  };
  return { call, places: conversation.places, toolPlaces: tools.places };
}

/** Its body is built only for an upstream that serves the format, which most do not. */
class MessagesOriginal implements OriginalRequest {
  readonly dialect = "messages";
  readonly nativeField: string | undefined;
  readonly addedTokens: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #given: JsonObject;
  #body: JsonObject | undefined;

  constructor(
    given: JsonObject,
    terms: Pick<OriginalRequest, "nativeField" | "addedTokens" | "headers">,
  ) {
    this.#given = given;
    this.nativeField = terms.nativeField;
    this.addedTokens = terms.addedTokens;
    this.headers = terms.headers;
  }

  get body(): JsonObject {
    this.#body ??= toOriginal(this.#given);
    return this.#body;
  }
}

/**
 * Betas that change neither the price nor the fields that we read. All others are left out: longer
 * contexts, longer caching and tools that the vendor runs have other prices.
 */
const harmlessBeta =
  /^(interleaved-thinking|fine-grained-tool-streaming|token-efficient-tools|output-128k|structured-outputs|effort|computer-use|advanced-tool-use)-\d{4}-\d{2}-\d{2}$/;
const maxBetas = 32;

function toBetas(headers: Headers): OriginalRequest["headers"] {
  const given = headers.get("anthropic-beta") ?? "";
  if (given === "") return undefined;
  const betas = given
    .split(",", maxBetas)
    .map((name) => name.trim())
    .filter((name) => harmlessBeta.test(name));
  return betas.length === 0 ? undefined : { "anthropic-beta": betas.join(",") };
}

/** The other fields, under their names in chat completions. */
function toOptions(body: JsonObject, tools: readonly JsonObject[]): JsonObject {
  const options: Record<string, Json | undefined> = {};
  for (const name of ["temperature", "top_p", "top_k"])
    if (body[name] !== undefined) options[name] = body[name];
  const { stop_sequences: stops, metadata } = body;
  if (Array.isArray(stops) && stops.length > 0) options["stop"] = stops;
  if (tools.length > 0) options["tools"] = tools;
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

const noFields: JsonObject = {};
const fieldsOf = (value: Json | undefined) => (isJsonObject(value) ? value : noFields);

const choices: Readonly<Record<string, string>> = { auto: "auto", any: "required", none: "none" };

function addToolChoice(options: Record<string, Json | undefined>, choice: Json | undefined): void {
  if (!isJsonObject(choice) || options["tools"] === undefined) return;
  const { type, name, disable_parallel_tool_use: isSingle } = choice;
  options["tool_choice"] =
    type === "tool" ? { type: "function", function: { name } } : choices[String(type)];
  if (isSingle === true) options["parallel_tool_calls"] = false;
}

/**
 * An effort has priority over adaptive thinking, because it is more specific. Where thinking is
 * disabled, it has no meaning.
 */
function addThinking(options: Record<string, Json | undefined>, body: JsonObject): void {
  const { type, budget_tokens: budget } = fieldsOf(body["thinking"]);
  const { effort } = fieldsOf(body["output_config"]);
  if (type === "disabled") {
    options["thinking"] = { type };
    return;
  }
  if (type === "enabled") options["thinking"] = { type, budget_tokens: budget };
  if (typeof effort === "string") options["reasoning_effort"] = effort;
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
const toolIndex = /^tools\[(\d+)\]/;
const messageField = /^messages\[(\d+)\](?:\.(content|tool_calls)\[(\d+)\])?(.*)$/s;
const contentTails: readonly (readonly [RegExp, string])[] = [
  [/^\.(image_url|file)\b.*/s, ".source"],
  [/^\.tool_call_id/, ".tool_use_id"],
  [/^\.function\.arguments/, ".input"],
  [/^\.function\.name/, ".name"],
];

/** The caller's name for a field of the chat that the request was translated to. */
export function toMessagesField(param: string, { places, toolPlaces }: Places): string {
  const [, index, list, entry, tail = ""] = messageField.exec(param) ?? [];
  // From an upstream that received the original request.
  if (/\.source\b/.test(tail)) return param;
  const place = index === undefined ? undefined : places[Number(index)];
  if (place === undefined)
    return replaced(param, optionFields).replace(
      toolIndex,
      (_, at: string) => `tools[${toolPlaces[Number(at)] ?? at}]`,
    );
  const inner = list === "tool_calls" ? place.calls : place.parts;
  const path = entry === undefined ? place.path : (inner[Number(entry)] ?? place.path);
  return path + replaced(tail, contentTails);
}

function replaced(text: string, rules: readonly (readonly [RegExp, string])[]): string {
  const rule = rules.find(([pattern]) => pattern.test(text));
  return rule === undefined ? text : text.replace(...rule);
}
