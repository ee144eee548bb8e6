import { SseReader } from "../../base/sse.ts";
import type { ChatPart, ChatStream, JsonObject } from "../../call/chat.ts";
import { toApiFailure, upstreamError } from "../kit/failure.ts";
import { toNetworkError } from "../kit/http.ts";
import { toContent, toFinishReason, toLogprobs } from "./chat-reply.ts";
import { isRecord } from "./json.ts";
import { fromOpenAiUsage } from "./usage.ts";

/** How long an upstream may take to close after `[DONE]`, so that its connection can be used again. */
const closeWithinMs = 1_000;

export interface ChatStreamOptions {
  readonly provider: string;
  readonly body: ReadableStream<Uint8Array>;
  readonly signal: AbortSignal;
}

/** Reads an upstream's events one packet at a time; nothing is read ahead of the caller. */
export class OpenAiChatStream implements ChatStream {
  readonly #provider: string;
  readonly #signal: AbortSignal;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #sse = new SseReader();
  readonly #calledTools = new Set<number>();
  #ended = false;
  /** Found in a packet that also held good events: those go first. */
  #failure: unknown;

  constructor({ provider, body, signal }: ChatStreamOptions) {
    this.#provider = provider;
    this.#signal = signal;
    this.#reader = body.getReader();
  }

  async read(): Promise<readonly ChatPart[] | undefined> {
    while (this.#failure === undefined && !this.#ended) {
      const parts: ChatPart[] = [];
      try {
        const { value, done } = await this.#reader.read();
        this.#ended = done;
        for (const event of done ? this.#sse.end() : this.#sse.push(value))
          this.#take(event, parts);
      } catch (cause) {
        this.#failure = toNetworkError({ provider: this.#provider, signal: this.#signal, cause });
      }
      if (parts.length > 0) return parts;
    }
    if (this.#failure === undefined) return undefined;
    // What failed before the first token has no other owner; the upstream may talk on for ever.
    this.cancel();
    throw this.#failure;
  }

  cancel(): void {
    this.#ended = true;
    this.#reader.cancel().catch(() => {});
  }

  #take(event: string, parts: ChatPart[]): void {
    if (event === "[DONE]") {
      parts.push({ type: "done" });
      this.#letClose();
      return;
    }
    const chunk = this.#parse(event);
    const { choices, usage } = chunk;
    if (chunk["error"] !== undefined && chunk["error"] !== null)
      throw this.#toFailure(chunk["error"]);
    if (Array.isArray(choices))
      for (const choice of choices) if (isRecord(choice)) this.#takeChoice(choice, parts);
    if (usage !== undefined && usage !== null) {
      const read = fromOpenAiUsage(usage);
      if (read !== undefined) parts.push({ type: "usage", usage: read });
    }
  }

  #takeChoice(choice: JsonObject, parts: ChatPart[]): void {
    const index = typeof choice["index"] === "number" ? choice["index"] : 0;
    const { delta, finish_reason: finish } = choice;
    const logprobs = toLogprobs(choice["logprobs"]);
    if (isRecord(delta)) {
      const text = plainText(delta);
      if (text !== undefined && logprobs === null) parts.push({ type: "text-delta", index, text });
      else {
        // Some servers send an empty list, or null, beside every piece of text.
        const { tool_calls: calls } = delta;
        if (Array.isArray(calls) && calls.length > 0) this.#calledTools.add(index);
        parts.push({ type: "delta", index, delta: withTextContent(delta), logprobs });
      }
    }
    if (typeof finish === "string" && finish !== "")
      parts.push({
        type: "finish",
        index,
        reason: toFinishReason(finish, this.#calledTools.has(index)),
      });
  }

  #parse(event: string): JsonObject {
    let chunk: unknown;
    try {
      chunk = JSON.parse(event);
    } catch (cause) {
      throw upstreamError("upstream_error", {
        detail: `${this.#provider} sent an event that is not JSON`,
        cause,
      });
    }
    if (isRecord(chunk)) return chunk;
    throw upstreamError("upstream_error", {
      detail: `${this.#provider} sent an event that is not an object`,
    });
  }

  #toFailure(error: unknown): unknown {
    return toApiFailure({
      provider: this.#provider,
      status: statusOfEvent(error),
      body: JSON.stringify({ error }),
    });
  }

  #letClose(): void {
    this.#ended = true;
    const timer = setTimeout(() => this.cancel(), closeWithinMs);
    this.#reader
      .read()
      .then(({ done }) => (done ? undefined : this.#reader.cancel()))
      .catch(() => {})
      .finally(() => clearTimeout(timer));
  }
}

/** An error inside a stream has no status of its own: its code tells, as a number or in words. */
function statusOfEvent(error: unknown): number {
  const { code, type } = isRecord(error) ? error : {};
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  const words = `${String(code)} ${String(type)}`.toLowerCase();
  if (/rate_limit|insufficient_quota/.test(words)) return 429;
  if (/overloaded|unavailable/.test(words)) return 503;
  if (/context_length|exceed_context|content_filter|invalid_request|bad_?request/.test(words))
    return 400;
  return 500;
}

/** Some servers send a list of content parts. */
function withTextContent(delta: JsonObject): JsonObject {
  const { content } = delta;
  return content === undefined || content === null || typeof content === "string"
    ? delta
    : { ...delta, content: toContent(content) };
}

/** The text of a delta that carries nothing else: nearly all of them. The role is ours to write. */
function plainText(delta: JsonObject): string | undefined {
  for (const name in delta)
    if (name !== "content" && name !== "role" && delta[name] !== null) return undefined;
  const { content } = delta;
  if (typeof content === "string") return content;
  return content === undefined || content === null ? "" : undefined;
}
