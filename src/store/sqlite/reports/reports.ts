import { Problem } from "../../../base/problem.ts";
import { minutesMs } from "../../../ledger/minutes.ts";
import type { UsagePoint, UsageQuery } from "../../../ledger/reports.ts";
import type { ReportAnswer, ReportQuestion } from "../../sql/reports/questions.ts";
import { StoreReports, unexpected } from "../../sql/reports/store-reports.ts";
import type { ReportOptions } from "../../store.ts";
import {
  ReportsThread,
  type ReportsThreadOptions,
  type ThreadAnswer,
  type ThreadQuestion,
} from "./reports-thread.ts";
import { unpackUsage } from "./usage-packing.ts";

export interface SqliteReportOptions extends ReportOptions {
  readonly workerUrl?: ReportsThreadOptions["workerUrl"];
}

/**
 * Reports on SQLite: see `LedgerReports` and `RejectionReports`. Nothing is started before the first
 * question.
 */
export class SqliteReports extends StoreReports {
  readonly #thread: ReportsThread;
  readonly #startedMs: number;
  /** What an earlier process wrote of the last hour. */
  #filled: Promise<void> | undefined;

  constructor(path: string, options: SqliteReportOptions) {
    super(options);
    const { limitMs, workerUrl } = options;
    this.#thread = new ReportsThread({ path, limitMs, workerUrl });
    this.#startedMs = options.clock.nowMs();
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  protected async ask(question: ReportQuestion): Promise<ReportAnswer> {
    const answer = await this.#ask(question);
    if ("packed" in answer) return { usage: unpackUsage(answer.packed) };
    return "minutes" in answer ? unexpected() : answer;
  }

  protected async minutes(query: UsageQuery): Promise<readonly UsagePoint[]> {
    await this.#fillMinutes();
    return this.options.minutes.usage(query, this.options.clock.nowMs());
  }

  async #ask(question: ThreadQuestion): Promise<Exclude<ThreadAnswer, { error: string }>> {
    const answer = await this.#thread.ask(question);
    if ("error" in answer)
      throw new Problem({
        code: "failed",
        message: `The ledger could not be read: ${answer.error}`,
      });
    return answer;
  }

  /** Once; where it fails the next question tries again. */
  #fillMinutes(): Promise<void> {
    const toMs = this.#startedMs;
    const fromMs = this.options.clock.nowMs() - minutesMs;
    if (this.#filled === undefined && fromMs >= toMs) this.#filled = Promise.resolve();
    this.#filled ??= this.#ask({ type: "minutes", fromMs, toMs }).then(
      (answer) => {
        if (!("minutes" in answer)) return unexpected();
        for (const { startMs, row } of answer.minutes) this.options.minutes.addRow(startMs, row);
      },
      (error: unknown) => {
        this.#filled = undefined;
        throw error;
      },
    );
    return this.#filled;
  }
}
