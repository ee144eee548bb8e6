import { type ApiError, toApiError } from "../base/errors.ts";
import { type ActiveCall, callerLeft } from "./active-calls.ts";

export interface StreamSource {
  /**
   * What goes to the caller next, or undefined at the end. At once only what was here before the
   * reply began: it goes out in one packet with the reply's head.
   */
  next(): Piece | undefined | Promise<Piece | undefined>;
  /** Frees the upstream. */
  cancel(): void;
  /** The last bytes after a failure; undefined: the connection is broken off. */
  fail(error: ApiError): Piece | undefined;
  /** What keeps a silent stream alive, if anything may. */
  readonly keepAlive?: string | undefined;
}

/** Text is written as UTF-8. */
type Piece = string | Uint8Array;

export interface StreamReplyOptions {
  readonly call: ActiveCall;
  readonly source: StreamSource;
  /** Called exactly once, whatever ended the stream. */
  readonly onEnd: (error: ApiError | undefined) => void;
}

/** The runtime's own sink: what is written goes to the socket, without a queue between. */
interface Sink {
  /** A promise where the socket is full; it resolves when there is room. */
  write(piece: Piece): number | Promise<number>;
  flush(): void;
  end(): void;
  close(error: Error): void;
}

/**
 * The body of a reply that goes out piece by piece. The upstream is read only when the caller's
 * socket has taken what was sent, so a slow reader slows the upstream instead of filling our memory.
 */
export function toReplyStream(options: StreamReplyOptions): ReadableStream<Uint8Array> {
  const reply = new StreamReply(options);
  const source = {
    type: "direct",
    pull: (sink: Sink) => reply.run(sink),
    cancel: () => reply.leave(),
  };
  // The types of the runtime know this kind of stream only by another name.
  return new ReadableStream(source as unknown as UnderlyingByteSource);
}

class StreamReply {
  readonly #call: ActiveCall;
  readonly #source: StreamSource;
  readonly #onEnd: StreamReplyOptions["onEnd"];
  #sink: Sink | undefined;
  #isOver = false;
  /** The runtime ends the reply when this resolves. */
  readonly #done = Promise.withResolvers<void>();

  constructor({ call, source, onEnd }: StreamReplyOptions) {
    this.#call = call;
    this.#source = source;
    this.#onEnd = onEnd;
    // A reader that has gone silent never takes anything again: its connection is broken off here.
    call.onAbort = () => {
      source.cancel();
      if (!this.#isOver && call.isWaitingForReader) this.#breakOff(toApiError(call.reason));
    };
    call.onLeave = (reason) => {
      if (!this.#isOver) this.#breakOff(reason);
    };
  }

  run(sink: Sink): Promise<void> {
    this.#sink = sink;
    const { keepAlive } = this.#source;
    if (keepAlive !== undefined && !this.#isOver)
      this.#call.onSilence = () => {
        sink.write(keepAlive);
        sink.flush();
      };
    this.#next();
    return this.#done.promise;
  }

  /** The caller has gone. */
  leave(): void {
    this.#done.resolve();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call.onSilence = undefined;
    const reason = callerLeft("the caller closed the connection");
    // Aborting frees the upstream (`onAbort`), at once or when it has told what it used.
    this.#call.leave(reason);
    this.#onEnd(reason);
  }

  readonly #next = (): void => {
    if (this.#isOver) return;
    this.#call.waitForUpstream(this.#call.nowMs());
    try {
      const piece = this.#source.next();
      if (piece instanceof Promise) void piece.then(this.#write, this.#fail);
      else this.#write(piece);
    } catch (error) {
      // The runtime prints what breaks a stream off while it is being opened.
      queueMicrotask(() => this.#fail(error));
    }
  };

  readonly #write = (piece: Piece | undefined): void => {
    const sink = this.#sink;
    if (this.#isOver || sink === undefined) return;
    try {
      this.#call.waitForReader(
        this.#call.nowMs(),
        piece !== undefined && piece === this.#source.keepAlive,
      );
      if (piece === undefined) {
        this.#end(undefined);
        sink.end();
        return this.#done.resolve();
      }
      const taken = sink.write(piece);
      sink.flush();
      if (taken instanceof Promise) void taken.then(this.#next, this.#next);
      else this.#next();
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #fail = (thrown: unknown): void => {
    if (this.#isOver) return;
    const error = toApiError(this.#call.reason ?? thrown);
    this.#end(error);
    const piece = this.#source.fail(error);
    this.#source.cancel();
    if (piece === undefined) this.#sink?.close(error);
    else {
      this.#sink?.write(piece);
      this.#sink?.end();
    }
    this.#done.resolve();
  };

  #breakOff(reason: ApiError): void {
    this.#end(reason);
    // What is measured after that still needs the upstream freed in the end.
    this.#call.onAbort = () => this.#source.cancel();
    this.#sink?.close(reason);
    this.#done.resolve();
  }

  #end(error: ApiError | undefined): void {
    this.#isOver = true;
    this.#call.onSilence = undefined;
    this.#call.onAbort = undefined;
    this.#call.onLeave = undefined;
    this.#onEnd(error);
  }
}
