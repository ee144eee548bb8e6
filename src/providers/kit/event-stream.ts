import { parseBounded } from "../../base/json/bounds.ts";
import { SseReader } from "../../base/network/sse.ts";
import { type ChatPart, type ChatStream, isJsonObject, type JsonObject } from "../../call/chat.ts";
import type { Signal } from "../../call/signal.ts";
import { upstreamError } from "./failure.ts";
import { toNetworkError } from "./http.ts";
import { PacketReader } from "./packets.ts";
import type { Piece, UpstreamReply } from "./reply.ts";

/** How long an upstream may take to close after its last event, so that its connection can be reused. */
const closeWithinMs = 1_000;

export interface EventStreamOptions {
  readonly provider: string;
  readonly reply: UpstreamReply;
  readonly signal: Signal;
  /** Absent: what the reader of events has as its own. */
  readonly maxEventChars?: number;
}

/** Reads an upstream's events one packet at a time; nothing is read ahead of the caller. */
export abstract class EventStream implements ChatStream {
  protected readonly provider: string;
  readonly #signal: Signal;
  readonly #reply: UpstreamReply;
  readonly #packets: PacketReader;
  readonly #sse: SseReader;
  #isEnded = false;
  /** Found in a packet that also held good events: those go first. */
  #failure: unknown;

  constructor({ provider, reply, signal, maxEventChars }: EventStreamOptions) {
    this.provider = provider;
    this.#signal = signal;
    this.#reply = reply;
    this.#packets = new PacketReader(reply);
    this.#sse = new SseReader(maxEventChars);
  }

  /** Adds the parts of one event, which may be empty. */
  protected abstract take(event: string, parts: ChatPart[]): void;

  read(): Promise<readonly ChatPart[] | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#giveUp());
    if (this.#isEnded) return Promise.resolve(undefined);
    return this.#packets.next().then(this.#onPacket, this.#onBroken);
  }

  cancel(): void {
    this.#isEnded = true;
    this.#packets.cancel();
  }

  /** The upstream has sent its last event. */
  protected letClose(): void {
    this.#isEnded = true;
    if (this.#reply.isEnded) return;
    const timer = setTimeout(() => this.cancel(), closeWithinMs);
    this.#packets
      .read()
      .then((bytes) => (bytes === undefined ? undefined : this.#packets.cancel()))
      .catch(() => {})
      .finally(() => clearTimeout(timer));
  }

  readonly #onPacket = (piece: Piece | undefined): readonly ChatPart[] | undefined => {
    const parts: ChatPart[] = [];
    try {
      this.#isEnded = piece === undefined;
      const events =
        piece === undefined
          ? this.#sse.end()
          : this.#sse.push(piece.packet, piece.start, piece.end);
      for (const event of events) this.take(event, parts);
    } catch (cause) {
      return this.#onBroken(cause, parts);
    }
    // A packet without news, such as a comment, is a sign of life all the same.
    return parts.length > 0 || !this.#isEnded ? parts : undefined;
  };

  readonly #onBroken = (
    cause: unknown,
    parts: readonly ChatPart[] = [],
  ): readonly ChatPart[] | undefined => {
    this.#failure = toNetworkError({ provider: this.provider, signal: this.#signal, cause });
    if (parts.length > 0) return parts;
    throw this.#giveUp();
  };

  /** What failed before the first token has no other owner; the upstream may talk on forever. */
  #giveUp(): unknown {
    this.cancel();
    return this.#failure;
  }
}

/** An event as an object, or an error that names the provider. */
export function parseEvent(event: string, provider: string): JsonObject {
  let value: unknown;
  try {
    value = parseBounded(event);
  } catch (cause) {
    throw upstreamError("upstream_error", {
      detail: `${provider} sent an event that is not valid JSON`,
      cause,
    });
  }
  if (isJsonObject(value)) return value;
  throw upstreamError("upstream_error", {
    detail: `${provider} sent an event that is not an object`,
  });
}
