import { type ChatPart, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { EventStream, type EventStreamOptions, parseEvent } from "../../kit/event-stream.ts";
import { upstreamError } from "../../kit/failure.ts";
import { isPlace, toExtras } from "../chat-reply.ts";
import { finishOf, fromResponsesUsage, hasEnded } from "../responses-reply.ts";
import { throwTold } from "../told-failure.ts";
import { DetailWriter } from "./carried.ts";
import { paragraph, thoughtsOf, toAnnotation, toLikely, toToolCall } from "./reply.ts";

/** More than any answer has: each is remembered until its end. */
const maxItems = 10_000;

export interface ChatOfResponseOptions extends EventStreamOptions {
  readonly mark: string;
}

/** What was heard of one item of the output. */
interface Item {
  /** Its words have come in pieces: the whole of it says nothing new. */
  hasSaid: boolean;
  /** The place of a tool call among the calls. */
  readonly call: number | undefined;
}

/** Reads the events of a response as the parts of a chat. */
export class ChatOfResponseStream extends EventStream {
  readonly #items = new Map<number, Item>();
  readonly #details: DetailWriter;
  #extras: JsonObject | undefined;
  #calls = 0;
  #hasText = false;
  #hasThought = false;
  /** The message, or the thought, that spoke last, and its part. */
  #speaker = "";
  /** The response has ended: later events are dropped. */
  #isOver = false;

  constructor({ mark, ...options }: ChatOfResponseOptions) {
    super(options);
    this.#details = new DetailWriter(mark);
  }

  get extras(): JsonObject | undefined {
    return this.#extras;
  }

  protected take(event: string, parts: ChatPart[]): void {
    if (this.#isOver || event === "" || event.startsWith("[DONE]")) return;
    const data = parseEvent(event, this.provider);
    const { type } = data;
    // Under the name `error`, or in a response that failed.
    if (type === "error") throwTold({ error: data["error"] ?? data }, this.provider);
    throwTold(data, this.provider);
    const response = isJsonObject(data["response"]) ? data["response"] : undefined;
    if (type === "response.failed") throwTold({ error: response?.["error"] ?? {} }, this.provider);
    if (response === undefined) this.#takeOutput(data, parts);
    else if (type === "response.completed" || type === "response.incomplete")
      this.#end(response, parts);
  }

  #takeOutput(data: JsonObject, parts: ChatPart[]): void {
    switch (data["type"]) {
      case "response.output_text.delta":
        return this.#text(data, parts);
      case "response.refusal.delta":
        return this.#refusal(data, parts);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
      // Open Responses has this name for it.
      case "response.reasoning.delta":
        return this.#thought(data, parts);
      case "response.function_call_arguments.delta":
        return this.#arguments(data, parts);
      case "response.output_text.annotation.added":
        return addAnnotation(data, parts);
      case "response.output_item.added":
        return this.#begin(data, parts);
      case "response.output_item.done":
        return this.#endItem(data, parts);
      default:
    }
  }

  #text({ output_index: at, delta, logprobs }: JsonObject, parts: ChatPart[]): void {
    if (typeof delta !== "string" || delta === "") return;
    this.#itemAt(at).hasSaid = true;
    const text =
      this.#hasText && this.#isOther(`message ${String(at)}`) ? paragraph + delta : delta;
    this.#speaker = `message ${String(at)}`;
    this.#hasText = true;
    const content = Array.isArray(logprobs) ? logprobs.filter(isJsonObject).map(toLikely) : [];
    parts.push(
      content.length === 0
        ? { type: "text-delta", index: 0, text }
        : {
            type: "delta",
            index: 0,
            delta: { content: text },
            logprobs: { content, refusal: null },
          },
    );
  }

  #refusal({ output_index: at, delta }: JsonObject, parts: ChatPart[]): void {
    if (typeof delta !== "string" || delta === "") return;
    this.#itemAt(at).hasSaid = true;
    parts.push({ type: "delta", index: 0, delta: { refusal: delta }, logprobs: null });
  }

  #thought(data: JsonObject, parts: ChatPart[]): void {
    const { output_index: at, delta, summary_index: summary, content_index: content } = data;
    if (typeof delta !== "string" || delta === "") return;
    this.#itemAt(at).hasSaid = true;
    const speaker = `thought ${String(at)} ${String(summary ?? content)}`;
    const said = this.#hasThought && this.#isOther(speaker) ? paragraph + delta : delta;
    this.#speaker = speaker;
    this.#hasThought = true;
    pushThought(said, parts);
  }

  #isOther(speaker: string): boolean {
    return this.#speaker !== speaker;
  }

  #arguments({ output_index: at, delta }: JsonObject, parts: ChatPart[]): void {
    const item = this.#itemAt(at);
    if (typeof delta !== "string" || delta === "" || item.call === undefined) return;
    item.hasSaid = true;
    pushCall({ index: item.call, function: { arguments: delta } }, parts);
  }

  #begin({ output_index: at, item }: JsonObject, parts: ChatPart[]): void {
    if (isJsonObject(item) && item["type"] === "function_call") this.#call(at, item, parts);
  }

  #call(at: Json | undefined, given: JsonObject, parts: ChatPart[]): void {
    const call = toToolCall(given, this.provider);
    const item = { call: this.#calls++, hasSaid: hasArguments(given) };
    this.#remember(at, item);
    pushCall({ index: item.call, ...call }, parts);
  }

  /** What has come in no pieces is in the whole item. */
  #endItem({ output_index: at, item }: JsonObject, parts: ChatPart[]): void {
    if (!isJsonObject(item)) return;
    const { type, content } = item;
    const known = isPlace(at) ? this.#items.get(at) : undefined;
    if (type === "reasoning") {
      if (known?.hasSaid !== true)
        for (const [summary_index, delta] of thoughtsOf(item).entries())
          this.#thought({ output_index: at, summary_index, delta }, parts);
      const place = this.#calls + (this.#hasText || this.#calls > 0 ? 1 : 0);
      const detail = this.#details.take(item, place);
      if (detail !== undefined) parts.push({ type: "reasoning-detail", index: 0, detail });
    } else if (type === "function_call") {
      if (known?.call === undefined) this.#call(at, item, parts);
      else if (!known.hasSaid && hasArguments(item))
        this.#arguments({ output_index: at, delta: item["arguments"] }, parts);
    } else if (type === "message" && known?.hasSaid !== true && Array.isArray(content))
      for (const part of content.filter(isJsonObject)) {
        const { text, refusal, logprobs } = part;
        this.#text({ output_index: at, delta: text, logprobs }, parts);
        this.#refusal({ output_index: at, delta: refusal }, parts);
      }
  }

  #itemAt(at: Json | undefined): Item {
    const known = isPlace(at) ? this.#items.get(at) : undefined;
    if (known !== undefined) return known;
    const item = { hasSaid: false, call: undefined };
    this.#remember(at, item);
    return item;
  }

  #remember(at: Json | undefined, item: Item): void {
    if (!isPlace(at) || this.#items.size >= maxItems)
      throw upstreamError("upstream_error", {
        detail: `${this.provider} sent an event of no item, or of too many`,
      });
    this.#items.set(at, item);
  }

  #end(response: JsonObject, parts: ChatPart[]): void {
    if (!hasEnded(response))
      throw upstreamError("upstream_error", {
        detail: `${this.provider} ended a response without a result`,
      });
    this.#isOver = true;
    this.#extras = toExtras(response);
    const usage = fromResponsesUsage(response["usage"]);
    if (usage !== undefined) parts.push({ type: "usage", usage });
    const reason = finishOf(response);
    const isCall = reason === "stop" && this.#calls > 0;
    parts.push({ type: "finish", index: 0, reason: isCall ? "tool_calls" : reason });
    parts.push({ type: "done" });
    this.letClose();
  }
}

const hasArguments = ({ arguments: text }: JsonObject) => typeof text === "string" && text !== "";

function pushThought(text: string, parts: ChatPart[]): void {
  parts.push({ type: "delta", index: 0, delta: { reasoning_content: text }, logprobs: null });
}

function pushCall(call: JsonObject, parts: ChatPart[]): void {
  parts.push({ type: "delta", index: 0, delta: { tool_calls: [call] }, logprobs: null });
}

function addAnnotation({ annotation }: JsonObject, parts: ChatPart[]): void {
  const known = isJsonObject(annotation) ? toAnnotation(annotation) : undefined;
  if (known === undefined) return;
  parts.push({ type: "delta", index: 0, delta: { annotations: [known] }, logprobs: null });
}
