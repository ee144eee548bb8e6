/**
 * A vendor under load: raw TCP, so that it can reset a connection wherever it likes, and it counts
 * which request came how often. What it says are the documented bytes of the fake upstream.
 */

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { MessageReader } from "../fake/http/message.ts";
import { usageOf } from "../fake/openai/chat-json.ts";
import { chatAnswers, chatStreams, type Recording, rateLimits } from "../fake/recordings.ts";

/** A number from 0 to below 1, the same ones in every run. */
export type Dice = () => number;

export function diceOf(seed: number): Dice {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** What becomes of one request. */
export interface Plan {
  readonly afterMs?: number;
  /** A reset instead of an answer, after so many bytes of it. */
  readonly resetAfterBytes?: (reply: Recording) => number;
  /** Turned away, and told to come back after so long. */
  readonly limitedForMs?: number;
}

export interface VendorOptions {
  readonly name: string;
  /** What it says it used; each vendor its own, so that a receipt shows who was paid for. */
  readonly completionTokens: number;
  readonly planFor: () => Plan;
  /** Whether a connection is reset before anything of a request was read. */
  readonly resetsConnection?: () => boolean;
}

export const promptTokens = 20;
/** How a caller names its request in its prompt. */
export const wordOf = (id: number) => `word-${id}`;

export class Vendor {
  readonly name: string;
  readonly completionTokens: number;
  /** How often each request was received whole. */
  readonly arrivals = new Map<string, number>();
  answered = 0;
  limited = 0;
  resets = 0;
  /** Those of them that came before a request was read. */
  deafResets = 0;
  readonly #options: VendorOptions;
  readonly #sockets = new Map<Socket, number>();
  #server: Server;
  #port = 0;

  constructor(options: VendorOptions) {
    this.name = options.name;
    this.completionTokens = options.completionTokens;
    this.#options = options;
    this.#server = this.#createServer();
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  get received(): number {
    return [...this.arrivals.values()].reduce((sum, count) => sum + count, 0);
  }

  /** At the same port again, where it was before. */
  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#port, "127.0.0.1", () => {
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Answers that have begun go to their end; all else is reset, and the port is closed. */
  die(): void {
    this.#server.close();
    for (const [socket, open] of this.#sockets)
      if (open > 0) this.#reset(socket);
      else socket.end();
    this.#server = this.#createServer();
  }

  #createServer(): Server {
    return createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  #accept(socket: Socket): void {
    socket.on("error", () => {});
    if (this.#options.resetsConnection?.() === true) {
      this.deafResets++;
      return this.#reset(socket);
    }
    this.#sockets.set(socket, 0);
    socket.on("close", () => this.#sockets.delete(socket));
    let reader = new MessageReader("request");
    socket.on("data", (bytes: Buffer) => {
      let rest: Uint8Array = bytes;
      while (rest.length > 0) {
        rest = reader.push(rest);
        if (!reader.complete) continue;
        this.#receive(socket, reader.body.toString());
        reader = new MessageReader("request");
      }
    });
  }

  #receive(socket: Socket, body: string): void {
    const word = /word-\d+/.exec(body)?.[0] ?? "";
    this.arrivals.set(word, (this.arrivals.get(word) ?? 0) + 1);
    const { afterMs, resetAfterBytes, limitedForMs } = this.#options.planFor();
    const answer = () => {
      if (socket.destroyed || !this.#sockets.has(socket)) return;
      this.#count(socket, -1);
      if (limitedForMs !== undefined) {
        this.limited++;
        socket.write(rateLimits.millisecondsAlone(Math.ceil(limitedForMs)).bytes);
        return;
      }
      const reply = this.#replyTo(word, body.includes('"stream":true'));
      if (resetAfterBytes === undefined) {
        this.answered++;
        socket.write(reply.bytes);
        return;
      }
      const bytes = reply.bytes.subarray(0, resetAfterBytes(reply));
      if (bytes.length === 0) this.#reset(socket);
      else socket.write(bytes, () => this.#reset(socket));
    };
    this.#count(socket, 1);
    if (afterMs === undefined) answer();
    else setTimeout(answer, afterMs);
  }

  #replyTo(word: string, isStreamed: boolean): Recording {
    const usage = usageOf({ prompt: promptTokens, completion: this.completionTokens });
    return isStreamed
      ? chatStreams.openai({ pieces: ["the answer", " to ", word], usage })
      : chatAnswers.plain({ text: `the answer to ${word}`, usage });
  }

  #count(socket: Socket, more: number): void {
    this.#sockets.set(socket, (this.#sockets.get(socket) ?? 0) + more);
  }

  #reset(socket: Socket): void {
    this.resets++;
    socket.resetAndDestroy();
  }
}

/** Lets so many through a second, and tells the others when the next second begins. */
export function limitOf(perSecond: number): () => Plan {
  let second = 0;
  let count = 0;
  return () => {
    const nowMs = Date.now();
    const current = Math.floor(nowMs / 1000);
    if (current !== second) count = 0;
    second = current;
    count++;
    return count <= perSecond ? {} : { limitedForMs: (current + 1) * 1000 - nowMs };
  };
}
