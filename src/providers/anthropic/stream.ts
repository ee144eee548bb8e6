import { SseReader } from "../../base/network/sse.ts";
import type { ChatPart, ChatStream } from "../../call/chat.ts";
import type { Signal } from "../../call/signal.ts";
import { toNetworkError } from "../kit/http.ts";
import { PacketReader } from "../kit/packets.ts";
import type { Piece, UpstreamReply } from "../kit/reply.ts";
import { NativeEvents } from "./events.ts";

/** How long the vendor may take to close behind its end, so that its connection can be used again. */
const closeWithinMs = 1_000;

/** Reads the vendor's events one packet at a time; nothing is read ahead of the caller. */
export class NativeChatStream implements ChatStream {
  readonly #provider: string;
  readonly #signal: Signal;
  readonly #reply: UpstreamReply;
  readonly #packets: PacketReader;
  readonly #sse = new SseReader();
  readonly #events: NativeEvents;
  #isEnded = false;
  /** Found in a packet that also held good events: those go first. */
  #failure: unknown;

  constructor(options: {
    readonly provider: string;
    readonly reply: UpstreamReply;
    readonly signal: Signal;
  }) {
    const { provider, reply, signal } = options;
    this.#provider = provider;
    this.#signal = signal;
    this.#reply = reply;
    this.#packets = new PacketReader(reply);
    this.#events = new NativeEvents(provider);
  }

  read(): Promise<readonly ChatPart[] | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#giveUp());
    if (this.#isEnded) return Promise.resolve(undefined);
    return this.#packets.next().then(this.#onPacket, this.#onBroken);
  }

  cancel(): void {
    this.#isEnded = true;
    this.#packets.cancel();
  }

  readonly #onPacket = (piece: Piece | undefined): readonly ChatPart[] | undefined => {
    const parts: ChatPart[] = [];
    try {
      this.#isEnded = piece === undefined;
      const events =
        piece === undefined
          ? this.#sse.end()
          : this.#sse.push(piece.packet, piece.start, piece.end);
      for (const event of events) if (event !== "") this.#events.take(event, parts);
    } catch (cause) {
      return this.#onBroken(cause, parts);
    }
    if (parts.at(-1)?.type === "done") this.#letClose();
    // A packet without news, such as a ping, is a sign of life all the same.
    return parts.length > 0 || !this.#isEnded ? parts : undefined;
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

  #letClose(): void {
    this.#isEnded = true;
    if (this.#reply.isEnded) return;
    const timer = setTimeout(() => this.cancel(), closeWithinMs);
    this.#packets
      .read()
      .then((bytes) => (bytes === undefined ? undefined : this.#packets.cancel()))
      .catch(() => {})
      .finally(() => clearTimeout(timer));
  }
}
