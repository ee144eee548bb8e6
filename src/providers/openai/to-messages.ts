import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { toCallerUrl } from "../kit/caller-url.ts";

export interface MessageOptions {
  /** Takes back what it, or another vendor, said beside an answer. */
  readonly takesDetails: boolean;
  /** May be given addresses to fetch. */
  readonly takesUrls: boolean;
}

/**
 * The messages as a server may have them. Nearly all go as they are; what is looked at is seen in
 * passing, and only what must not go is copied without it.
 */
export function toMessages(
  messages: readonly JsonObject[],
  { takesDetails, takesUrls }: MessageOptions,
): readonly JsonObject[] {
  let changed: JsonObject[] | undefined;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined) continue;
    const { role, content } = message;
    let sent = message;
    if (role === "assistant" && !takesDetails) sent = withoutDetails(sent);
    sent = withPlainCaching(sent);
    if (message["tool_calls"] !== undefined) sent = withPlainList(sent, "tool_calls");
    if (Array.isArray(content)) {
      const parts = toParts(content, { param: `messages[${at}].content`, takesUrls });
      if (parts !== content) sent = { ...sent, content: parts };
    }
    if (sent === message) continue;
    changed ??= [...messages];
    changed[at] = sent;
  }
  return changed ?? messages;
}

/** Answers of other vendors carry what only these want back; strict servers refuse it. */
function withoutDetails(message: JsonObject): JsonObject {
  const { extra_content: extra, reasoning_details: details, tool_calls: calls } = message;
  const hasCallDetails = Array.isArray(calls) && calls.some(isDetailed);
  if (extra === undefined && details === undefined && !hasCallDetails) return message;
  const { extra_content: _extra, reasoning_details: _details, ...rest } = message;
  if (!hasCallDetails) return rest;
  return {
    ...rest,
    tool_calls: calls.map((call) => (isJsonObject(call) ? plainCall(call) : call)),
  };
}

const isDetailed = (call: Json) =>
  isJsonObject(call) &&
  (call["extra_content"] !== undefined || call["provider_metadata"] !== undefined);

function plainCall(call: JsonObject): JsonObject {
  const { extra_content: _extra, provider_metadata: _metadata, ...rest } = call;
  return rest;
}

interface PartOptions {
  readonly param: string;
  readonly takesUrls: boolean;
}

function toParts(content: readonly Json[], options: PartOptions): readonly Json[] {
  let changed: Json[] | undefined;
  for (let at = 0; at < content.length; at++) {
    const part = content[at];
    if (!isJsonObject(part)) continue;
    let sent = withPlainCaching(part);
    if (mayHoldUrl(sent))
      sent = withCallerUrls(sent, { ...options, param: `${options.param}[${at}]` }, 0);
    if (sent === part) continue;
    changed ??= [...content];
    changed[at] = sent;
  }
  return changed ?? content;
}

const isUrlName = (name: string) => /ur[il]$/i.test(name);

/** Text, as nearly all parts are, is passed by without a word. */
function mayHoldUrl(part: JsonObject): boolean {
  for (const name in part) {
    const value = part[name];
    if (typeof value === "string" ? isUrlName(name) : typeof value === "object") return true;
  }
  return false;
}

/** How deep in a part a server looks for an address. */
const maxUrlDepth = 4;

/**
 * A server that fetches would do so from where it stands. Addresses are looked for under every name
 * that may hold one: servers know kinds of parts that the contract does not.
 */
function withCallerUrls(part: JsonObject, options: PartOptions, depth: number): JsonObject {
  let changed: Record<string, Json | undefined> | undefined;
  for (const name in part) {
    const value = part[name];
    const param = `${options.param}.${name.slice(0, 64)}`;
    let sent = value;
    if (typeof value === "string") {
      if (isUrlName(name)) sent = toCallerUrl(value, { ...options, param });
    } else if (isJsonObject(value) && depth < maxUrlDepth)
      sent = withCallerUrls(withPlainCaching(value), { ...options, param }, depth + 1);
    else if (Array.isArray(value)) sent = toParts(value, { ...options, param });
    if (sent === value) continue;
    changed ??= { ...part };
    changed[name] = sent;
  }
  return changed ?? part;
}

/** To keep what was read for longer costs more than our prices know of. */
function withPlainCaching(owner: JsonObject): JsonObject {
  const wish = owner["cache_control"];
  if (!isJsonObject(wish) || wish["ttl"] === undefined) return owner;
  return { ...owner, cache_control: { type: "ephemeral" } };
}

/** Thoughts are part of the answer: none may be allowed more than the whole. */
export function toOptions(
  options: JsonObject,
  { cap, keepsReplies }: { readonly cap: number | undefined; readonly keepsReplies: boolean },
): JsonObject {
  const { thinking, reasoning, metadata, store, tools } = options;
  let sent = options;
  if (!keepsReplies && (metadata !== undefined || store !== undefined)) {
    const { metadata: _metadata, store: _store, ...rest } = options;
    sent = rest;
  }
  if (tools !== undefined) sent = withPlainList(sent, "tools");
  if (cap === undefined) return sent;
  if (isJsonObject(thinking) && isAbove(thinking["budget_tokens"], cap))
    sent = { ...sent, thinking: { ...thinking, budget_tokens: cap } };
  if (isJsonObject(reasoning) && isAbove(reasoning["max_tokens"], cap))
    sent = { ...sent, reasoning: { ...reasoning, max_tokens: cap } };
  return sent;
}

function withPlainList(owner: JsonObject, name: "tools" | "tool_calls"): JsonObject {
  const list = owner[name];
  if (!Array.isArray(list)) return owner;
  let changed: Json[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const entry: Json = list[at];
    if (!isJsonObject(entry)) continue;
    const plain = withPlainFunction(withPlainCaching(entry));
    if (plain === entry) continue;
    changed ??= [...list];
    changed[at] = plain;
  }
  return changed === undefined ? owner : { ...owner, [name]: changed };
}

/** Also where it stands one level down. */
function withPlainFunction(owner: JsonObject): JsonObject {
  const { function: named } = owner;
  const plain = isJsonObject(named) ? withPlainCaching(named) : named;
  return plain === named ? owner : { ...owner, function: plain };
}

const isAbove = (value: Json | undefined, cap: number) => typeof value === "number" && value > cap;
