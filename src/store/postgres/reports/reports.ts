import { DatabaseError, type Pool } from "pg";
import { Problem } from "../../../base/problem.ts";
import { minuteMs, minutesMs, toMinute } from "../../../ledger/minutes.ts";
import type { UsagePoint, UsageQuery } from "../../../ledger/reports.ts";
import { answerOf, type ReportAnswer, type ReportQuestion } from "../../sql/reports/questions.ts";
import { StoreReports, unexpected } from "../../sql/reports/store-reports.ts";
import type { ReportOptions } from "../../store.ts";
import { transact } from "../transaction.ts";
import { createPostgresReader } from "./postgres-reader.ts";

/** Not yet answered. */
const maxOpen = 64;
/** The other connections of the pool are for calls. */
const maxAtOnce = 2;
const defaultLimitMs = 10_000;
/** For the server to say that it has cancelled the statement. */
const answerMarginMs = 1_000;

interface Asked {
  readonly question: ReportQuestion;
  readonly endsAtMs: number;
  readonly giveUp: AbortController;
  readonly resolve: (answer: ReportAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Reports on PostgreSQL: see `LedgerReports` and `RejectionReports`. Each question is answered from
 * one moment of the database, by a transaction that writes nothing. A question that takes too long
 * fails, and its connection is closed.
 */
export class PostgresReports extends StoreReports {
  /** Most of what a flush takes is waiting for other processes, which costs nothing. */
  protected override readonly flushPause = 1;
  readonly #pool: Pool;
  readonly #limitMs: number;
  readonly #open = new Set<Asked>();
  /** The oldest first. */
  readonly #waiting: Asked[] = [];
  readonly #reading = new Set<Promise<void>>();
  #isClosed = false;

  constructor(pool: Pool, options: ReportOptions) {
    super(options);
    this.#pool = pool;
    this.#limitMs = options.limitMs ?? defaultLimitMs;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const asked of this.#open) this.#fail(asked, shuttingDown());
    await Promise.all(this.#reading);
  }

  protected ask(question: ReportQuestion): Promise<ReportAnswer> {
    if (this.#isClosed) return Promise.reject(shuttingDown());
    if (this.#open.size >= maxOpen)
      return Promise.reject(
        new Problem({
          code: "busy",
          message: "Too many reports at once. Try again when one has finished.",
        }),
      );
    const { promise, resolve, reject } = Promise.withResolvers<ReportAnswer>();
    const endsAtMs = performance.now() + this.#limitMs;
    const asked = { question, endsAtMs, giveUp: new AbortController(), resolve, reject };
    const deadline = setTimeout(() => this.#fail(asked, tookTooLong()), this.#limitMs).unref();
    this.#open.add(asked);
    this.#waiting.push(asked);
    this.#next();
    return promise.finally(() => clearTimeout(deadline));
  }

  /** As every process has written them: what this one has in memory is written first. */
  protected async minutes(query: UsageQuery): Promise<readonly UsagePoint[]> {
    await this.flush();
    const oldestMs = toMinute(this.options.clock.nowMs()) - minutesMs + minuteMs;
    const fromMs = Math.max(query.fromMs, oldestMs);
    const answer = await this.ask({ type: "usage", query: { ...query, fromMs } });
    const points = "usage" in answer ? answer.usage : unexpected();
    return query.isWhole === true
      ? points.map((point) => ({ ...point, startMs: query.fromMs }))
      : points;
  }

  #next(): void {
    while (this.#reading.size < maxAtOnce) {
      const asked = this.#waiting.shift();
      if (asked === undefined) return;
      if (!this.#open.has(asked)) continue;
      const reading = this.#read(asked).finally(() => {
        this.#reading.delete(reading);
        this.#next();
      });
      this.#reading.add(reading);
    }
  }

  async #read(asked: Asked): Promise<void> {
    const { question, endsAtMs, giveUp } = asked;
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()));
    // Compiling what is read once takes longer than reading it.
    const begin = `begin isolation level repeatable read read only;
      set local statement_timeout = ${leftMs}; set local jit = off`;
    try {
      const answer = await transact(
        this.#pool,
        (client) => answerOf(createPostgresReader(client), question),
        { begin, signal: giveUp.signal, answerMs: leftMs + answerMarginMs },
      );
      this.#open.delete(asked);
      asked.resolve(answer);
    } catch (error) {
      this.#fail(asked, toProblem(error));
    }
  }

  #fail(asked: Asked, problem: Problem): void {
    if (!this.#open.delete(asked)) return;
    asked.reject(problem);
    asked.giveUp.abort();
  }
}

const shuttingDown = () => new Problem({ code: "busy", message: "The gateway is shutting down." });

const tookTooLong = () =>
  new Problem({ code: "busy", message: "The report took too long. Choose a shorter period." });

/** The server's word for a statement that was cancelled. */
const cancelled = "57014";

function toProblem(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  if (cause instanceof DatabaseError && cause.code === cancelled) return tookTooLong();
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new Problem({ code: "failed", message: `The ledger could not be read: ${detail}`, cause });
}
