import { parseBounded } from "../../base/json/bounds.ts";
import { SseReader } from "../../base/network/sse.ts";
import {
  type ChatPart,
  type ChatStream,
  isJsonObject,
  type JsonObject,
  type NativeEvent,
} from "../../call/chat.ts";
import type { Signal } from "../../call/signal.ts";
import { upstreamError } from "../kit/failure.ts";
import { toNetworkError } from "../kit/http.ts";
import { PacketReader } from "../kit/packets.ts";
import type { Piece, UpstreamReply } from "../kit/reply.ts";
import { finishOf, fromResponsesUsage, wordsOfItem } from "./responses-reply.ts";
import { throwTold } from "./told-failure.ts";

/** How long an upstream may take to close after its last event. */
const closeWithinMs = 1_000;

const head = '{"type":"';
const deltaHead = '"delta":"';
/** What begins a response: held back until the model does anything, so that another may be tried. */
const beginnings: ReadonlySet<string> = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
]);
/** Of these; a vendor sends two or three. */
const maxHeld = 16;
const eventName = /^[\w.]{1,100}$/;
const ends: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);
/** Items whose words have come in deltas already. */
const told: ReadonlySet<unknown> = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
]);

/** Reads the events of an upstream that speaks the Responses format, one packet at a time. */
export class ResponsesStream implements ChatStream {
  readonly #provider: string;
  readonly #signal: Signal;
  readonly #reply: UpstreamReply;
  readonly #packets: PacketReader;
  readonly #sse = new SseReader();
  #held: NativeEvent[] | undefined = [];
  /** Of the last delta; nothing is held back behind one. */
  #deltas: Deltas | undefined;
  #ended = false;
  /** The response has come to its end: whatever follows is not told. */
  #isOver = false;
  #failure: unknown;

  constructor(options: {
    readonly provider: string;
    readonly reply: UpstreamReply;
    readonly signal: Signal;
  }) {
    this.#provider = options.provider;
    this.#signal = options.signal;
    this.#reply = options.reply;
    this.#packets = new PacketReader(options.reply);
  }

  read(): Promise<readonly ChatPart[] | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#giveUp());
    if (this.#ended) return Promise.resolve(undefined);
    return this.#packets.next().then(this.#onPacket, this.#onBroken);
  }

  cancel(): void {
    this.#ended = true;
    this.#packets.cancel();
  }

  readonly #onPacket = (piece: Piece | undefined): readonly ChatPart[] | undefined => {
    const parts: ChatPart[] = [];
    try {
      this.#ended = piece === undefined;
      const events =
        piece === undefined
          ? this.#sse.end()
          : this.#sse.push(piece.packet, piece.start, piece.end);
      for (const event of events) if (!this.#isOver) this.#take(event, parts);
    } catch (cause) {
      return this.#onBroken(cause, parts);
    }
    return parts.length > 0 || !this.#ended ? parts : undefined;
  };

