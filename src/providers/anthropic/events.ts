import { parseBounded } from "../../base/json/bounds.ts";
import { plainText } from "../../base/json/plain.ts";
import { type ChatPart, isJsonObject, type JsonObject, wordsOf } from "../../call/chat.ts";
import { upstreamError } from "../kit/failure.ts";
import { throwTold, toFinishReason } from "./from-reply.ts";
import { fromAnthropicUsage, usageFields } from "./usage.ts";

const deltaStart = '{"type":"content_block_delta","index":';
const deltaForm = ',"delta":{"type":"';
/** The digits of a block's index. */
const maxIndexChars = 6;
const digits = /^\d+$/;
const plain = new RegExp(`^${plainText}$`);
const kinds = [
  { start: 'text_delta","text":"', isReasoning: undefined },
  { start: 'thinking_delta","thinking":"', isReasoning: true },
] as const;
/** Before a message has content, a vendor sends its start and a few pings. */
const maxHeld = 16;
/** The writer holds these until the call is settled. A vendor sends one. */
const maxEnds = 100;
const deltaEnd = /^" *\} *\} *$/;

/** Turns the vendor's events into parts: each is passed on unchanged, with the text in it. */
export class NativeEvents {
  readonly #provider: string;
  /** The usage that the stream has reported so far. */
  #usage: JsonObject = {};
  #stopReason: JsonObject[string];
  #ends = 0;
  #hasBegun = false;
  #hasContent = false;
  /** The message has ended: later events are ignored. */
  #isOver = false;
  /** Held until the message has content: a call that fails before can move to another target. */
  #held: ChatPart[] = [];

  constructor(provider: string) {
    this.#provider = provider;
  }

  take(data: string, parts: ChatPart[]): void {
    if (this.#isOver) return;
    if (this.#takePlain(data, parts)) return;
    const event = this.#parse(data);
    throwTold(event, this.#provider);
    const type = typeof event["type"] === "string" ? event["type"] : "";
    // The type becomes the name of the event, which is a line of its own.
    if (!/^\w{1,64}$/.test(type)) return;
    const text = `event: ${type}\ndata: ${data.includes("\n") ? JSON.stringify(event) : data}\n\n`;
    switch (type) {
      case "message_start":
        this.#begin(event, text);
        return;
      case "ping":
        if (this.#hasContent) parts.push({ type: "native", text, words: "" });
        else if (this.#held.length < maxHeld) this.#held.push({ type: "native", text, words: "" });
        return;
      case "message_delta":
        this.#release(parts);
        this.#takeEnd(event, text, parts);
        return;
      case "message_stop":
        // Without a stop reason, the reply was cut off.
        if (typeof this.#stopReason !== "string")
          throw upstreamError("upstream_error", {
            detail: `${this.#provider} ended a message without a stop reason`,
          });
        this.#isOver = true;
        this.#release(parts);
        parts.push(
          { type: "native", text, words: "", isLast: true },
          { type: "finish", index: 0, reason: toFinishReason(this.#stopReason) },
          { type: "done" },
        );
        return;
      default:
        this.#release(parts);
        parts.push(toPart(type, event, text));
    }
  }

  /** Nearly every event: a piece of text, found without parsing the event. */
  #takePlain(data: string, parts: ChatPart[]): boolean {
    if (!data.startsWith(deltaStart)) return false;
    const form = data.indexOf(deltaForm, deltaStart.length);
    if (form === -1 || form > deltaStart.length + maxIndexChars) return false;
    if (!digits.test(data.slice(deltaStart.length, form))) return false;
    for (const { start, isReasoning } of kinds) {
      if (!data.startsWith(start, form + deltaForm.length)) continue;
      const from = form + deltaForm.length + start.length;
      const end = data.indexOf('"', from);
      const words = data.slice(from, end);
      if (end === -1 || !plain.test(words) || !deltaEnd.test(data.slice(end))) return false;
      this.#release(parts);
      const text = `event: content_block_delta\ndata: ${data}\n\n`;
      parts.push({ type: "native", text, words, isReasoning });
      return true;
    }
    return false;
  }

  #begin(event: JsonObject, text: string): void {
    // Another start, with other counts, would be charged and not shown.
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { message } = event;
    const told = usageFields(isJsonObject(message) ? message["usage"] : undefined);
    // Nothing has been written yet: the vendor's 1 must not stand for a count that its end lacks.
    this.#usage = { ...told, output_tokens: 0 };
    const usage = fromAnthropicUsage(this.#usage);
    this.#held.push({ type: "native", text, data: event, words: "" });
    if (usage !== undefined) this.#held.push({ type: "usage", usage });
  }

  #takeEnd(event: JsonObject, text: string, parts: ChatPart[]): void {
    const { delta, usage: given } = event;
    if (++this.#ends > maxEnds)
      throw upstreamError("upstream_error", {
        detail: `${this.#provider} sent more than ${maxEnds} message_delta events`,
      });
    this.#stopReason = isJsonObject(delta) ? delta["stop_reason"] : undefined;
    parts.push({ type: "native", text, data: event, words: "", isLast: true });
    const usage = fromAnthropicUsage(given, this.#usage);
    this.#usage = { ...this.#usage, ...usageFields(given) };
    if (usage !== undefined) parts.push({ type: "usage", usage });
  }

  #release(parts: ChatPart[]): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    parts.push(...this.#held);
    this.#held = [];
  }

  #parse(data: string): JsonObject {
    let event: unknown;
    try {
      event = parseBounded(data);
    } catch (cause) {
      throw upstreamError("upstream_error", {
        detail: `${this.#provider} sent an event that is not valid JSON`,
        cause,
      });
    }
    if (isJsonObject(event)) return event;
    throw upstreamError("upstream_error", {
      detail: `${this.#provider} sent an event that is not an object`,
    });
  }
}

function toPart(type: string, event: JsonObject, text: string): ChatPart {
  if (type === "content_block_stop") return { type: "native", text, words: "" };
  const { delta, content_block: block } = event;
  const content = isJsonObject(delta) ? delta : isJsonObject(block) ? block : {};
  const isReasoning = content["type"] === "thinking_delta" ? true : undefined;
  // The text of a cited document is not output of the model.
  const words = content["type"] === "citations_delta" ? "" : wordsOf(content);
  // The writer needs the index of each block.
  const data = type === "content_block_start" ? event : undefined;
  return { type: "native", text, data, words, isReasoning };
}
