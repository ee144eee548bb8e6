import type { ChatPart, ChatStream, JsonObject } from "../../../call/chat.ts";
import type { Signal } from "../../../call/signal.ts";
import { upstreamError } from "../../kit/failure.ts";
import type { Call } from "../bridge-fetch.ts";
import { toBridgeError } from "../failure.ts";
import {
  type Fields,
  familyOf,
  isFields,
  type LanguageModel,
  type Owner,
  ownerOf,
  textOf,
} from "../model.ts";
import { toCarried } from "./carried.ts";
import { toEnding } from "./finish.ts";
import type { JsonToolText } from "./json-tool.ts";
import { toReasoningDetail } from "./reasoning-details.ts";
import { toArguments } from "./reply.ts";
import { fromAiSdkUsage } from "./usage.ts";

/** How long an upstream may take to close behind its end, so that its connection can be used again. */
const closeWithinMs = 1_000;

interface ToolCall {
  readonly index: number;
  hasArguments: boolean;
}

interface Thought {
  text: string;
  readonly metadata: Record<string, unknown>;
}

/** The parts of a package's stream, as they come; nothing is read ahead of the caller. */
export class AiSdkChatStream implements ChatStream {
  readonly #provider: string;
  readonly #signal: Signal;
  readonly #call: Call;
  readonly #owner: Owner;
  readonly #reader: ReadableStreamDefaultReader<Fields>;
  readonly #tools = new Map<string, ToolCall>();
  readonly #thoughts = new Map<string, Thought>();
  /** Sent once, all together: clients join lists that come in pieces each in a way of its own. */
  #detailCount = 0;
  readonly #jsonText: JsonToolText | undefined;
  #isEnded = false;
  /** Whether the event came that ends a stream, where that is known. */
  #hasLast: boolean;

  constructor(options: {
    readonly provider: string;
    readonly stream: ReadableStream<Fields>;
    readonly signal: Signal;
    readonly call: Call;
    readonly model: LanguageModel;
    /** Where the answer is JSON by way of a tool. */
    readonly jsonText?: JsonToolText | undefined;
  }) {
    this.#provider = options.provider;
    this.#signal = options.signal;
    this.#call = options.call;
    this.#owner = ownerOf(options.model);
    this.#reader = options.stream.getReader();
    this.#jsonText = options.jsonText;
    this.#hasLast = familyOf(options.model) !== "bedrock";
  }

  async read(): Promise<readonly ChatPart[] | undefined> {
    const parts: ChatPart[] = [];
    try {
      while (!this.#isEnded) {
        const { value, done } = await this.#reader.read();
        this.#call.readOn();
        if (done) {
          this.#isEnded = true;
          this.#call.finish();
        } else this.#take(value, parts);
        if (parts.length > 0) return parts;
      }
    } catch (thrown) {
      this.cancel();
      throw this.#toError(thrown);
    }
    return undefined;
  }

  cancel(): void {
    this.#isEnded = true;
    this.#reader.cancel().catch(() => {});
    this.#call.end();
  }

  #toError(thrown: unknown): unknown {
    return toBridgeError({ provider: this.#provider, signal: this.#signal, thrown });
  }

  #take(part: Fields, parts: ChatPart[]): void {
    switch (part["type"]) {
      case "text-delta":
        this.#takeText(part, parts);
        return;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#takeThought(part, parts);
        return;
      case "tool-input-start":
        if (part["providerExecuted"] !== true) this.#begin(part["id"], part, parts);
        return;
      case "tool-input-delta":
        this.#takeArguments(part, parts);
        return;
      case "tool-call":
        if (part["providerExecuted"] !== true) this.#takeCall(part, parts);
        return;
      case "raw":
        this.#takeRaw(part["rawValue"], parts);
        return;
      case "error":
        if (!isNews(part["error"])) throw this.#toError(part["error"]);
        return;
      case "finish":
        this.#finish(part, parts);
        return;
      default:
    }
  }

