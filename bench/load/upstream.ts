/**
 * The model server of the bench: raw TCP, canned bytes, its own process, as cheap as it can be, so
 * that on a small machine nearly all CPU is left to what is measured.
 *
 * Streams are paced by wheels, one per pace: one slot per millisecond, as many slots as the pace has
 * milliseconds, every stream in one slot. So a stream gets one event per turn, always in its own
 * packet, and streams are spread over time as those of real models are. A late timer makes streams
 * slower, never two events at once.
 */
import type { Socket } from "bun";
import { fromDialectRequest } from "../dialects/dialect-traffic.ts";
import { type Answers, fromVendorRequest } from "../providers/vendor-traffic.ts";
import { type Encoding, embeddingsReply, speechReply } from "./media-traffic.ts";
import { announce } from "./processes.ts";
import {
  asksFor,
  chatReply,
  contentLengthOf,
  defaultPaceMs,
  fromStreamBody,
  models,
  paceOf,
  refusalReply,
  streamChunk,
  streamEnd,
  streamStart,
} from "./traffic.ts";

const slotMs = 1;
const maxRequestBytes = 256 * 1024;
/** Paces have at most four digits. */
const maxWheels = 32;

type Connection = {
  pending: string;
  stream: Stream | undefined;
  /** Of a reply that the socket did not take at once. */
  unsent: Buffer | undefined;
};
type Stream = {
  readonly socket: Socket<Connection>;
  readonly slot: Set<Stream>;
  readonly answers: Answers;
  chunksLeft: number;
};

const common: Answers = {
  whole: chatReply,
  start: streamStart,
  chunk: streamChunk,
  end: streamEnd,
};
const embeddings = new Map<Encoding, Buffer>();

class Wheel {
  readonly #slots: readonly Set<Stream>[];
  #begun = 0;
  #position = 0;

  constructor(paceMs: number) {
    this.#slots = Array.from({ length: paceMs / slotMs }, () => new Set<Stream>());
  }

  nextSlot(): Set<Stream> {
    const slot = this.#slots[this.#begun++ % this.#slots.length];
    if (slot === undefined) throw new Error("a wheel has slots");
    return slot;
  }

  turn(): Iterable<Stream> {
    this.#position = (this.#position + 1) % this.#slots.length;
    return this.#slots[this.#position] ?? [];
  }
}

const wheels = new Map<number, Wheel>();
let streamsOpen = 0;
let timer: ReturnType<typeof setInterval> | undefined;

const server = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { pending: "", stream: undefined, unsent: undefined };
      socket.setNoDelay(true);
    },
    data(socket, data) {
      const connection = socket.data;
      const text = connection.pending + data.toString("latin1");
      connection.pending = "";
      const headEnd = text.indexOf("\r\n\r\n");
      const bodyStart = headEnd + 4;
      const length = headEnd < 0 ? 0 : contentLengthOf(text.slice(0, headEnd));
      if (length === undefined || text.length > maxRequestBytes) return refuse(socket);
      if (headEnd < 0 || text.length < bodyStart + length) connection.pending = text;
      else if (text.length > bodyStart + length) refuse(socket);
      else answer(socket, text.slice(0, text.indexOf("\r\n")), text.slice(bodyStart));
    },
    drain(socket) {
      const { unsent } = socket.data;
      socket.data.unsent = undefined;
      if (unsent !== undefined) writeLarge(socket, unsent);
    },
    close(socket) {
      endStream(socket.data);
    },
    error(socket) {
      endStream(socket.data);
    },
  },
});
announce(server.port);

function answer(socket: Socket<Connection>, requestLine: string, body: string): void {
  const vendor = fromVendorRequest(requestLine, body);
  if (vendor !== undefined) {
    const { answers, chunks } = vendor;
    if (chunks === undefined) return write(socket, answers.whole);
    return beginStream({ socket, chunks, answers, paceMs: defaultPaceMs });
  }
  // A second request inside a stream or a reply cannot come from a proxy that works.
  if (socket.data.stream !== undefined || socket.data.unsent !== undefined) return refuse(socket);
  if (requestLine.includes("/embeddings ")) return answerEmbeddings(socket, body);
  if (requestLine.includes("/audio/speech ")) {
    return asksFor(body, models.speech.upstream) ? writeLarge(socket, speechReply) : refuse(socket);
  }
  const native = fromDialectRequest(requestLine);
  // A proxy that forgot to translate the model is not a proxy, either.
  if (!asksFor(body, models.chat.upstream)) return refuse(socket);
  const chunks = fromStreamBody(body);
  const answers = native ?? common;
  if (chunks === undefined) return write(socket, answers.whole);
  beginStream({ socket, chunks, answers, paceMs: paceOf(body) });
}

function answerEmbeddings(socket: Socket<Connection>, body: string): void {
  if (!asksFor(body, models.embeddings.upstream)) return refuse(socket);
  const encoding = /"encoding_format": ?"base64"/.test(body) ? "base64" : "float";
  const reply = embeddings.get(encoding) ?? embeddingsReply(encoding);
  embeddings.set(encoding, reply);
  writeLarge(socket, reply);
}

function refuse(socket: Socket<Connection>): void {
  socket.end(refusalReply);
}

function beginStream(options: {
  readonly socket: Socket<Connection>;
  readonly chunks: number;
  readonly answers: Answers;
  readonly paceMs: number;
}): void {
  const { socket, chunks, answers, paceMs } = options;
  const wheel = wheels.get(paceMs) ?? new Wheel(paceMs);
  if (wheels.size >= maxWheels && !wheels.has(paceMs)) return refuse(socket);
  wheels.set(paceMs, wheel);
  const stream: Stream = { socket, slot: wheel.nextSlot(), answers, chunksLeft: chunks - 1 };
  socket.data.stream = stream;
  stream.slot.add(stream);
  streamsOpen++;
  write(socket, answers.start);
  timer ??= setInterval(turn, slotMs);
}

function turn(): void {
  for (const wheel of wheels.values()) for (const stream of wheel.turn()) advance(stream);
}

function advance(stream: Stream): void {
  if (stream.chunksLeft > 0) {
    stream.chunksLeft--;
    return write(stream.socket, stream.answers.chunk);
  }
  endStream(stream.socket.data);
  write(stream.socket, stream.answers.end);
}

function endStream(connection: Connection): void {
  const { stream } = connection;
  if (stream === undefined) return;
  connection.stream = undefined;
  stream.slot.delete(stream);
  streamsOpen--;
  if (streamsOpen > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** Nothing is buffered: a proxy that lets the socket fill up is too slow for the bench to be valid. */
function write(socket: Socket<Connection>, bytes: Buffer): void {
  if (socket.write(bytes) < bytes.length) socket.terminate();
}

/** Megabytes do not fit into a socket: the rest follows when it has room. */
function writeLarge(socket: Socket<Connection>, bytes: Buffer): void {
  const written = socket.write(bytes);
  if (written < 0) socket.terminate();
  else if (written < bytes.length) socket.data.unsent = bytes.subarray(written);
}
