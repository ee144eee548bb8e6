/**
 * The load generator: raw keep-alive HTTP/1.1 over Bun.connect, its own process. A reply that is not
 * whole and right is a failure: fast and wrong must not look like fast.
 *
 * Closed loop: every connection sends its next request when it has the reply to the last one.
 * Open loop, with a rate: see `open-loop.ts`.
 */
import {
  expectedOf,
  type LoadJob,
  type LoadResult,
  maxFailures,
  requestsOf,
  timesOf,
} from "./job.ts";
import { Line } from "./line.ts";
import { OpenRun } from "./open-loop.ts";
import { serveJobs } from "./processes.ts";
import type { Verdict } from "./reply.ts";

export function runLoad(job: LoadJob): Promise<LoadResult> {
  return job.rate === undefined
    ? new Run(job).result
    : new OpenRun({ ...job, rate: job.rate }).result;
}

class Run {
  readonly result: Promise<LoadResult>;
  readonly #resolve: (result: LoadResult) => void;
  readonly #job: LoadJob;
  readonly #requests: readonly Buffer[];
  readonly #timesNs: Float64Array;
  readonly #lines: readonly Line[];
  readonly #deadline: ReturnType<typeof setTimeout>;
  #startedAtNs = 0;
  #lastAtNs = Number.POSITIVE_INFINITY;
  #sent = 0;
  #inFlight = 0;
  #replies = 0;
  #failures = 0;
  #firstFailure: string | undefined;
  #isOver = false;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#requests = requestsOf(job);
    this.#timesNs = new Float64Array(job.requests);
    const owner = {
      replied: (line: Line, verdict: Verdict) => this.#replied(line, verdict),
      lost: (_line: Line, reason: string) => this.#lost(reason),
    };
    const line = { port: job.port, expected: expectedOf(job), owner };
    const count = Math.min(job.connections, job.requests);
    this.#lines = Array.from({ length: count }, () => new Line(line));
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
    for (const opened of await Promise.allSettled(this.#lines.map((line) => line.open())))
      if (opened.status === "rejected") this.#fail(`cannot connect: ${String(opened.reason)}`);
    if (this.#failures > 0) return this.#end();
    this.#startedAtNs = Bun.nanoseconds();
    const { durationMs } = this.#job;
    if (durationMs !== undefined) this.#lastAtNs = this.#startedAtNs + durationMs * 1e6;
    for (const line of this.#lines) this.#send(line, this.#startedAtNs);
  }

  #send(line: Line, nowNs: number): void {
    const request = this.#requests[this.#sent % this.#requests.length];
    const isDone = this.#isOver || this.#sent === this.#job.requests || nowNs >= this.#lastAtNs;
    if (isDone || request === undefined) return;
    this.#sent++;
    this.#inFlight++;
    line.send(request, Bun.nanoseconds());
  }

  #replied(line: Line, verdict: Verdict): void {
    if (this.#isOver) return;
    this.#inFlight--;
    const nowNs = Bun.nanoseconds();
    if (verdict === "whole") {
      const endNs = this.#job.kind === "stream" ? line.firstNs : nowNs;
      this.#timesNs[this.#replies++] = endNs - line.startNs;
    } else {
      this.#fail(`refused: ${JSON.stringify(verdict)}`);
    }
    if (this.#failures >= maxFailures) return this.#end();
    if (line.isOpen) this.#send(line, nowNs);
    else void this.#reopen(line);
    if (this.#inFlight === 0) this.#end();
  }

  /** Some servers close a connection after a number of requests. */
  async #reopen(line: Line): Promise<void> {
    this.#inFlight++;
    try {
      await line.open();
    } catch (error) {
      this.#fail(`cannot connect again: ${String(error)}`);
    }
    this.#inFlight--;
    if (line.isOpen) this.#send(line, Bun.nanoseconds());
    if (this.#inFlight === 0) this.#end();
  }

  /** The connection is not opened again: the job has failed, only how widely is still of interest. */
  #lost(reason: string): void {
    if (this.#isOver) return;
    this.#inFlight--;
    this.#fail(reason);
    if (this.#failures >= maxFailures || this.#inFlight === 0) this.#end();
  }

  #fail(reason: string): void {
    this.#failures++;
    this.#firstFailure ??= reason;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const durationMs = (Bun.nanoseconds() - this.#startedAtNs) / 1e6;
    clearTimeout(this.#deadline);
    for (const line of this.#lines) line.end();
    this.#resolve({
      replies: this.#replies,
      failures: this.#failures,
      ...(this.#firstFailure === undefined ? {} : { firstFailure: this.#firstFailure }),
      refused: 0,
      dropped: 0,
      durationMs,
      ...timesOf(this.#timesNs.subarray(0, this.#replies), this.#job),
      contentReads: this.#lines.reduce((sum, { contentReads }) => sum + contentReads, 0),
    });
  }
}

if (import.meta.main) serveJobs((job) => runLoad(job as LoadJob));