  #takeText({ id, delta }: Fields, parts: ChatPart[]): void {
    const text = textOf(delta);
    if (this.#jsonText === undefined) parts.push({ type: "text-delta", index: 0, text });
    else parts.push(...this.#jsonText.take(textOf(id), text));
  }

  #pushCall(call: JsonObject, chars: number, parts: ChatPart[]): void {
    const part = deltaOf({ tool_calls: [call] });
    if (this.#jsonText === undefined) parts.push(part);
    else parts.push(...this.#jsonText.takeCall(part, chars));
  }

  /** Asked of one vendor only, whose streams end with an event that packages do not tell of. */
  #takeRaw(event: unknown, parts: ChatPart[]): void {
    if (!isFields(event)) return;
    if (this.#jsonText !== undefined) parts.push(...this.#jsonText.look(event));
    for (const name in event) {
      if (name === "metadata") this.#hasLast = true;
      const told = event[name];
      if (!name.endsWith("Exception") || !isFields(told)) continue;
      throw this.#toError({ type: name, message: textOf(told["message"]) });
    }
  }

  #takeThought(part: Fields, parts: ChatPart[]): void {
    const id = textOf(part["id"]);
    const { providerMetadata: metadata, delta } = part;
    let thought = this.#thoughts.get(id);
    if (thought === undefined) {
      thought = { text: "", metadata: Object.create(null) };
      this.#thoughts.set(id, thought);
    }
    if (isFields(metadata)) Object.assign(thought.metadata, metadata);
    if (typeof delta === "string" && delta !== "") {
      thought.text += delta;
      parts.push(deltaOf({ reasoning_content: delta }));
    }
    if (part["type"] !== "reasoning-end") return;
    this.#thoughts.delete(id);
    const detail = toReasoningDetail(thought, this.#owner);
    if (detail === undefined) return;
    const numbered = { ...detail, index: this.#detailCount++ };
    parts.push({ type: "reasoning-detail", index: 0, detail: numbered });
  }

  #begin(id: unknown, part: Fields, parts: ChatPart[]): ToolCall {
    const call: ToolCall = { index: this.#tools.size, hasArguments: false };
    this.#tools.set(textOf(id), call);
    const name = textOf(part["toolName"]);
    const head = { index: call.index, id: textOf(id), type: "function" };
    this.#pushCall({ ...head, function: { name, arguments: "" } }, name.length, parts);
    return call;
  }

  #takeArguments({ id, delta }: Fields, parts: ChatPart[]): void {
    const call = this.#tools.get(textOf(id));
    if (call === undefined || typeof delta !== "string" || delta === "") return;
    call.hasArguments = true;
    const piece = { index: call.index, function: { arguments: delta } };
    this.#pushCall(piece, delta.length, parts);
  }

  /** The call as a whole: told behind its pieces, or without any. */
  #takeCall(part: Fields, parts: ChatPart[]): void {
    const { toolCallId: id, input, providerMetadata: metadata } = part;
    const call = this.#tools.get(textOf(id)) ?? this.#begin(id, part, parts);
    const text = call.hasArguments ? "" : toArguments(input);
    const carried = toCarried(metadata, this.#owner);
    if (text === "" && carried === undefined) return;
    call.hasArguments = true;
    const extra = carried === undefined ? {} : { extra_content: carried };
    const piece = { index: call.index, ...extra, function: { arguments: text } };
    this.#pushCall(piece, text.length, parts);
  }

  #finish(part: Fields, parts: ChatPart[]): void {
    parts.push(...(this.#jsonText?.release() ?? []));
    const usage = fromAiSdkUsage(part["usage"]);
    if (usage !== undefined) parts.push({ type: "usage", usage });
    const ending = toEnding(part["finishReason"], this.#tools.size > 0);
    if (ending === "failed")
      throw upstreamError("upstream_error", { detail: `${this.#provider} ended with an error` });
    this.#letClose();
    if (ending === "cut" || !this.#hasLast) return;
    parts.push({ type: "finish", index: 0, reason: ending }, { type: "done" });
  }

  #letClose(): void {
    this.#isEnded = true;
    const timer = setTimeout(() => this.cancel(), closeWithinMs);
    this.#reader
      .read()
      .then(({ done }) => (done ? undefined : this.cancel()))
      .catch(() => {})
      .finally(() => {
        clearTimeout(timer);
        this.#call.finish();
      });
  }
}

function deltaOf(delta: JsonObject): ChatPart {
  return { type: "delta", index: 0, delta, logprobs: null };
}

const knownEvents = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
]);

/** A vendor may add events, which are to be passed over; its package takes them for broken ones. */
function isNews(error: unknown): boolean {
  if (!isFields(error) || error["name"] !== "AI_TypeValidationError") return false;
  const { value } = error;
  const type = isFields(value) ? value["type"] : undefined;
  return typeof type === "string" && /^[a-z_]+$/.test(type) && !knownEvents.has(type);
}
