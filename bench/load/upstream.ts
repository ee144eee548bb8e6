/**
 * The model server of the bench: raw TCP, canned bytes, its own process, as cheap as it can be, so
 * that on a small machine nearly all CPU is left to what is measured.
 *
 * Streams are paced by a wheel: one slot a millisecond, ten slots a turn (or as many as the argument
 * says), every stream in one slot. A stream so gets one event every 10 ms, always in a packet of its own, and the streams are spread
 * over time as those of real models are; a late timer makes streams slower, never two events at once.
 */
import type { Socket } from "bun";
import { type Answers, fromVendorRequest } from "../providers/vendor-traffic.ts";
import { announce } from "./processes.ts";
import {
  chatReply,
  contentLengthOf,
  fromStreamBody,
  refusalReply,
  streamChunk,
  streamEnd,
  streamStart,
  upstreamModel,
} from "./traffic.ts";

const slotMs = 1;
/** Milliseconds between two events of a stream. */
const slotCount = Number(Bun.argv[2] ?? 10);
const maxRequestBytes = 64 * 1024;

type Connection = { pending: string; stream: Stream | undefined };
type Stream = {
  readonly socket: Socket<Connection>;
  readonly slot: number;
  readonly answers: Answers;
  chunksLeft: number;
};

const common: Answers = {
  whole: chatReply,
  start: streamStart,
  chunk: streamChunk,
  end: streamEnd,
};

const wheel: readonly Set<Stream>[] = Array.from({ length: slotCount }, () => new Set<Stream>());
let streamsOpen = 0;
let streamsBegun = 0;
let position = 0;
let timer: ReturnType<typeof setInterval> | undefined;

const server = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { pending: "", stream: undefined };
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
    if (vendor.chunks === undefined) return write(socket, vendor.answers.whole);
    return beginStream(socket, vendor.chunks, vendor.answers);
  }
  // A proxy that forgot to translate the model, or a second request inside a stream, is no proxy.
  if (!body.includes(`"model":"${upstreamModel}"`) || socket.data.stream !== undefined) {
    return refuse(socket);
  }
  const chunks = fromStreamBody(body);
  if (chunks === undefined) return write(socket, chatReply);
  beginStream(socket, chunks, common);
}

function refuse(socket: Socket<Connection>): void {
  socket.end(refusalReply);
}

function beginStream(socket: Socket<Connection>, chunks: number, answers: Answers): void {
  const slot = streamsBegun++ % slotCount;
  const stream: Stream = { socket, slot, answers, chunksLeft: chunks - 1 };
  socket.data.stream = stream;
  wheel[slot]?.add(stream);
  streamsOpen++;
  write(socket, answers.start);
  timer ??= setInterval(turn, slotMs);
}

function turn(): void {
  position = (position + 1) % slotCount;
  for (const stream of wheel[position] ?? []) {
    if (stream.chunksLeft > 0) {
      stream.chunksLeft--;
      write(stream.socket, stream.answers.chunk);
    } else {
      endStream(stream.socket.data);
      write(stream.socket, stream.answers.end);
    }
  }
}

function endStream(connection: Connection): void {
  const { stream } = connection;
  if (stream === undefined) return;
  connection.stream = undefined;
  wheel[stream.slot]?.delete(stream);
  streamsOpen--;
  if (streamsOpen > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** Nothing is buffered: a proxy that lets the socket fill up is too slow for the bench to be valid. */
function write(socket: Socket<Connection>, bytes: Buffer): void {
  if (socket.write(bytes) < bytes.length) socket.terminate();
}
