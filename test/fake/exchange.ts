/** One request that the fake received, and the playing of its reply. */

import type { Socket } from "node:net";
import { MalformedMessage, MessageReader } from "./http/message.ts";
import { toBuffer } from "./http/reply.ts";
import type { Script, Step } from "./script.ts";

export interface RecordedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case; values of repeated headers joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: Buffer;
  /** The body, parsed when asked for; throws if it is not JSON. */
  readonly json: unknown;
  /** Counts connections from 1: equal numbers mean a reused connection. */
  readonly connection: number;
  /** Bytes of the reply that the kernel has taken. */
  readonly bytesSent: number;
  /** Resolves when the reply has ended, or the client has left before; never rejects. */
  readonly closed: Promise<void>;
  /** True once the client's FIN or RST came before the end of the reply. */
  readonly abortedByClient: boolean;
}

const FLOOD_CHUNK = Buffer.alloc(64 * 1024);

export class Exchange implements RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: Buffer;
  readonly connection: number;
  readonly #socket: Socket;
  readonly #closed = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #reply: MessageReader | "malformed" = new MessageReader("reply");
  #json: { readonly value: unknown } | undefined;
  #bytesSent = 0;
  #hasEnded = false;
  #isGone = false;
  #abortedByClient = false;

  constructor(options: {
    readonly message: MessageReader;
    readonly connection: number;
    readonly socket: Socket;
  }) {
    const [method = "", path = ""] = options.message.startLine.split(" ");
    this.method = method;
    this.path = path;
    this.headers = options.message.headers;
    this.bytes = options.message.body;
    this.body = this.bytes.toString("utf8");
    this.connection = options.connection;
    this.#socket = options.socket;
  }

  get json(): unknown {
    this.#json ??= { value: JSON.parse(this.body) };
    return this.#json.value;
  }

  get bytesSent(): number {
    return this.#bytesSent;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get abortedByClient(): boolean {
    return this.#abortedByClient;
  }

  /** Ends with what is to become of the connection. */
  async play(script: Script): Promise<"keep" | "close" | "gone"> {
    for (const step of script) {
      if (this.#isGone) return "gone";
      await this.#perform(step);
    }
    if (!this.#isGone && this.#isUnfinished()) await this.#gone.promise;
    if (this.#isGone) return "gone";
    this.#end();
    return this.#keepsConnection() ? "keep" : "close";
  }

  clientLeft(): void {
    if (!this.#hasEnded) this.#abortedByClient = true;
    this.cut();
  }

  /** Nothing more goes out, and that is our own doing. */
  cut(): void {
    this.#end();
    this.#isGone = true;
    this.#gone.resolve();
  }

  async #perform(step: Step): Promise<void> {
    if ("send" in step) {
      await this.#send(step);
    } else if ("until" in step) {
      await Promise.race([step.until, this.#gone.promise]);
    } else if ("flood" in step) {
      await this.#flood(step.flood, step.chunk === undefined ? FLOOD_CHUNK : toBuffer(step.chunk));
    } else if ("reset" in step) {
      this.cut();
      this.#socket.resetAndDestroy();
    } else if ("close" in step) {
      this.cut();
      this.#socket.end();
    } else if ("hang" in step) {
      await this.#gone.promise;
    } else {
      step satisfies never;
    }
  }

  async #send(step: Extract<Step, { readonly send: unknown }>): Promise<void> {
    const bytes = toBuffer(step.send);
    const offsets = step.everyByte === true ? bytes.keys() : (step.pieces ?? []);
    let from = 0;
    for (const offset of [...offsets, bytes.length]) {
      if (offset <= from) continue;
      if (from > 0) await nextTurn();
      if (this.#isGone) return;
      await this.#write(bytes.subarray(from, offset));
      from = offset;
    }
  }

  async #flood(totalBytes: number, chunk: Buffer): Promise<void> {
    if (chunk.length === 0) throw new Error("a flood needs a chunk");
    for (let sentBytes = 0; sentBytes < totalBytes && !this.#isGone; sentBytes += chunk.length) {
      await this.#write(chunk);
    }
  }

  /** One write at a time, each waiting for the kernel: this is the back-pressure. */
  async #write(bytes: Buffer): Promise<void> {
    const taken = new Promise<void>((resolve) => {
      this.#socket.write(bytes, (error) => {
        // Here, not after the await: a client may leave right behind the last byte.
        if (error === undefined || error === null) this.#follow(bytes);
        resolve();
      });
    });
    await Promise.race([taken, this.#gone.promise]);
  }

  #follow(bytes: Buffer): void {
    this.#bytesSent += bytes.length;
    if (this.#reply === "malformed") return;
    try {
      this.#reply.push(bytes);
    } catch (error) {
      // A script may send nonsense on purpose; such a reply ends with the connection.
      if (!(error instanceof MalformedMessage)) throw error;
      this.#reply = "malformed";
      return;
    }
    if (this.#reply.complete) this.#end();
  }

  #isUnfinished(): boolean {
    return this.#reply !== "malformed" && !this.#reply.complete && !this.#reply.endsWithConnection;
  }

  #keepsConnection(): boolean {
    if (this.#reply === "malformed" || !this.#reply.complete) return false;
    return ![this.headers, this.#reply.headers].some(
      ({ connection }) => connection?.toLowerCase() === "close",
    );
  }

  #end(): void {
    this.#hasEnded = true;
    this.#closed.resolve();
  }
}

/**
 * Lets the reader in, so that two writes do not meet in one read. Two turns, because a write made
 * while the loop polls is followed by the first turn before the loop polls again.
 */
async function nextTurn(): Promise<void> {
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}
