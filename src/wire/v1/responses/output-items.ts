import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { type KnownTool, toCustomInput } from "./tool-book.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** The prefixes of item ids. */
export const idPrefixes = {
  message: "msg",
  reasoning: "rs",
  function: "fc",
  custom: "ctc",
  tool_search: "tsc",
} as const;

/** Ids contain that of the response, so that a reference to an item can be resolved. */
export const itemId = (kind: keyof typeof idPrefixes, responseId: string, at: number) =>
  `${idPrefixes[kind]}_${responseId.slice(responseId.indexOf("_") + 1)}_${at}`;

const idForm = /^[a-z]{2,4}_([A-Za-z0-9]{16,64})_(?:in_)?\d{1,6}$/;

/** The response that an item belongs to, if its id contains it. */
export function responseIdOf(id: string): string | undefined {
  const inner = idForm.exec(id)?.[1];
  return inner === undefined ? undefined : `resp_${inner}`;
}

/** Input in the form in which it is listed later: items have ids, and text is a part. */
export function withItemIds(items: readonly JsonObject[], responseId: string): JsonObject[] {
  const inner = responseId.slice(responseId.indexOf("_") + 1);
  return items.map((item, at) => {
    const { content, role } = item;
    const id = typeof item["id"] === "string" ? item["id"] : `item_${inner}_in_${at}`;
    if (typeof content !== "string" || item["type"] !== "message") return { ...item, id };
    const type = role === "assistant" ? "output_text" : "input_text";
    return { ...item, id, content: [{ type, text: content }] };
  });
}

/** Parts and items are written as JSON, for whole replies and for events. */
interface TextPart {
  readonly text: string;
  readonly annotations: readonly JsonObject[];
  readonly logprobs: readonly Json[];
}

/** `text`: JSON of it. */
export function textPart({ text, annotations, logprobs }: TextPart): string {
  return `{"type":"output_text","annotations":${listOf(annotations)},"logprobs":${listOf(logprobs)},"text":${text}}`;
}

const listOf = (values: readonly Json[]) => (values.length === 0 ? "[]" : JSON.stringify(values));

export const refusalPart = (refusal: string) => `{"type":"refusal","refusal":${refusal}}`;

export const emptyPart = textPart({ text: '""', annotations: [], logprobs: [] });

export function messageItem(id: string, status: ItemStatus, parts: readonly string[]): string {
  return `{"id":"${id}","type":"message","status":"${status}","content":[${parts.join(",")}],"role":"assistant"}`;
}

/** `text`: JSON of it. */
export const reasoningPart = (text: string) => `{"type":"reasoning_text","text":${text}}`;

interface Reasoning {
  readonly id: string;
  readonly text: string;
  /** Whether the text is also the content, and not only a summary of it. */
  readonly isRaw?: boolean;
  readonly opaque: string | undefined;
}

/** Thoughts are always a summary, because most clients show only that. */
export function reasoningItem({ id, text, isRaw = false, opaque }: Reasoning): string {
  return JSON.stringify({
    id,
    type: "reasoning",
    encrypted_content: opaque,
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    content: isRaw ? [{ type: "reasoning_text", text }] : undefined,
  });
}

export interface CalledTool {
  readonly tool: KnownTool;
  readonly id: string;
  readonly callId: string;
  readonly status: ItemStatus;
  /** As the model wrote them, for a function. */
  readonly arguments: string;
}

export function callItem({ tool, id, callId, status, arguments: text }: CalledTool): string {
  const { kind, name, namespace } = tool;
  const named = { call_id: callId, name, namespace };
  switch (kind) {
    case "function":
      return JSON.stringify({ id, type: "function_call", status, arguments: text, ...named });
    case "custom":
      return JSON.stringify({
        id,
        type: "custom_tool_call",
        status,
        input: text === "" ? "" : toCustomInput(text),
        ...named,
      });
    case "tool_search":
      return JSON.stringify({
        id,
        type: "tool_search_call",
        status,
        execution: "client",
        call_id: callId,
        arguments: parsed(text),
      });
    default:
      return kind satisfies never;
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? {} : text;
  }
}

/** The sources of a message. In chat completions, they are nested one level deeper. */
export function toAnnotations(annotations: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(annotations)) return [];
  return annotations.filter(isJsonObject).map((annotation) => {
    const { type } = annotation;
    const inner = typeof type === "string" ? annotation[type] : undefined;
    return isJsonObject(inner) ? { type, ...inner } : annotation;
  });
}

/** The log probabilities of a text, if there are any. */
export function toLogprobs(logprobs: Json | undefined): readonly Json[] {
  const content = isJsonObject(logprobs) ? logprobs["content"] : undefined;
  return Array.isArray(content) ? content : [];
}
