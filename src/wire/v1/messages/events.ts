import { ApiError } from "../../../base/errors.ts";
import {
  type ChatPart,
  type FinishReason,
  isJsonObject,
  type Json,
  type JsonObject,
  type NativeEvent,
} from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import { toOpaque } from "../carried.ts";
import { HeldContent } from "../chat/held-content.ts";
import { ToolBlocks, type ToolPiece } from "../chat/tool-blocks.ts";
import type { ChatWriter, ReplyIdentity } from "../dialect.ts";
import { Said } from "../said.ts";
import type { MessagesOrder } from "./call.ts";
import { toCitations } from "./citations.ts";
import { toMessagesError } from "./error-reply.ts";
import { stopReasons, toMessagesUsage, toolIdPrefix } from "./reply.ts";

/** Clients ignore it. Anthropic sends one after the first event, and while a stream is silent. */
export const pingEvent = 'event: ping\ndata: {"type":"ping"}\n\n';

const stopEvent = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

const toEvent = (type: string, fields: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

/** Vendors send sources with the text that names them. */
const maxWaitingCitations = 100;

/** A vendor sends a few reports of its counts at most. */
const maxHolds = 64;

type BlockKind = "text" | "thinking" | "tool_use";

/**
 * Turns parts into the events of the Messages format: the start of the message; its blocks, one after
 * another, each with a start, deltas and a stop; then the stop reason and the usage, which are held
 * until the call is settled. Events that an upstream sends in this format go out unchanged.
 */
export class MessageEventWriter implements ChatWriter {
  readonly keepAlive = pingEvent;
  readonly choices = 1;
  readonly said = new Said();
  extras: JsonObject | undefined;
  reasoningChars = 0;
  readonly #identity: ReplyIdentity;
  readonly #hidesThoughts: boolean;
  #hasBegun = false;
  isNative = false;
  #block: BlockKind | undefined;
  /** Of the open block, or of the next one. */
  #index = 0;
  /** The start of a delta event of the open block, up to its text. */
  #head = "";
  #tools: ToolBlocks | undefined;
  /** Text and reasoning that arrived within a tool call. Blocks do not overlap. */
  readonly #within = new HeldContent();
  /** Citations that wait for the next block of text. */
  #citations: readonly JsonObject[] = [];
  #details: JsonObject[] = [];
  #extra: JsonObject | undefined;
  #isRefusal = false;
  #finish: FinishReason | undefined;
  /** The last events of an upstream that sends this format. */
  #held: readonly NativeEvent[] = [];
  #holds = 0;

  constructor(identity: ReplyIdentity, { hidesThoughts }: Pick<MessagesOrder, "hidesThoughts">) {
    this.#identity = identity;
    this.#hidesThoughts = hidesThoughts;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  write(part: ChatPart): string {
    switch (part.type) {
      case "text-delta":
        return this.#text(part.text, part.isPlain);
      case "native":
        return this.#native(part);
      case "delta":
        return this.#delta(part.delta);
      case "reasoning-detail":
        this.#details.push(part.detail);
        return "";
      case "finish":
        this.#finish ??= part.reason;
        return this.isNative ? "" : this.#begin();
      case "usage":
      case "done":
        return "";
      default:
        return part satisfies never;
    }
  }

  end(usage: Usage, isCut = false): string {
    if (this.isNative) return this.#endNative(usage, isCut);
    const calls = this.#begin() + this.#endTools(isCut) + this.#close();
    const tail = calls + this.#writeHeld() + this.#close() + this.#carryRest();
    const reason = this.#finish ?? (this.#tools === undefined ? "stop" : "tool_calls");
    const stop = isCut ? "max_tokens" : this.#isRefusal ? "refusal" : stopReasons[reason];
    return tail + toLast(stop, usage) + stopEvent;
  }

  fail(error: ApiError): string {
    const requestId = `req_${this.#identity.id.slice("msg_".length)}`;
    return `event: error\ndata: ${JSON.stringify(toMessagesError(error, requestId))}\n\n`;
  }

  #text(text: string, isPlain: true | undefined): string {
    if (this.isFinished) return "";
    if (text === "") return this.#begin();
    this.said.add(text);
    return this.#writeText(text, isPlain);
  }

  #writeText(text: string, isPlain: true | undefined): string {
    if (this.#block === "text") {
      const content = isPlain === true ? `"${text}"` : JSON.stringify(text);
      return `${this.#head}${content}}}\n\n`;
    }
    if (this.#isWithinCall) return this.#within.add({ text, isReasoning: false });
    const start = this.#open("text", { type: "text", text: "" });
    return `${start}${this.#head}${JSON.stringify(text)}}}\n\n${this.#cite([])}`;
  }

  #delta(delta: JsonObject): string {
    if (this.isFinished) return "";
    const { content, refusal, tool_calls: calls, annotations, extra_content: extra } = delta;
    const { reasoning_content: thought } = delta;
    let text = this.#begin();
    if (isText(thought)) text += this.#thought(thought);
    if (isJsonObject(extra)) this.#extra = extra;
    if (isText(content)) text += this.#text(content, undefined);
    if (isText(refusal)) {
      this.#isRefusal = true;
      text += this.#text(refusal, undefined);
    }
    if (annotations !== undefined) text += this.#cite(toCitations(annotations));
    if (Array.isArray(calls) && calls.length > 0) {
      this.#tools ??= new ToolBlocks(toolIdPrefix(this.#identity));
      text += this.#writeCalls(this.#tools.take(calls));
      if (!this.#isWithinCall) text += this.#writeHeld();
    }
    return text;
  }

  /** No block is opened for a citation: vendors reject empty text when clients send it back. */
  #cite(citations: readonly JsonObject[]): string {
    if (this.#block !== "text") {
      const waiting = citations.length === 0 ? this.#citations : [...this.#citations, ...citations];
      this.#citations = waiting.slice(0, maxWaitingCitations);
      return "";
    }
    let text = "";
    for (const citation of [...this.#citations, ...citations]) {
      const delta = { type: "citations_delta", citation };
      text += toEvent("content_block_delta", { index: this.#index, delta });
    }
    this.#citations = [];
    return text;
  }

  #thought(thought: string): string {
    // Counted even if it is hidden: the vendor bills it, and the cap covers all output.
    this.said.add(thought);
    this.reasoningChars += thought.length;
    return this.#writeThought(thought);
  }

  #writeThought(thought: string): string {
    let start = "";
    if (this.#block !== "thinking") {
      if (this.#isWithinCall) return this.#within.add({ text: thought, isReasoning: true });
      start = this.#open("thinking", { type: "thinking", thinking: "", signature: "" });
    }
    if (this.#hidesThoughts) return start;
    return `${start}${this.#head}${JSON.stringify(thought)}}}\n\n`;
  }

  /** The block of a call stays open until its arguments are complete. */
  get #isWithinCall(): boolean {
    return this.#block === "tool_use" && this.#tools?.isWhole === false;
  }

  #writeHeld(): string {
    let text = "";
    for (const held of this.#within.take())
      text += held.isReasoning
        ? this.#writeThought(held.text)
        : this.#writeText(held.text, undefined);
    return text;
  }

  #writeCalls(pieces: readonly ToolPiece[]): string {
    let text = "";
    for (const piece of pieces)
      if (piece.kind === "begin") {
        const { id, name } = piece;
        this.said.add(name);
        text += this.#open("tool_use", { type: "tool_use", id, name, input: {} });
      } else {
        this.said.add(piece.text);
        // After complete arguments, nothing but whitespace is valid; by then the block may be closed.
        if (this.#block === "tool_use") text += `${this.#head}${JSON.stringify(piece.text)}}}\n\n`;
      }
    return text;
  }

  #endTools(isCut: boolean): string {
    if (this.#tools?.hasNameless === true && !isCut)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: "the provider sent a tool call without a name",
      });
    return this.#tools === undefined ? "" : this.#writeCalls(this.#tools.end());
  }

  #begin(): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    const { id, model, aboutInputTokens: inputTokens = 0 } = this.#identity;
    // The counts come at the end, but some clients read only this event.
    const usage = toMessagesUsage({ inputTokens, outputTokens: 0, estimated: true });
    const message = { id, type: "message", role: "assistant", model, content: [] };
    const end = { stop_reason: null, stop_sequence: null, usage };
    return toEvent("message_start", { message: { ...message, ...end } }) + pingEvent;
  }

  #open(kind: BlockKind, block: JsonObject): string {
    const before = this.#begin() + this.#close();
    // Signatures of calls go before the calls.
    const carried = kind === "tool_use" ? this.#carryRest() : "";
    this.#block = kind;
    const delta = deltaHeads[kind];
    this.#head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}`;
    const index = this.#index;
    return before + carried + toEvent("content_block_start", { index, content_block: block });
  }

  #close(): string {
    if (this.#block === undefined) return "";
    const index = this.#index++;
    const signature = this.#block === "thinking" ? this.#signature(index) : "";
    this.#block = undefined;
    return `${signature}event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
  }

  /** Clients send a signature back; without one, some would drop the thinking block. */
  #signature(index: number): string {
    const details = this.#details;
    this.#details = [];
    const signature = toOpaque(this.#identity.modelId, details.length === 0 ? {} : { details });
    const delta = { type: "signature_delta", signature };
    return toEvent("content_block_delta", { index, delta });
  }

  /** Signatures that belong to no thinking block, in a block that clients send back unchanged. */
  #carryRest(): string {
    const details = this.#details;
    const extra = this.#extra;
    const calls = this.#tools?.extras;
    if (details.length === 0 && extra === undefined && calls === undefined) return "";
    this.#details = [];
    this.#extra = undefined;
    if (this.#tools !== undefined) this.#tools.extras = undefined;
    const data = toOpaque(this.#identity.modelId, {
      ...(details.length === 0 ? {} : { details }),
      ...(extra === undefined ? {} : { extra }),
      ...(calls === undefined ? {} : { calls }),
    });
    const index = this.#index++;
    const block = { type: "redacted_thinking", data };
    return (
      toEvent("content_block_start", { index, content_block: block }) +
      toEvent("content_block_stop", { index })
    );
  }

  #native(event: NativeEvent): string {
    this.isNative = true;
    this.#hasBegun = true;
    const { text, data, words, isReasoning, isLast } = event;
    if (isLast === true) return this.#hold(event);
    if (words !== "") {
      this.said.add(words);
      if (isReasoning === true) this.reasoningChars += words.length;
    }
    return data === undefined ? this.#noteBlock(text) : this.#change(data, text);
  }

  /** The counts of a later one take the place of those before. */
  #hold(event: NativeEvent): string {
    if (++this.#holds > maxHolds)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: `the provider sent more than ${maxHolds} ends of one message`,
        upstream: { reason: "failed" },
      });
    const others = this.#held.filter(({ data }) => data?.["type"] !== event.data?.["type"]);
    this.#held = [...others, event];
    return "";
  }

  /** If the stream is cut, the open block has to be closed. */
  #noteBlock(text: string): string {
    if (this.#block !== undefined && text.startsWith("event: content_block_stop")) {
      this.#block = undefined;
      this.#index++;
    }
    return text;
  }

  #change(data: JsonObject, text: string): string {
    const { type, message } = data;
    if (type === "content_block_start") {
      this.#block = "text";
      if (typeof data["index"] === "number") this.#index = data["index"];
      return text;
    }
    if (type !== "message_start" || !isJsonObject(message)) return text;
    const { id, model } = this.#identity;
    return toEvent("message_start", { message: { ...message, id, model } });
  }

  #endNative(usage: Usage, isCut: boolean): string {
    if (isCut) return this.#close() + toLast("max_tokens", usage) + stopEvent;
    let text = "";
    for (const { data, text: original } of this.#held) {
      const { type, delta } = data ?? {};
      text +=
        type === "message_delta" && usage.estimated
          ? toEvent("message_delta", { delta: delta ?? {}, usage: toMessagesUsage(usage) })
          : original;
    }
    return text;
  }
}

const deltaHeads: Readonly<Record<BlockKind, string>> = {
  text: '{"type":"text_delta","text":',
  thinking: '{"type":"thinking_delta","thinking":',
  tool_use: '{"type":"input_json_delta","partial_json":',
};

function toLast(stopReason: string, usage: Usage): string {
  const delta = { stop_reason: stopReason, stop_sequence: null };
  return toEvent("message_delta", { delta, usage: toMessagesUsage(usage) });
}

const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";
