import {
  type ChatPart,
  isJsonObject,
  isRawThought,
  type Json,
  type JsonObject,
  thoughtIn,
} from "../../call/chat.ts";
import { EventStream, type EventStreamOptions, parseEvent } from "../kit/event-stream.ts";
import {
  dropOddTexts,
  isPlace,
  nameReasoning,
  takeThinking,
  toContent,
  toExtras,
  toFinishReason,
  toLogprobs,
} from "./chat-reply.ts";
import { DeltaTemplate, type PlainDelta } from "./delta-template.ts";
import { StreamDetails } from "./stream-details.ts";
import { throwTold } from "./told-failure.ts";
import { fromOpenAiUsage } from "./usage.ts";

/** As many as a request may ask for. */
const mostChoices = 128;

export interface ChatStreamOptions extends EventStreamOptions {
  /** Every event is parsed, also those that need not be: for comparison. */
  readonly parsesAll?: boolean;
}

/** The events of a server that speaks chat completions or legacy completions. */
export class OpenAiChatStream extends EventStream {
  readonly #calledTools = new Set<number>();
  #extras: JsonObject | undefined;
  /** By choice; of few vendors. */
  #details: Map<number, StreamDetails> | undefined;
  /** Thoughts have come that anyone can read. */
  #hasThoughts = false;
  readonly #template: DeltaTemplate | undefined;
  /** As they were when the template was learned: it repeats what they say. */
  #learnedExtras: JsonObject | undefined;

  constructor({ parsesAll = false, ...options }: ChatStreamOptions) {
    super(options);
    this.#template = parsesAll ? undefined : new DeltaTemplate();
  }

  get extras(): JsonObject | undefined {
    return this.#extras;
  }

  protected take(event: string, parts: ChatPart[]): void {
    if (event.startsWith("[DONE]") && event.trim() === "[DONE]") {
      parts.push({ type: "done" });
      this.letClose();
      return;
    }
    if (event === "") return;
    const template = this.#template;
    const text = this.#learnedExtras === this.#extras ? template?.match(event) : undefined;
    if (template !== undefined && text !== undefined) {
      parts.push({ type: "text-delta", index: template.index, text, isPlain: true });
      return;
    }
    const before = parts.length;
    this.#takeChunk(parseEvent(event, this.provider), parts);
    const [only, ...others] = parts.slice(before);
    if (only?.type !== "text-delta" || others.length > 0) return;
    if (template?.learn(event, only, readPlain) === true) this.#learnedExtras = this.#extras;
  }

