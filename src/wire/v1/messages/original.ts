import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { isCarried } from "../carried.ts";
import { isForeignCitation } from "./citations.ts";

/**
 * The request as it goes to an upstream that serves the Messages format. Fields that could change
 * its bill without a price are left out, also within blocks: only the fields listed here are sent.
 * Objects that need no change are not copied.
 */
const passedOn = ["stop_sequences", "temperature", "top_p", "top_k"] as const;
const choiceFields = new Set(["type", "name", "disable_parallel_tool_use"]);
const thinkingFields = new Set(["type", "budget_tokens", "display"]);

const cached = ["type", "cache_control"] as const;
const blockFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set([...cached, "text", "citations"]),
  image: new Set([...cached, "source"]),
  document: new Set([...cached, "source", "title", "context", "citations"]),
  search_result: new Set([...cached, "source", "title", "content", "citations"]),
  tool_reference: new Set([...cached, "tool_name"]),
  tool_result: new Set([...cached, "tool_use_id", "content", "is_error"]),
  tool_use: new Set([...cached, "id", "name", "input"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
};
const dataFields = new Set(["type", "media_type", "data"]);
const sourceFields: Readonly<Record<string, ReadonlySet<string>>> = {
  base64: dataFields,
  text: dataFields,
  url: new Set(["type", "url"]),
  content: new Set(["type", "content"]),
};
const toolFields = new Set([
  ...cached,
  "name",
  "description",
  "input_schema",
  "strict",
  "input_examples",
  "eager_input_streaming",
  "defer_loading",
  // Fields of Anthropic's own tools that the caller runs.
  "max_characters",
  "display_width_px",
  "display_height_px",
  "display_number",
  "enable_zoom",
]);
const messageFields = new Set(["role", "content"]);

export function toOriginal(body: JsonObject): JsonObject {
  const sent: Record<string, Json | undefined> = {};
  const { messages, system, tools, metadata, cache_control: cache } = body;
  const { dropsThoughts, list } = toMessages(Array.isArray(messages) ? messages : []);
  sent["messages"] = list;
  if (system !== undefined) sent["system"] = toBlocks(system);
  if (Array.isArray(tools) && tools.length > 0)
    sent["tools"] = mapped(tools, (tool) => withFields(tool, toolFields));
  for (const name of passedOn) if (body[name] !== undefined) sent[name] = body[name];
  const { thinking, tool_choice: choice } = body;
  if (choice !== undefined) sent["tool_choice"] = withFields(choice, choiceFields);
  if (thinking !== undefined) sent["thinking"] = withFields(thinking, thinkingFields);
  // The vendor rejects a budget if a tool call lacks its thinking block.
  if (dropsThoughts && isJsonObject(thinking) && thinking["type"] === "enabled")
    sent["thinking"] = { type: "disabled" };
  const output = toOutputConfig(body);
  if (output !== undefined) sent["output_config"] = output;
  if (isJsonObject(metadata) && typeof metadata["user_id"] === "string")
    sent["metadata"] = { user_id: metadata["user_id"] };
  // Any other tier costs more or less than the price of the model.
  if (body["service_tier"] === "standard_only") sent["service_tier"] = "standard_only";
  if (isJsonObject(cache)) sent["cache_control"] = ephemeral;
  return sent;
}

/** A longer cache lifetime costs more than our prices cover. */
const ephemeral = { type: "ephemeral" };

function toOutputConfig({
  output_config: config,
  output_format: older,
}: JsonObject): JsonObject | undefined {
  const { effort, format = older } = isJsonObject(config) ? config : {};
  const sent: Record<string, Json> = {};
  if (typeof effort === "string") sent["effort"] = effort;
  if (isJsonObject(format)) sent["format"] = { type: "json_schema", schema: format["schema"] };
  return Object.keys(sent).length === 0 ? undefined : sent;
}

function toMessages(messages: readonly Json[]): {
  readonly list: readonly Json[];
  /** Thinking of another vendor was left out since the last message of the user. */
  readonly dropsThoughts: boolean;
} {
  const list: Json[] = [];
  let dropsThoughts = false;
  for (const message of messages) {
    if (!isJsonObject(message)) continue;
    const { role, content } = message;
    const sent = toBlocks(content);
    const isAnswer = role === "assistant";
    // The vendor rejects an empty reply.
    if (isAnswer && (sent === "" || (Array.isArray(sent) && sent.length === 0))) continue;
    if (isAnswer) dropsThoughts ||= Array.isArray(content) && content.some(isForeign);
    else if (!isResult(content)) dropsThoughts = false;
    const plain = withFields(message, messageFields);
    list.push(sent === content ? plain : { ...(isJsonObject(plain) ? plain : {}), content: sent });
  }
  return { list, dropsThoughts };
}

const isResult = (content: Json | undefined) =>
  Array.isArray(content) &&
  content.some((block) => isJsonObject(block) && block["type"] === "tool_result");

/** Thinking of another vendor's model, or without a signature. */
function isForeign(block: Json): boolean {
  if (!isJsonObject(block)) return false;
  const { type, signature, data } = block;
  if (type === "redacted_thinking") return isCarried(data);
  return type === "thinking" && (typeof signature !== "string" || !isSigned(signature));
}

const isSigned = (signature: string) => signature !== "" && !isCarried(signature);

function toBlocks(content: Json | undefined): Json | undefined {
  if (!Array.isArray(content)) return content;
  const own = content.some(isForeign) ? content.filter((block) => !isForeign(block)) : content;
  return mapped(own, toBlock);
}

function toBlock(block: Json): Json {
  if (!isJsonObject(block)) return block;
  const fields = blockFields[String(block["type"])];
  if (fields === undefined) return block;
  let sent = withFields(block, fields);
  if (!isJsonObject(sent)) return sent;
  const { content, source, citations } = sent;
  if (Array.isArray(citations) && citations.some(isForeignCitation)) {
    const own = citations.filter((citation) => !isForeignCitation(citation));
    sent = { ...sent, citations: own.length === 0 ? null : own };
  }
  if (Array.isArray(content)) {
    const inner = toBlocks(content);
    if (inner !== content) sent = { ...sent, content: inner };
  }
  if (isJsonObject(source)) {
    const plain = toSource(source);
    if (plain !== source) sent = { ...sent, source: plain };
  }
  return sent;
}

function toSource(source: JsonObject): Json {
  const plain = withFields(source, sourceFields[String(source["type"])] ?? dataFields);
  const { content } = source;
  const inner = Array.isArray(content) ? toBlocks(content) : content;
  return inner === content || !isJsonObject(plain) ? plain : { ...plain, content: inner };
}

/** The same object if it has no other fields and asks for no longer cache lifetime. */
function withFields(owner: Json, fields: ReadonlySet<string>): Json {
  if (!isJsonObject(owner)) return owner;
  const cache = owner["cache_control"];
  const asksForMore =
    isJsonObject(cache) && (cache["type"] !== "ephemeral" || Object.keys(cache).length > 1);
  let isPlain = !asksForMore;
  for (const name in owner) isPlain &&= fields.has(name);
  if (isPlain) return owner;
  const sent: Record<string, Json | undefined> = {};
  for (const name in owner) if (fields.has(name)) sent[name] = owner[name];
  if (asksForMore) sent["cache_control"] = ephemeral;
  return sent;
}

/** The same list if no entry changes. */
function mapped(list: readonly Json[], change: (entry: Json) => Json): readonly Json[] {
  let changed: Json[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const entry = list[at] ?? null;
    const sent = change(entry);
    if (sent === entry) continue;
    changed ??= [...list];
    changed[at] = sent;
  }
  return changed ?? list;
}
