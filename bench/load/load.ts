/**
 * The load generator: raw keep-alive HTTP/1.1 over Bun.connect, one request in flight a connection,
 * its own process. A reply that is not whole and right is a failure, and any failure fails the
 * bench: fast and wrong must not look like fast.
 */
import type { Socket } from "bun";
import { serveJobs } from "./processes.ts";
import { Reply } from "./reply.ts";
import { chatRequest, streamRequest } from "./traffic.ts";

export type LoadJob = {
  readonly kind: "chat" | "stream";
  readonly port: number;
  /** The model to ask for; chat replies must name it again. */
  readonly model: string;
  /** Used in turn, one a request. */
  readonly keys: readonly string[];
  readonly connections: number;
  /** In all, not a connection. */
  readonly requests: number;
  /** Content events a stream. */
  readonly chunks: number;
  readonly timeoutMs: number;
};

export type LoadResult = {
  readonly replies: number;
  readonly failures: number;
  readonly firstFailure?: string;
  readonly durationMs: number;
  /** Chat: until the whole reply was here. Stream: until its first content was. */
  readonly p50Us: number;
  readonly p99Us: number;
  /** Reads that brought content: about one a chunk when nothing on the way bunches events up. */
  readonly contentReads: number;
};

/** After so many failures the figures are worthless; the rest of the job is not sent. */
const maxFailures = 10;

export function runLoad(job: LoadJob): Promise<LoadResult> {
  return new Run(job).result;
}

type Connection = { readonly reply: Reply; busy: boolean; sentAtNs: number; firstAtNs: number };

class Run {
  readonly result: Promise<LoadResult>;
  readonly #resolve: (result: LoadResult) => void;
  readonly #job: LoadJob;
  readonly #requests: readonly Buffer[];
  readonly #timesNs: Float64Array;
  readonly #sockets: Socket<Connection>[] = [];
  readonly #deadline: ReturnType<typeof setTimeout>;
  #startedAtNs = 0;
  #sent = 0;
  #inFlight = 0;
  #replies = 0;
  #failures = 0;
  #firstFailure: string | undefined;
  #contentReads = 0;
  #over = false;

  constructor(job: LoadJob) {
    const { kind, model, chunks } = job;
    this.#job = job;
    this.#requests = job.keys.map((key) =>
      kind === "chat" ? chatRequest({ model, key }) : streamRequest({ model, key, chunks }),
    );
    this.#timesNs = new Float64Array(job.requests);
    const { promise, resolve } = Promise.withResolvers<LoadResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => {
      this.#fail(`not done after ${job.timeoutMs} ms`);
      this.#end();
    }, job.timeoutMs);
    void this.#start();
  }

  /** All connections are opened before the clock starts: connecting is not what is measured. */
  async #start(): Promise<void> {
    const { connections, requests } = this.#job;
    const opening = Array.from({ length: Math.min(connections, requests) }, () => this.#connect());
    for (const opened of await Promise.allSettled(opening)) {
      if (opened.status === "fulfilled") this.#sockets.push(opened.value);
      else this.#fail(`cannot connect: ${String(opened.reason)}`);
    }
    if (this.#failures > 0) return this.#end();
    this.#startedAtNs = Bun.nanoseconds();
    for (const socket of this.#sockets) this.#send(socket);
  }

  #connect(): Promise<Socket<Connection>> {
    const { kind, port, model, chunks } = this.#job;
    const reply = new Reply(kind === "chat" ? { kind, model } : { kind, chunks });
    return Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port,
      data: { reply, busy: false, sentAtNs: 0, firstAtNs: 0 },
      socket: {
        open: (socket) => void socket.setNoDelay(true),
        data: (socket, data) => this.#read(socket, data),
        // Between replies a server may close; only a job that is done has such connections.
        close: (socket) => {
          if (socket.data.busy) this.#lose(socket, "connection closed");
        },
        error: (socket, error) => this.#lose(socket, String(error)),
      },
    });
  }

  #send(socket: Socket<Connection>): void {
    const request = this.#requests[this.#sent % this.#requests.length];
    if (this.#over || this.#sent === this.#job.requests || request === undefined) return;
    this.#sent++;
    this.#inFlight++;
    const connection = socket.data;
    connection.reply.restart();
    connection.busy = true;
    connection.sentAtNs = Bun.nanoseconds();
    // A socket with nothing in flight takes a request of a few hundred bytes whole, or it is broken.
    if (socket.write(request) !== request.length) this.#lose(socket, "request not taken whole");
  }

  #read(socket: Socket<Connection>, data: Buffer): void {
    if (this.#over) return;
    const connection = socket.data;
    if (!connection.busy) return this.#lose(socket, "bytes after the end of a reply");
    const { reply } = connection;
    const chunksBefore = reply.chunks;
    const verdict = reply.read(data);
    if (reply.chunks > chunksBefore) {
      this.#contentReads++;
      if (chunksBefore === 0) connection.firstAtNs = Bun.nanoseconds();
    }
    if (verdict === "unfinished") return;
    if (verdict !== "whole") return this.#lose(socket, verdict.wrong);
    const endNs = this.#job.kind === "chat" ? Bun.nanoseconds() : connection.firstAtNs;
    this.#timesNs[this.#replies++] = endNs - connection.sentAtNs;
    connection.busy = false;
    this.#inFlight--;
    this.#send(socket);
    if (this.#inFlight === 0) this.#end();
  }

  /** The connection is not opened again: the job has failed, only how widely is still of interest. */
  #lose(socket: Socket<Connection>, reason: string): void {
    if (this.#over) return;
    if (socket.data.busy) this.#inFlight--;
    socket.data.busy = false;
    this.#fail(reason);
    socket.terminate();
    if (this.#failures >= maxFailures || this.#inFlight === 0) this.#end();
  }

  #fail(reason: string): void {
    this.#failures++;
    this.#firstFailure ??= reason;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    const durationMs = (Bun.nanoseconds() - this.#startedAtNs) / 1e6;
    clearTimeout(this.#deadline);
    for (const socket of this.#sockets) socket.end();
    const sorted = this.#timesNs.subarray(0, this.#replies).sort();
    this.#resolve({
      replies: this.#replies,
      failures: this.#failures,
      ...(this.#firstFailure === undefined ? {} : { firstFailure: this.#firstFailure }),
      durationMs,
      p50Us: percentileUs(sorted, 0.5),
      p99Us: percentileUs(sorted, 0.99),
      contentReads: this.#contentReads,
    });
  }
}

function percentileUs(sortedNs: Float64Array, share: number): number {
  const index = Math.min(sortedNs.length - 1, Math.floor(sortedNs.length * share));
  return (sortedNs[index] ?? Number.NaN) / 1000;
}

if (import.meta.main) serveJobs((job) => runLoad(job as LoadJob));
