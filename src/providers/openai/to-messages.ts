import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { ReasoningField, ReasoningForm, TakenBack } from "../../call/quirks.ts";
import { toCallerUrl } from "../kit/caller-url.ts";
import type { FieldRule } from "./field-rules.ts";
import { withOwnDetails } from "./own-details.ts";
import { withOneWish } from "./reasoning-field.ts";

export interface MessageOptions {
  /** What it takes back of what was said beside an answer; absent: nothing. */
  readonly takesBack?: TakenBack | undefined;
  /** May be given addresses to fetch. */
  readonly takesUrls: boolean;
  /** Absent: under the names that the caller used. */
  readonly reasoningBack?: ReasoningForm | undefined;
  readonly onlySystem?: boolean | undefined;
  readonly noCacheControl?: boolean | undefined;
}

/**
 * The messages as a server may have them. Nearly all go as they are; what is looked at is seen in
 * passing, and only what must not go is copied without it.
 */
export function toMessages(
  messages: readonly JsonObject[],
  options: MessageOptions,
): readonly JsonObject[] {
  const { takesBack = {}, takesUrls, reasoningBack, onlySystem, noCacheControl = false } = options;
  let changed: JsonObject[] | undefined;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined) continue;
    const { role, content } = message;
    let sent = message;
    if (role === "assistant") sent = withOwnDetails(sent, takesBack);
    else if (role === "developer" && onlySystem === true) sent = { ...sent, role: "system" };
    sent = withPlainCaching(sent, noCacheControl);
    if (sent["tool_calls"] !== undefined) sent = withPlainList(sent, "tool_calls", noCacheControl);
    if (Array.isArray(content)) {
      const param = `messages[${at}].content`;
      const parts = withSafeParts(content, { param, takesUrls, noCacheControl });
      if (parts !== content) sent = { ...sent, content: parts };
    }
    if (reasoningBack !== undefined && role === "assistant")
      sent = withReasoning(sent, reasoningBack);
    if (sent === message) continue;
    changed ??= [...messages];
    changed[at] = sent;
  }
  return changed ?? messages;
}

/** Reasoning of an earlier answer under the one name that the server knows, or not at all. */
function withReasoning(message: JsonObject, form: ReasoningForm): JsonObject {
  const { reasoning, reasoning_content: content } = message;
  if (reasoning === undefined && content === undefined) return message;
  if (form === "reasoning" && content === undefined) return message;
  if (form === "reasoning_content" && reasoning === undefined) return message;
  const { reasoning: _reasoning, reasoning_content: _content, ...rest } = message;
  const text = typeof content === "string" && content !== "" ? content : reasoning;
  if (form === "none" || typeof text !== "string" || text === "") return rest;
  if (form !== "parts") return { ...rest, [form]: text };
  const thinking = { type: "thinking", thinking: [{ type: "text", text }] };
  return { ...rest, content: [thinking, ...toTextParts(rest["content"])] };
}

function toTextParts(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content;
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

interface PartOptions {
  readonly param: string;
  readonly takesUrls: boolean;
  readonly noCacheControl: boolean;
}

/** Parts of a message or an item, as a server may have them. */
export function withSafeParts(content: readonly Json[], options: PartOptions): readonly Json[] {
  let changed: Json[] | undefined;
  for (let at = 0; at < content.length; at++) {
    const part = content[at];
    if (!isJsonObject(part)) continue;
    let sent = withPlainCaching(part, options.noCacheControl);
    if (mayHoldUrl(sent))
      sent = withCallerUrls(sent, { ...options, param: `${options.param}[${at}]` }, 0);
    if (sent === part) continue;
    changed ??= [...content];
    changed[at] = sent;
  }
  return changed ?? content;
}

/** The same for one that stands alone. */
export function withSafePart(part: JsonObject, options: PartOptions): JsonObject {
  return withCallerUrls(withPlainCaching(part, options.noCacheControl), options, 0);
}

/** Where an earlier answer found what it said: it is quoted, and nobody fetches it. */
const isSources = ({ type }: JsonObject, name: string) =>
  name === "annotations" && type === "output_text";

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
    if (isSources(part, name)) continue;
    const value = part[name];
    const param = `${options.param}.${name.slice(0, 64)}`;
    let sent = value;
    if (typeof value === "string") {
      if (isUrlName(name)) sent = toCallerUrl(value, { ...options, param });
    } else if (isJsonObject(value) && depth < maxUrlDepth)
      sent = withCallerUrls(
        withPlainCaching(value, options.noCacheControl),
        { ...options, param },
        depth + 1,
      );
    else if (Array.isArray(value)) sent = withSafeParts(value, { ...options, param });
    if (sent === value) continue;
    changed ??= { ...part };
    changed[name] = sent;
  }
  return changed ?? part;
}

