import { type ChatCall, isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { toCallerUrl } from "../kit/caller-url.ts";
import { toBody } from "../kit/http.ts";

export interface RequestOptions {
  readonly call: ChatCall;
  readonly model: string;
  readonly takesUrls: boolean;
}

/** The least that the vendor takes as a budget of thoughts. */
const leastBudget = 1_024;

/** The caller's own request, with the model and the cap that it may have. */
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

/** The same for a prompt that is only to be counted. */
export function toCountBody(options: RequestOptions): string {
  const body = checkedBody(options);
  const counted: Record<string, Json | undefined> = { model: options.model };
  for (const name of countedFields) if (body[name] !== undefined) counted[name] = body[name];
  return toBody(counted);
}

function checkedBody({ call: { original }, takesUrls }: RequestOptions): JsonObject {
  const body = original?.body ?? {};
  const { messages } = body;
  const checked = withCallerUrls(messages, { param: "messages", takesUrls }, 0);
  return checked === messages ? body : { ...body, messages: checked };
}

/** Thoughts are part of the answer: the vendor wants their budget to be less than the whole. */
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

/** The vendor would fetch them. What needs no change is not copied. */
function withCallerUrls(
  value: Json | undefined,
  options: UrlOptions,
  depth: number,
): Json | undefined {
  if (!Array.isArray(value) || depth > maxDepth) return value;
  let changed: Json[] | undefined;
  for (let at = 0; at < value.length; at++) {
    const entry: Json = value[at];
    if (!isJsonObject(entry)) continue;
    const sent = withCallerUrl(entry, { ...options, param: `${options.param}[${at}]` }, depth);
    if (sent === entry) continue;
    changed ??= [...value];
    changed[at] = sent;
  }
  return changed ?? value;
}

function withCallerUrl(entry: JsonObject, options: UrlOptions, depth: number): JsonObject {
  const { source, content } = entry;
  let sent = entry;
  if (Array.isArray(content)) {
    const param = `${options.param}.content`;
    const inner = withCallerUrls(content, { ...options, param }, depth + 1);
    if (inner !== content) sent = { ...sent, content: inner };
  }
  if (!isJsonObject(source)) return sent;
  const { type, url, content: nested } = source;
  const param = `${options.param}.source`;
  if (type === "url" && typeof url === "string") {
    const address = toCallerUrl(url, { ...options, param: `${param}.url` });
    return address === url ? sent : { ...sent, source: { type, url: address } };
  }
  const inner = withCallerUrls(nested, { ...options, param: `${param}.content` }, depth + 1);
  return inner === nested ? sent : { ...sent, source: { ...source, content: inner } };
}
