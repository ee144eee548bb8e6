import { type ChatCall, isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { toCallerUrl } from "../kit/caller-url.ts";
import { toBody } from "../kit/http.ts";
import { toSafeCallId } from "../kit/tool-call-id.ts";

export interface RequestOptions {
  readonly call: ChatCall;
  readonly model: string;
  readonly takesUrls: boolean;
}

/** The smallest thinking budget that the vendor accepts. */
const leastBudget = 1_024;

/** The caller's own request, with the target's model and the cap. */
export function toMessagesBody(options: RequestOptions, stream: boolean): string {
  const { call, model } = options;
  const { maxOutputTokens: cap = leastBudget } = call;
  const body = withBudget(checkedBody(options), cap);
  const head = `{"model":${JSON.stringify(model)},"max_tokens":${cap}${stream ? ',"stream":true' : ""}`;
  return `${head},${toBody(body).slice(1)}`;
}

const countedFields = [
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "cache_control",
] as const;

/** The same for a prompt whose tokens are counted. */
export function toCountBody(options: RequestOptions): string {
  const body = checkedBody(options);
  const counted: Record<string, Json | undefined> = { model: options.model };
  for (const name of countedFields) if (body[name] !== undefined) counted[name] = body[name];
  return toBody(counted);
}

function checkedBody({ call: { original }, takesUrls }: RequestOptions): JsonObject {
  const body = original?.body ?? {};
  const { messages } = body;
  const checked = checkedEntries(messages, { param: "messages", takesUrls }, 0);
  return checked === messages ? body : { ...body, messages: checked };
}

/** Thinking is part of the output: the vendor requires its budget to be below max_tokens. */
function withBudget(body: JsonObject, cap: number): JsonObject {
  const { thinking } = body;
  if (!isJsonObject(thinking)) return body;
  const { budget_tokens: budget } = thinking;
  if (typeof budget !== "number" || budget < cap) return body;
  if (cap - 1 < leastBudget) return { ...body, thinking: { type: "disabled" } };
  return { ...body, thinking: { ...thinking, budget_tokens: cap - 1 } };
}

/** Messages, blocks, the blocks of a result, a document within it, and its source. */
const maxDepth = 8;

interface UrlOptions {
  readonly param: string;
  readonly takesUrls: boolean;
}

/** The vendor would fetch URLs, and rejects some ids. Entries that need no change are not copied. */
function checkedEntries(
  value: Json | undefined,
  options: UrlOptions,
  depth: number,
): Json | undefined {
  if (!Array.isArray(value) || depth > maxDepth) return value;
  let changed: Json[] | undefined;
  for (let at = 0; at < value.length; at++) {
    const entry: Json = value[at];
    if (!isJsonObject(entry)) continue;
    const sent = checkedEntry(entry, { ...options, param: `${options.param}[${at}]` }, depth);
    if (sent === entry) continue;
    changed ??= [...value];
    changed[at] = sent;
  }
  return changed ?? value;
}

/** A call of an earlier reply, or its result. */
function withSafeId(entry: JsonObject): JsonObject {
  const { type } = entry;
  const name = type === "tool_use" ? "id" : type === "tool_result" ? "tool_use_id" : undefined;
  const id = name === undefined ? undefined : entry[name];
  if (name === undefined || typeof id !== "string") return entry;
  const safe = toSafeCallId(id);
  return safe === id ? entry : { ...entry, [name]: safe };
}

function checkedEntry(entry: JsonObject, options: UrlOptions, depth: number): JsonObject {
  const { source, content } = entry;
  let sent = withSafeId(entry);
  if (Array.isArray(content)) {
    const param = `${options.param}.content`;
    const inner = checkedEntries(content, { ...options, param }, depth + 1);
    if (inner !== content) sent = { ...sent, content: inner };
  }
  if (!isJsonObject(source)) return sent;
  const { type, url, content: nested } = source;
  const param = `${options.param}.source`;
  if (type === "url" && typeof url === "string") {
    const address = toCallerUrl(url, { ...options, param: `${param}.url` });
    return address === url ? sent : { ...sent, source: { type, url: address } };
  }
  const inner = checkedEntries(nested, { ...options, param: `${param}.content` }, depth + 1);
  return inner === nested ? sent : { ...sent, source: { ...source, content: inner } };
}