/**
 * To keep what was read for longer costs more than our prices know of, and a form that no server knows
 * would look like a server that refuses all of them.
 */
function withPlainCaching(owner: JsonObject, noCacheControl: boolean): JsonObject {
  const wish = owner["cache_control"];
  if (wish === undefined) return owner;
  if (noCacheControl) {
    const { cache_control: _wish, ...rest } = owner;
    return rest;
  }
  if (isJsonObject(wish) && wish["type"] === "ephemeral" && Object.keys(wish).length === 1)
    return owner;
  return { ...owner, cache_control: { type: "ephemeral" } };
}

export interface FieldOptions {
  readonly cap: number | undefined;
  /** What becomes of fields that do not go as they are. */
  readonly rules: readonly FieldRule[];
  readonly noCacheControl?: boolean | undefined;
  /** Absent: wishes for reasoning go as they are. */
  readonly reasoningField?: ReasoningField | undefined;
}

/** Thoughts are part of the answer: none may be allowed more than the whole. */
export function toOptions(
  options: JsonObject,
  { cap, rules, reasoningField, noCacheControl = false }: FieldOptions,
): JsonObject {
  const known = withKnownFields(options, rules);
  let sent = reasoningField === undefined ? known : withOneWish(known, reasoningField);
  const { thinking, reasoning, tools } = sent;
  if (tools !== undefined) sent = withPlainList(sent, "tools", noCacheControl);
  if (cap === undefined) return sent;
  if (isJsonObject(thinking) && isAbove(thinking["budget_tokens"], cap))
    sent = { ...sent, thinking: { ...thinking, budget_tokens: cap } };
  if (isJsonObject(reasoning) && isAbove(reasoning["max_tokens"], cap))
    sent = { ...sent, reasoning: { ...reasoning, max_tokens: cap } };
  return sent;
}

function withKnownFields(options: JsonObject, rules: readonly FieldRule[]): JsonObject {
  let changed: Record<string, Json | undefined> | undefined;
  for (const { name, to, only } of rules) {
    const value = options[name];
    if (value === undefined || (only !== undefined && value === only)) continue;
    changed ??= { ...options };
    delete changed[name];
    if (to !== undefined) changed[to] = value;
  }
  return changed ?? options;
}

function withPlainList(
  owner: JsonObject,
  name: "tools" | "tool_calls",
  noCacheControl: boolean,
): JsonObject {
  const list = owner[name];
  if (!Array.isArray(list)) return owner;
  let changed: Json[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const entry: Json = list[at];
    if (!isJsonObject(entry)) continue;
    const plain = withPlainFunction(withPlainCaching(entry, noCacheControl), noCacheControl);
    if (plain === entry) continue;
    changed ??= [...list];
    changed[at] = plain;
  }
  return changed === undefined ? owner : { ...owner, [name]: changed };
}

/** Also where it stands one level down. */
function withPlainFunction(owner: JsonObject, noCacheControl: boolean): JsonObject {
  const { function: named } = owner;
  const plain = isJsonObject(named) ? withPlainCaching(named, noCacheControl) : named;
  return plain === named ? owner : { ...owner, function: plain };
}

const isAbove = (value: Json | undefined, cap: number) => typeof value === "number" && value > cap;
