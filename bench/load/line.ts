/** One keep-alive HTTP/1.1 connection of the load generator, with at most one request in flight. */
import type { Socket } from "bun";
import { createReplyReader, type Expected, type ReplyReader, type Verdict } from "./reply.ts";

export type LineOwner = {
  /** The reply is whole, or a refusal; the line can send again. */
  readonly replied: (line: Line, verdict: Exclude<Verdict, "unfinished">) => void;
  /** The connection is gone in the middle of a reply, or the reply is wrong. */
  readonly lost: (line: Line, reason: string) => void;
};

export type LineOptions = {
  readonly port: number;
  readonly expected: Expected;
  readonly owner: LineOwner;
};

export class Line {
  /** When the request in flight was due or sent, as its owner counts. */
  startNs = 0;
  /** When the first content of the stream in flight was here. */
  firstNs = 0;
  /** Reads that brought content, since the line was opened. */
  contentReads = 0;
  readonly #options: LineOptions;
  readonly #reply: ReplyReader;
  #socket: Socket<undefined> | undefined;
  #isBusy = false;
  #isClosed = false;
  #unsent: Buffer | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#reply = createReplyReader(options.expected);
  }

  async open(): Promise<void> {
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: this.#options.port,
      socket: {
        open: (opened) => void opened.setNoDelay(true),
        data: (from, data) => this.#read(from, data),
        drain: (from) => this.#drain(from),
        close: (from) => this.#close(from, "connection closed"),
        error: (from, error) => this.#close(from, String(error)),
      },
    });
    this.#socket = socket;
    this.#isClosed = false;
    this.#reply.restart();
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** False where the server has closed it, or is about to: then it must be opened again. */
  get isOpen(): boolean {
    return !this.#isClosed && !this.#reply.closes;
  }

  send(request: Buffer, startNs: number): void {
    const socket = this.#socket;
    if (socket === undefined) return this.#lose("not connected");
    this.#reply.restart();
    this.#isBusy = true;
    this.startNs = startNs;
    this.firstNs = 0;
    this.#write(socket, request);
  }

  end(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.end();
  }

  #write(socket: Socket<undefined>, bytes: Buffer): void {
    const written = socket.write(bytes);
    if (written < 0) this.#lose("request not sent");
    else if (written < bytes.length) this.#unsent = bytes.subarray(written);
  }

  #drain(socket: Socket<undefined>): void {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent !== undefined) this.#write(socket, unsent);
  }

  #read(socket: Socket<undefined>, data: Buffer): void {
    if (socket !== this.#socket) return;
    if (!this.#isBusy) return this.#lose("bytes after the end of a reply");
    const chunksBefore = this.#reply.chunks;
    const verdict = this.#reply.read(data);
    if (this.#reply.chunks > chunksBefore) {
      this.contentReads++;
      if (chunksBefore === 0) this.firstNs = Bun.nanoseconds();
    }
    if (verdict === "unfinished") return;
    if (typeof verdict === "object" && "wrong" in verdict) return this.#lose(verdict.wrong);
    this.#isBusy = false;
    this.#options.owner.replied(this, verdict);
  }

  /** Between replies a server may close. */
  #close(socket: Socket<undefined>, reason: string): void {
    if (socket !== this.#socket) return;
    this.#isClosed = true;
    if (this.#isBusy) this.#lose(reason);
  }

  #lose(reason: string): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isClosed = true;
    this.#isBusy = false;
    this.#unsent = undefined;
    socket?.terminate();
    this.#options.owner.lost(this, reason);
  }
}