  #takeChunk(chunk: JsonObject, parts: ChatPart[]): void {
    const { choices, usage } = chunk;
    throwTold(chunk, this.provider);
    this.#noteExtras(chunk);
    if (Array.isArray(choices))
      for (const choice of choices) if (isJsonObject(choice)) this.#takeChoice(choice, parts);
    if (usage !== undefined && usage !== null) {
      const read = fromOpenAiUsage(usage);
      if (read !== undefined) parts.push({ type: "usage", usage: read });
    }
  }

  /** Servers repeat the same in every event: it is read again only where it is something else. */
  #noteExtras(chunk: JsonObject): void {
    const { system_fingerprint: fingerprint, service_tier: tier } = chunk;
    const { citations, search_results: results } = chunk;
    const known = this.#extras;
    const isKnown =
      (fingerprint ?? known?.["system_fingerprint"]) === known?.["system_fingerprint"] &&
      (tier ?? known?.["service_tier"]) === known?.["service_tier"];
    if (isKnown && citations === undefined && results === undefined) return;
    const extras = toExtras(chunk);
    if (extras !== undefined) this.#extras = { ...known, ...extras };
  }

  #takeChoice(choice: JsonObject, parts: ChatPart[]): void {
    const index = isPlace(choice["index"]) ? choice["index"] : 0;
    const { finish_reason: finish } = choice;
    const delta = deltaOf(choice);
    if (finish === "error" || choice["error"] !== undefined)
      throwTold({ error: {}, ...choice }, this.provider);
    const logprobs = toLogprobs(choice["logprobs"]);
    if (isJsonObject(delta)) {
      const text = plainText(delta);
      if (text !== undefined && logprobs === null) parts.push({ type: "text-delta", index, text });
      else {
        // Some servers send an empty list, or null, beside every piece of text.
        const { tool_calls: calls, reasoning_details: details } = delta;
        if (Array.isArray(calls) && calls.length > 0) this.#calledTools.add(index);
        const known = withKnownTypes(delta);
        this.#hasThoughts ||= hasWords(known["reasoning_content"]);
        const isListed = Array.isArray(details);
        if (isListed) this.#detailsOf(index)?.take(details);
        // Most servers that sign say the same in a field of its own.
        const signedThought = this.#hasThoughts ? "" : thoughtIn(details);
        const part = { type: "delta", index, delta: known, logprobs } as const;
        const isSigned = isListed && !isRawThought(details);
        if (signedThought === "" && !isSigned) parts.push(part);
        else parts.push({ ...part, ...(signedThought === "" ? {} : { signedThought }), isSigned });
      }
    }
    if (typeof finish === "string" && finish !== "") {
      for (const detail of this.#details?.get(index)?.end() ?? [])
        parts.push({ type: "reasoning-detail", index, detail });
      this.#details?.delete(index);
      parts.push({
        type: "finish",
        index,
        reason: toFinishReason(finish, this.#calledTools.has(index)),
      });
    }
  }

  #detailsOf(index: number): StreamDetails | undefined {
    this.#details ??= new Map();
    const known = this.#details.get(index);
    if (known !== undefined || this.#details.size >= mostChoices) return known;
    const fresh = new StreamDetails();
    this.#details.set(index, fresh);
    return fresh;
  }
}

/**
 * Some servers put the last piece, or all of it, where a whole reply has its message. Legacy
 * completions have nothing but text.
 */
function deltaOf({ delta, message, text }: JsonObject): Json | undefined {
  return delta ?? message ?? (typeof text === "string" ? { content: text } : undefined);
}

const hasWords = (value: Json | undefined) => typeof value === "string" && value !== "";

/** Fields that clients read have the type that they expect, or are left out. */
function withKnownTypes(given: JsonObject): JsonObject {
  const { function_call: _called, reasoning_details: _details, ...delta } = given;
  const known: Record<string, JsonObject[string]> = delta;
  const { content } = delta;
  if (content !== undefined && content !== null && typeof content !== "string") {
    known["content"] = toContent(content);
    takeThinking(known, content);
  }
  dropOddTexts(known);
  nameReasoning(known);
  return known;
}

/** An event that is known to hold one piece of text and nothing else, with another one in its place. */
function readPlain(event: string): PlainDelta | undefined {
  let chunk: JsonObject;
  try {
    chunk = JSON.parse(event);
  } catch {
    // What was replaced is no text: `":"` also stands between names and values.
    return undefined;
  }
  const { choices } = chunk;
  const [choice] = Array.isArray(choices) ? choices : [];
  if (!isJsonObject(choice)) return undefined;
  const delta = deltaOf(choice);
  const text = isJsonObject(delta) ? plainText(delta) : undefined;
  const index = isPlace(choice["index"]) ? choice["index"] : 0;
  return text === undefined ? undefined : { index, text };
}

/** The text of a delta that carries nothing else: nearly all of them. The role is ours to write. */
function plainText(delta: JsonObject): string | undefined {
  for (const name in delta)
    if (name !== "content" && name !== "role" && delta[name] !== null) return undefined;
  const { content } = delta;
  if (typeof content === "string") return content;
  // Null and empty text differ: null tells clients that the message is a tool call.
  return content === undefined ? "" : undefined;
}
