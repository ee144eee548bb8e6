/**
 * The open loop: requests are due at a fixed rate and latency counts from when a request was due,
 * not from when it was sent. A server that stalls so shows its stall in every request that it held
 * up, also in those that had no connection to be sent on (coordinated omission).
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
import type { Verdict } from "./reply.ts";
import { Schedule } from "./schedule.ts";

const tickMs = 1;
const defaultMaxQueued = 100_000;

export type OpenJob = LoadJob & { readonly rate: number };

export class OpenRun {
  readonly result: Promise<LoadResult>;
  readonly #resolve: (result: LoadResult) => void;
  readonly #job: OpenJob;
  readonly #requests: readonly Buffer[];
  readonly #lines: readonly Line[];
  /** The last one that was used is used next. */
  readonly #idle: Line[] = [];
  /** Times at which waiting requests were due; those before the head are sent. */
  #queue: number[] = [];
  #queueHead = 0;
  readonly #timesNs: Float64Array;
  readonly #deadline: ReturnType<typeof setTimeout>;
  #clock: ReturnType<typeof setInterval> | undefined;
  #schedule: Schedule | undefined;
  #startedAtNs = 0;
  #sent = 0;
  #inFlight = 0;
  #replies = 0;
  #refused = 0;
  #dropped = 0;
  #failures = 0;
  #firstFailure: string | undefined;
  #isOver = false;

  constructor(job: OpenJob) {
    this.#job = job;
    this.#requests = requestsOf(job);
    this.#timesNs = new Float64Array(job.requests);
    const owner = {
      replied: (line: Line, verdict: Verdict) => this.#replied(line, verdict),
      lost: (line: Line, reason: string) => this.#lost(line, reason),
    };
    const options = { port: job.port, expected: expectedOf(job), owner };
    this.#lines = Array.from({ length: job.connections }, () => new Line(options));
    const { promise, resolve } = Promise.withResolvers<LoadResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => {
      this.#fail(`not done after ${job.timeoutMs} ms`);
      this.#end();
    }, job.timeoutMs);
    void this.#start();
  }

  async #start(): Promise<void> {
    const opening = this.#lines.map(async (line) => {
      await line.open();
      this.#idle.push(line);
    });
    for (const opened of await Promise.allSettled(opening))
      if (opened.status === "rejected") this.#fail(`cannot connect: ${String(opened.reason)}`);
    if (this.#failures > 0) return this.#end();
    const { rate, requests } = this.#job;
    this.#startedAtNs = Bun.nanoseconds();
    const startNs = this.#startedAtNs;
    this.#schedule = new Schedule({ perSecond: rate, count: requests, startNs });
    this.#clock = setInterval(() => this.#tick(), tickMs);
  }

  #tick(): void {
    const { maxQueued = defaultMaxQueued } = this.#job;
    for (const dueNs of this.#schedule?.take(Bun.nanoseconds()) ?? []) {
      const line = this.#idle.pop();
      if (line !== undefined) this.#send(line, dueNs);
      else if (this.#queue.length - this.#queueHead < maxQueued) this.#queue.push(dueNs);
      else this.#dropped++;
    }
    this.#endIfDone();
  }

  #send(line: Line, dueNs: number): void {
    const request = this.#requests[this.#sent++ % this.#requests.length];
    if (request === undefined) return;
    this.#inFlight++;
    line.send(request, dueNs);
  }

  #replied(line: Line, verdict: Verdict): void {
    if (this.#isOver) return;
    this.#inFlight--;
    if (verdict === "whole") {
      const endNs = this.#job.kind === "stream" ? line.firstNs : Bun.nanoseconds();
      this.#timesNs[this.#replies++] = endNs - line.startNs;
    } else {
      this.#refused++;
      if (this.#job.isTolerant !== true) this.#fail(`refused: ${JSON.stringify(verdict)}`);
    }
    if (line.isOpen) this.#free(line);
    else void this.#reopen(line);
    this.#endIfDone();
  }

  #lost(line: Line, reason: string): void {
    if (this.#isOver) return;
    this.#inFlight--;
    this.#fail(reason);
    if (this.#job.isTolerant === true) void this.#reopen(line);
    this.#endIfDone();
  }

  async #reopen(line: Line): Promise<void> {
    try {
      await line.open();
      this.#free(line);
    } catch (error) {
      // Where every connection is lost, the deadline ends the job.
      this.#fail(`cannot connect again: ${String(error)}`);
    }
  }

  #free(line: Line): void {
    const dueNs = this.#queue[this.#queueHead];
    if (dueNs === undefined) {
      this.#idle.push(line);
      return;
    }
    this.#queueHead++;
    if (this.#queueHead === this.#queue.length) {
      this.#queue = [];
      this.#queueHead = 0;
    }
    this.#send(line, dueNs);
  }

  #fail(reason: string): void {
    this.#failures++;
    this.#firstFailure ??= reason;
  }

  #endIfDone(): void {
    const isSent = this.#schedule?.isOver === true && this.#queue.length === 0;
    const isFailed = this.#failures >= maxFailures && this.#job.isTolerant !== true;
    if ((isSent && this.#inFlight === 0) || isFailed) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const durationMs = (Bun.nanoseconds() - this.#startedAtNs) / 1e6;
    clearTimeout(this.#deadline);
    clearInterval(this.#clock);
    for (const line of this.#lines) line.end();
    this.#resolve({
      replies: this.#replies,
      failures: this.#failures,
      ...(this.#firstFailure === undefined ? {} : { firstFailure: this.#firstFailure }),
      refused: this.#refused,
      dropped: this.#dropped,
      durationMs,
      ...timesOf(this.#timesNs.subarray(0, this.#replies), this.#job),
      contentReads: this.#lines.reduce((sum, { contentReads }) => sum + contentReads, 0),
    });
  }
}
