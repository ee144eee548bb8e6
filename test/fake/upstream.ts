/**
 * A model vendor made of recorded bytes. It is a raw TCP server, because the tests need what an HTTP
 * library would hide: where a packet ends, a reset in mid-reply, a reply that never ends.
 *
 * Each connection reads all the time, so that a leaving client is noticed at once, and answers its
 * requests one after another. A client's FIN counts as leaving: no client of ours half-closes.
 */

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Exchange, type RecordedRequest } from "./exchange.ts";
import { MalformedMessage, MessageReader } from "./http/message.ts";
import { jsonReply } from "./http/reply.ts";
import { type Reply, toScript } from "./script.ts";

export type { RecordedRequest } from "./exchange.ts";

export type ReplySource = Reply | ((request: RecordedRequest) => Reply);

export interface FakeUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseUrl: string;
  /** Complete requests in the order of their arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Bytes that the kernel has taken for the replies to `requests`. */
  readonly bytesSent: number;
  /** The n-th open call gets the n-th request that arrives from now on: call it before you send. */
  nextRequest(): Promise<RecordedRequest>;
  /** What every following request gets, when nothing is queued. */
  replyWith(reply: ReplySource): void;
  /** Queues a reply for one request; queued replies go first, in order. */
  replyOnce(reply: ReplySource): void;
  /** Forgets requests, replies and waiters. Replies that are being played go on. */
  reset(): void;
  /** Cuts every connection and frees the port. */
  stop(): Promise<void>;
  /** The same, at the end of a block that holds it with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** On any free port by default. */
export async function startFakeUpstream({ port = 0 } = {}): Promise<FakeUpstream> {
  const upstream = new TcpUpstream();
  await upstream.listen(port);
  return upstream;
}

class TcpUpstream implements FakeUpstream {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #baseUrl = "";
  #connectionCount = 0;
  #requests: Exchange[] = [];
  #waiters: ((request: RecordedRequest) => void)[] = [];
  #queue: ReplySource[] = [];
  #standing: ReplySource = withoutReply;

  constructor() {
    // Half-open, so that a FIN from the client does not end our side before we have judged it.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#accept(socket);
    });
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  get bytesSent(): number {
    return this.#requests.reduce((sum, request) => sum + request.bytesSent, 0);
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => {
        // Kept, because a test may call the address of an upstream that has stopped.
        this.#baseUrl = `http://127.0.0.1:${portOf(this.#server)}/v1`;
        resolve();
      });
    });
  }

  nextRequest(): Promise<RecordedRequest> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  replyWith(reply: ReplySource): void {
    this.#standing = reply;
  }

  replyOnce(reply: ReplySource): void {
    this.#queue.push(reply);
  }

  reset(): void {
    this.#requests = [];
    this.#waiters = [];
    this.#queue = [];
    this.#standing = withoutReply;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  stop(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.close((error) => (error === undefined ? resolve() : reject(error)));
      for (const connection of this.#connections) connection.cut();
    });
  }

  #accept(socket: Socket): void {
    this.#connectionCount += 1;
    const connection = new Connection({
      socket,
      number: this.#connectionCount,
      replyTo: (exchange) => this.#replyTo(exchange),
    });
    this.#connections.add(connection);
    socket.once("close", () => this.#connections.delete(connection));
  }

  #replyTo(exchange: Exchange): Reply {
    const source = this.#queue.shift() ?? this.#standing;
    this.#requests.push(exchange);
    this.#waiters.shift()?.(exchange);
    return typeof source === "function" ? source(exchange) : source;
  }
}

interface ConnectionOptions {
  readonly socket: Socket;
  readonly number: number;
  readonly replyTo: (exchange: Exchange) => Reply;
}

class Connection {
  readonly #socket: Socket;
  readonly #number: number;
  readonly #replyTo: (exchange: Exchange) => Reply;
  readonly #open = new Set<Exchange>();
  #reader = new MessageReader("request");
  #turn: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor({ socket, number, replyTo }: ConnectionOptions) {
    this.#socket = socket;
    this.#number = number;
    this.#replyTo = replyTo;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.once("end", () => this.#leave());
    socket.once("close", () => this.#leave());
    // A client's reset is an event to record, not a failure of the fake; "close" follows.
    socket.on("error", () => this.#leave());
  }

  cut(): void {
    for (const exchange of this.#open) exchange.cut();
    this.#socket.destroy();
  }

  #receive(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0 && !this.#isClosing) {
      try {
        rest = this.#reader.push(rest);
      } catch (error) {
        if (!(error instanceof MalformedMessage)) throw error;
        this.#refuse(error);
        return;
      }
      if (this.#reader.complete) this.#begin();
    }
  }

  #begin(): void {
    const exchange = new Exchange({
      message: this.#reader,
      connection: this.#number,
      socket: this.#socket,
    });
    this.#reader = new MessageReader("request");
    this.#open.add(exchange);
    const earlier = this.#turn;
    this.#turn = this.#answer({ exchange, earlier });
  }

  async #answer(options: { exchange: Exchange; earlier: Promise<void> }): Promise<void> {
    const { exchange, earlier } = options;
    try {
      const script = toScript(this.#replyTo(exchange));
      await earlier;
      const outcome = await exchange.play(script);
      if (outcome !== "keep") this.#isClosing = true;
      if (outcome === "close") this.#socket.end();
    } catch (error) {
      // A reply function or a gate of the test failed: free the client, let the runner report it.
      this.cut();
      throw error;
    } finally {
      this.#open.delete(exchange);
    }
  }

  #refuse(error: MalformedMessage): void {
    this.#isClosing = true;
    const body = { error: { message: `fake upstream: ${error.message}` } };
    const reply = jsonReply({ status: error.status, body, headers: { connection: "close" } });
    this.#socket.end(reply.bytes);
  }

  #leave(): void {
    this.#isClosing = true;
    for (const exchange of this.#open) exchange.clientLeft();
    this.#socket.destroy();
  }
}

/** 501 is no vendor's answer: a test that forgot its script shows as such. */
function withoutReply(request: RecordedRequest): Reply {
  const message = `the fake upstream has no reply for ${request.method} ${request.path}`;
  return jsonReply({ status: 501, body: { error: { message, type: "fake_upstream" } } });
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
}