  readonly #onBroken = (
    cause: unknown,
    parts: readonly ChatPart[] = [],
  ): readonly ChatPart[] | undefined => {
    this.#failure = toNetworkError({ provider: this.#provider, signal: this.#signal, cause });
    if (parts.length > 0) return parts;
    throw this.#giveUp();
  };

  #giveUp(): unknown {
    this.cancel();
    return this.#failure;
  }

  #take(event: string, parts: ChatPart[]): void {
    if (event === "" || event.startsWith("[DONE]")) return;
    // Nearly all events are told by their first field, and need no parsing.
    // And nearly all of those have the same type as the one before.
    const known = this.#deltas;
    const isLine = !event.includes("\n");
    if (known !== undefined && isLine && event.startsWith(known.start)) {
      const text = known.eventHead + event + eventEnd;
      const words = this.#wordsOf(event, known.start.length);
      parts.push(
        known.isReasoning
          ? { type: "native", text, words, isReasoning: true }
          : { type: "native", text, words },
      );
      return;
    }
    const end = event.startsWith(head) ? event.indexOf('"', head.length) : -1;
    const type = end === -1 ? undefined : event.slice(head.length, end);
    if (type === undefined || !isPassed(type) || !isLine) {
      const data = this.#parse(event);
      // What stands in several lines is written in one.
      this.#takeParsed(isLine ? event : JSON.stringify(data), data, parts);
      return;
    }
    const isDelta = type.endsWith(".delta");
    this.#push(parts, nativeOf(type, event, isDelta ? this.#wordsOf(event, end) : ""));
    if (isDelta) this.#deltas = toDeltas(type);
  }

  #takeParsed(event: string, data: JsonObject, parts: ChatPart[]): void {
    const type = String(data["type"]);
    // Under the name `error`, or in a response that failed.
    if (type === "error") throwTold({ error: data["error"] ?? data }, this.#provider);
    throwTold(data, this.#provider);
    const response = isJsonObject(data["response"]) ? data["response"] : undefined;
    if (type === "response.failed") throwTold({ error: response?.["error"] ?? {} }, this.#provider);
    // What cannot stand in a line of its own is no name of an event.
    if (!eventName.test(type)) return;
    if (beginnings.has(type)) {
      if (this.#held !== undefined && this.#held.length < maxHeld)
        this.#held.push({ type: "native", text: toText(type, event), data, words: "" });
      return;
    }
    if (!ends.has(type) || response === undefined) {
      const { item } = data;
      const isUntold = isJsonObject(item) && !told.has(item["type"]);
      const words =
        typeof data["delta"] === "string"
          ? data["delta"]
          : type === "response.output_item.done" && isUntold
            ? wordsOfItem(item)
            : "";
      this.#push(parts, { ...nativeOf(type, event, words), data });
      return;
    }
    this.#isOver = true;
    this.#push(parts, { type: "native", text: "", data, words: "", isLast: true });
    const usage = fromResponsesUsage(response["usage"]);
    if (usage !== undefined) parts.push({ type: "usage", usage });
    parts.push({ type: "finish", index: 0, reason: finishOf(response) }, { type: "done" });
    this.#letClose();
  }

  #push(parts: ChatPart[], event: NativeEvent): void {
    if (this.#held !== undefined) {
      for (const held of this.#held) parts.push(held);
      this.#held = undefined;
    }
    parts.push(event);
  }

  /** A text without an escape is cut out; quotes inside of texts are escaped. */
  #wordsOf(event: string, after: number): string {
    const start = event.indexOf(deltaHead, after);
    if (start !== -1) {
      const from = start + deltaHead.length;
      const end = event.indexOf('"', from);
      const text = event.slice(from, end);
      if (end !== -1 && !text.includes("\\")) return text;
    }
    const { delta } = this.#parse(event);
    return typeof delta === "string" ? delta : "";
  }

  #parse(event: string): JsonObject {
    let data: unknown;
    try {
      data = parseBounded(event);
    } catch (cause) {
      throw upstreamError("upstream_error", {
        detail: `${this.#provider} sent an event that is not valid JSON`,
        cause,
      });
    }
    if (isJsonObject(data)) return data;
    throw upstreamError("upstream_error", {
      detail: `${this.#provider} sent an event that is not an object`,
    });
  }

  #letClose(): void {
    this.#ended = true;
    if (this.#reply.isEnded) return;
    const timer = setTimeout(() => this.cancel(), closeWithinMs);
    this.#packets
      .read()
      .then((bytes) => (bytes === undefined ? undefined : this.#packets.cancel()))
      .catch(() => {})
      .finally(() => clearTimeout(timer));
  }
}

/** Events that tell nothing of the whole response, and begin or end no item. */
const isPassed = (type: string) =>
  type.startsWith("response.") &&
  !type.includes("\\") &&
  !beginnings.has(type) &&
  !ends.has(type) &&
  type !== "response.failed" &&
  !type.startsWith("response.output_item.");

const eventEnd = "\n\n";
const toEventHead = (type: string) => `event: ${type}\ndata: `;
const toText = (type: string, event: string) => toEventHead(type) + event + eventEnd;

/** What pieces of one type have in common. */
interface Deltas {
  readonly start: string;
  readonly eventHead: string;
  readonly isReasoning: boolean;
}

const toDeltas = (type: string): Deltas => ({
  start: `${head}${type}"`,
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
