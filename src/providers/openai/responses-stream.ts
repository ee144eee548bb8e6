import type { ApiError } from "../../base/errors.ts";
import { type ChatPart, isJsonObject, type JsonObject, type NativeEvent } from "../../call/chat.ts";
import { EventStream, parseEvent } from "../kit/event-stream.ts";
import { upstreamError } from "../kit/failure.ts";
import { DeltaEvents } from "./delta-events.ts";
import { finishOf, fromResponsesUsage, hasEnded, wordsOfItem } from "./responses-reply.ts";
import { throwTold } from "./told-failure.ts";

const head = '{"type":"';
/** Held until the model writes something, so that another target can be tried before. */
const beginnings: ReadonlySet<string> = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
]);
/** How many of them are held; a vendor sends two or three. */
const maxHeld = 16;
const eventName = /^[\w.]{1,100}$/;
const ends: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);
/** Items whose text has come in deltas already. */
const sentInDeltas: ReadonlySet<unknown> = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
]);

/** Reads the events of an upstream that speaks the Responses format, one packet at a time. */
export class ResponsesStream extends EventStream {
  #held: NativeEvent[] | undefined = [];
  /** The kind of the last delta; after a delta, nothing is held. */
  #deltas: Deltas | undefined;
  #hasDeltas = false;
  /** Something was counted, beside deltas that are like the one before. */
  #hasWords = false;
  /** The response has ended: later events are dropped. */
  #isOver = false;

  protected take(event: string, parts: ChatPart[]): void {
    if (this.#isOver || event === "" || event.startsWith("[DONE]")) return;
    // Nearly all events are deltas of the same type as the one before, and need no parsing.
    const known = this.#deltas;
    const words = known?.events.match(event);
    if (known !== undefined && words !== undefined) {
      const text = known.eventHead + event + eventEnd;
      parts.push(
        known.isReasoning
          ? { type: "native", text, words, isReasoning: true }
          : { type: "native", text, words },
      );
      return;
    }
    const data = parseEvent(event, this.provider);
    const type = String(data["type"]);
    // Data of several lines, or with spaces at its end, is written in one line.
    const isLine = !event.includes("\n") && event.endsWith("}");
    const line = isLine ? event : JSON.stringify(data);
    if (!event.startsWith(`${head}${type}"`) || !isPassed(type) || !isLine) {
      this.#takeParsed(line, data, parts);
      return;
    }
    this.#push(parts, nativeOf(type, line, this.#wordsIn(type, data)));
    if (!type.endsWith(".delta")) return;
    this.#hasDeltas = true;
    const events = DeltaEvents.from(line, data);
    if (events !== undefined) this.#deltas = toDeltas(type, events);
  }

  #takeParsed(event: string, data: JsonObject, parts: ChatPart[]): void {
    const type = String(data["type"]);
    // Under the name `error`, or in a response that failed.
    if (type === "error") throwTold({ error: data["error"] ?? data }, this.provider);
    throwTold(data, this.provider);
    const response = isJsonObject(data["response"]) ? data["response"] : undefined;
    if (type === "response.failed") throwTold({ error: response?.["error"] ?? {} }, this.provider);
    // Not a valid name of an event: it could break the line.
    if (!eventName.test(type)) return;
    if (beginnings.has(type)) {
      if (this.#held !== undefined && this.#held.length < maxHeld)
        this.#held.push({ type: "native", text: toText(type, event), data, words: "" });
      return;
    }
    if (type === "response.cancelled") throw this.#badEnd(type);
    if (!ends.has(type)) {
      const { item } = data;
      const isNew = isJsonObject(item) && !sentInDeltas.has(item["type"]);
      const words =
        typeof data["delta"] === "string"
          ? data["delta"]
          : type === "response.output_item.done" && isNew
            ? wordsOfItem(item)
            : "";
      this.#push(parts, { ...nativeOf(type, event, words), data });
      return;
    }
    if (response === undefined || !hasEnded(response)) throw this.#badEnd(type);
    this.#isOver = true;
    const usage = fromResponsesUsage(response["usage"]);
    const words = usage === undefined && !this.#hasWords ? wordsOfOutput(response) : "";
    this.#push(parts, { type: "native", text: "", data, words, isLast: true });
    if (usage !== undefined) parts.push({ type: "usage", usage });
    parts.push({ type: "finish", index: 0, reason: finishOf(response) }, { type: "done" });
    this.letClose();
  }

  #push(parts: ChatPart[], event: NativeEvent): void {
    if (this.#held !== undefined) {
      for (const held of this.#held) parts.push(held);
      this.#held = undefined;
    }
    if (event.words !== "") this.#hasWords = true;
    parts.push(event);
  }

  /** Of a server that sends no deltas, what the model said comes when it is done. */
  #wordsIn(type: string, data: JsonObject): string {
    if (type.endsWith(".delta")) return typeof data["delta"] === "string" ? data["delta"] : "";
    return !this.#hasDeltas && type.endsWith(".done") ? wordsOfItem(data) : "";
  }

  #badEnd(type: string): ApiError {
    return upstreamError("upstream_error", {
      detail: `${this.provider} ended a response with ${type} and without a result`,
    });
  }
}

function wordsOfOutput({ output }: JsonObject): string {
  return Array.isArray(output) ? output.map(wordsOfItem).join("\n") : "";
}

/** Events without the whole response, and that begin or end no item. */
const isPassed = (type: string) =>
  type.startsWith("response.") &&
  eventName.test(type) &&
  !beginnings.has(type) &&
  !ends.has(type) &&
  type !== "response.failed" &&
  type !== "response.cancelled" &&
  !type.startsWith("response.output_item.");

const eventEnd = "\n\n";
const toEventHead = (type: string) => `event: ${type}\ndata: `;
const toText = (type: string, event: string) => toEventHead(type) + event + eventEnd;

/** What the deltas of one type have in common. */
interface Deltas {
  readonly events: DeltaEvents;
  readonly eventHead: string;
  readonly isReasoning: boolean;
}

const toDeltas = (type: string, events: DeltaEvents): Deltas => ({
  events,
  eventHead: toEventHead(type),
  isReasoning: isReasoningType(type),
});

const isReasoningType = (type: string) => type.startsWith("response.reasoning");

function nativeOf(type: string, event: string, words: string): NativeEvent {
  const text = toText(type, event);
  return isReasoningType(type)
    ? { type: "native", text, words, isReasoning: true }
    : { type: "native", text, words };
}
