import { parseBounded } from "../../../base/json/bounds.ts";
import { SseReader } from "../../../base/network/sse.ts";
import { isJsonObject, type JsonObject } from "../../../call/chat.ts";
import type { Signal } from "../../../call/signal.ts";
import { upstreamError } from "../../kit/failure.ts";
import { toNetworkError } from "../../kit/http.ts";
import { PacketReader } from "../../kit/packets.ts";
import { readJson, type UpstreamReply } from "../../kit/reply.ts";
import { throwStray } from "../told-failure.ts";

export interface ReplyReaderOptions {
  readonly provider: string;
  readonly response: UpstreamReply;
  readonly signal: Signal;
  /** How long one event may be. */
  readonly maxEventChars?: number;
  /** How long a reply that is not streamed may be. */
  readonly maxReplyBytes?: number;
}

/** The end of a body that may hold a failure beside its events. */
const maxStrayBytes = 64 * 1024;

/**
 * The replies of a `streamGenerateContent`, one packet at a time: nothing is read ahead. Of a server
 * that does not know events, the one reply or the list of them.
 */
export class ReplyReader {
  readonly #provider: string;
  readonly #response: UpstreamReply;
  readonly #signal: Signal;
  readonly #sse: SseReader;
  readonly #maxReplyBytes: number | undefined;
  readonly #packets: PacketReader | undefined;
  /** The packets since the last event, and the one that held it. */
  #strays: Uint8Array[] = [];
  #strayBytes = 0;
  #isCancelled = false;

  constructor(options: ReplyReaderOptions) {
    const { provider, response, signal, maxEventChars } = options;
    this.#maxReplyBytes = options.maxReplyBytes;
    this.#provider = provider;
    this.#response = response;
    this.#signal = signal;
    this.#sse = new SseReader(maxEventChars);
    const type = (response.headers.get("content-type") ?? "").toLowerCase();
    if (type.startsWith("text/event-stream")) this.#packets = new PacketReader(response);
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Hands on the replies of the next packet; false at the end. What it throws may follow good ones. */
  async pull(onReply: (reply: JsonObject) => void): Promise<boolean> {
    if (this.#packets === undefined) {
      await this.#pullWhole(onReply);
      return false;
    }
    const bytes = await this.#packets.read();
    if (this.#isCancelled) return false;
    const events = bytes === undefined ? this.#sse.end() : this.#sse.push(bytes);
    if (bytes !== undefined) this.#keep(bytes, events.length > 0);
    for (const event of events) onReply(this.#parse(event));
    return bytes !== undefined;
  }

  /** Of a body that has ended before its answer did: throws what it says of it, if anything. */
  throwStray(): void {
    const text = Buffer.concat(this.#strays).toString("utf8");
    throwStray(text, this.#provider);
  }

  /** As the contract of streams wants it: an abort keeps its reason. */
  toFailure(cause: unknown): unknown {
    return toNetworkError({ provider: this.#provider, signal: this.#signal, cause });
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#response.cancel();
  }

  async #pullWhole(onReply: (reply: JsonObject) => void): Promise<void> {
    const provider = this.#provider;
    const signal = this.#signal;
    const maxBytes = this.#maxReplyBytes;
    const given = await readJson(this.#response, { provider, signal, maxBytes });
    for (const reply of Array.isArray(given) ? given : [given]) onReply(this.#checked(reply));
  }

  #keep(bytes: Uint8Array, hasEvents: boolean): void {
    if (hasEvents) {
      const last = bytes.subarray(-maxStrayBytes / 2);
      this.#strays = [last];
      this.#strayBytes = last.length;
      return;
    }
    this.#strayBytes += bytes.length;
    if (this.#strayBytes <= maxStrayBytes) this.#strays.push(bytes);
  }

  #parse(event: string): JsonObject {
    let reply: unknown;
    try {
      reply = parseBounded(event);
    } catch (cause) {
      throw upstreamError("upstream_error", {
        detail: `${this.#provider} sent an event that is not valid JSON`,
        cause,
      });
    }
    return this.#checked(Array.isArray(reply) ? reply[0] : reply);
  }

  #checked(reply: unknown): JsonObject {
    if (isJsonObject(reply)) return reply;
    throw upstreamError("upstream_error", {
      detail: `${this.#provider} sent a reply that is not an object`,
    });
  }
}
