import { type Bytes, gatherWhole, Piece, type UpstreamReply } from "../reply.ts";
import { ChunkDecoder } from "./chunk-decoder.ts";
import type { ReplyHead } from "./reply-head.ts";

/** The connection that a reply comes on. */
export interface ReplyConnection {
  pause(): void;
  resume(): void;
  /** The reply has come to its end; `restBytes` follow it. */
  replied(restBytes: number): void;
  end(): void;
}

interface Reader {
  readonly resolve: (piece: Piece | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** What may wait to be read before the server is slowed down. */
const maxQueuedBytes = 256 * 1024;
const maxQueuedPackets = 64;
/** A packet this long can hold so many chunks that decoding it takes milliseconds. */
const longPacketBytes = 64 * 1024;

/** A reply as its packets come. A reader who is slower than the server slows the server. */
export class SocketReply implements UpstreamReply {
  readonly headers: ReplyHead;
  readonly #connection: ReplyConnection;
  readonly #decoder: ChunkDecoder | undefined;
  /** Still to come of a body whose length is known. */
  #leftBytes: number;
  /** What came before it was asked for, but for the first piece: mostly there is no other. */
  #queue: Piece[] | undefined;
  #first: Piece | undefined;
  #queuedBytes = 0;
  #isPaused = false;
  /** The runtime would hand over all packets that have arrived in one turn: the next one waits. */
  #isYielding = false;
  #isEnded = false;
  #failure: unknown;
  #reader: Reader | undefined;

  constructor(head: ReplyHead, connection: ReplyConnection) {
    this.headers = head;
    this.#connection = connection;
    const { framing } = head;
    this.#decoder = framing.kind === "chunked" ? new ChunkDecoder() : undefined;
    this.#leftBytes = framing.kind === "length" ? framing.sizeBytes : Number.POSITIVE_INFINITY;
  }

  get status(): number {
    return this.headers.status;
  }

  /** All of it has arrived: there is nothing to wait for. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get endsAtClose(): boolean {
    return this.headers.framing.kind === "close";
  }

  /** More of the body, from `start`. Throws a MalformedReplyError. */
  take(packet: Bytes, start: number): void {
    if (this.#decoder !== undefined) return this.#takeChunks(this.#decoder, packet, start);
    const stop = Math.min(packet.length, start + this.#leftBytes);
    this.#leftBytes -= stop - start;
    if (stop > start) this.#deliver(new Piece(packet, start, stop));
    if (this.#leftBytes === 0) this.#end(packet.length - stop);
  }

  /** The body ends here. */
  finish(): void {
    this.#end(0);
  }

  /** The connection broke: what came before can still be read. */
  fail(error: unknown): void {
    if (this.#isEnded || this.#failure !== undefined) return;
    this.#failure = error;
    this.#reader?.reject(error);
    this.#reader = undefined;
  }

  read(): Promise<Bytes | undefined> {
    return this.next().then(bytesOf);
  }

  next(): Promise<Piece | undefined> {
    const next = this.#first;
    if (next !== undefined) {
      this.#first = this.#queue?.shift();
      this.#queuedBytes -= next.length;
      if (this.#isPaused && this.#first === undefined) {
        this.#isPaused = false;
        this.#resume();
      }
      return Promise.resolve(next);
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#isEnded) return nothing;
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  whole(maxBytes: number): Piece | Promise<Piece> {
    const only = this.#first;
    if (this.#isEnded && only?.length === this.#queuedBytes && only.length <= maxBytes) {
      this.#first = undefined;
      this.#queuedBytes = 0;
      return only;
    }
    const { framing } = this.headers;
    if (framing.kind !== "length") return gatherWhole(this, maxBytes);
    if (framing.sizeBytes <= maxBytes) return gatherWhole(this, maxBytes, framing.sizeBytes);
    this.cancel();
    return Promise.reject(new RangeError(`it is larger than ${maxBytes} bytes`));
  }

  cancel(): void {
    this.#first = undefined;
    this.#queue = undefined;
    this.#queuedBytes = 0;
    if (this.#isEnded || this.#failure !== undefined) return;
    this.#isEnded = true;
    this.#reader?.resolve(undefined);
    this.#reader = undefined;
    this.#connection.end();
  }

  #takeChunks(decoder: ChunkDecoder, packet: Bytes, start: number): void {
    decoder.push(packet, start);
    const { end, isDone, restBytes } = decoder;
    if (end > decoder.start) this.#deliver(new Piece(packet, decoder.start, end));
    if (isDone) this.#end(restBytes);
    else if (packet.length > longPacketBytes) this.#yield();
  }

  #yield(): void {
    this.#isYielding = true;
    this.#connection.pause();
    setImmediate(() => {
      this.#isYielding = false;
      if (!this.#isPaused) this.#resume();
    });
  }

  #resume(): void {
    const isOver = this.#isEnded || this.#failure !== undefined;
    if (!this.#isYielding && !isOver) this.#connection.resume();
  }

  #deliver(piece: Piece): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      return reader.resolve(piece);
    }
    this.#queuedBytes += piece.length;
    if (this.#first === undefined) this.#first = piece;
    else (this.#queue ??= []).push(piece);
    const isLong = (this.#queue?.length ?? 0) > maxQueuedPackets;
    if ((this.#queuedBytes <= maxQueuedBytes && !isLong) || this.#isPaused) return;
    this.#isPaused = true;
    this.#connection.pause();
  }

  #end(restBytes: number): void {
    if (this.#isEnded || this.#failure !== undefined) return;
    this.#isEnded = true;
    this.#reader?.resolve(undefined);
    this.#reader = undefined;
    // The next reply on this connection has nothing to do with what waits here to be read.
    if (this.#isPaused || this.#isYielding) this.#connection.resume();
    this.#isPaused = false;
    this.#connection.replied(restBytes);
  }
}

const nothing = Promise.resolve(undefined);
const bytesOf = (piece: Piece | undefined) => piece?.bytes;
