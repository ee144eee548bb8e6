import { monotonicMs } from "../../../base/clock.ts";
import { earliest } from "../../../base/dates.ts";
import { Problem } from "../../../base/problem.ts";
import type { ReportsAnswer } from "../../../fleet/store.ts";
import { minuteMs } from "../../../ledger/minutes.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import {
  type LedgerReports,
  mostHours,
  mostReceipts,
  mostSteps,
  type ProviderSums,
  type RankedPage,
  type RankQuery,
  type ReceiptCount,
  type ReceiptFilters,
  type ReceiptPage,
  type ReceiptQuery,
  type SpendQuery,
  type UsagePoint,
  type UsageQuery,
} from "../../../ledger/reports.ts";
import { dayMs, hourMs, toHour } from "../../../ledger/rollups.ts";
import {
  mostRows,
  type RecentQuery,
  type RecentRejections,
  type RejectedPoint,
  type RejectedQuery,
  type RejectionFilters,
  type RejectionPage,
  type RejectionQuery,
  type RejectionReports,
  type RejectionTotal,
} from "../../../rejections/rejection.ts";
import type { ReportOptions } from "../../store.ts";
import type { ReportAnswer, ReportQuestion } from "./questions.ts";

/** Sums are not written more often for who watches. */
const flushEveryMs = 1_000;
/** However long a flush takes on a machine that is busy: sums are late by about this much. */
const longestPauseMs = 5_000;

/** What reports on every database do alike: they check what is asked for, and write sums first. */
export abstract class StoreReports implements LedgerReports, RejectionReports {
  protected readonly options: ReportOptions;
  /** Flushes begin at least so many times as far apart as one takes. */
  protected readonly flushPause: number = 50;
  #flushed: Promise<unknown> = Promise.resolve();
  #lastAnswer: ReportsAnswer | undefined;
  /** Of the newest flush. */
  #asked: Promise<ReportsAnswer | undefined> = Promise.resolve(undefined);
  #flushAgainMs = Number.NEGATIVE_INFINITY;

  constructor(options: ReportOptions) {
    this.options = options;
  }

  async catchUp(accountId: string | undefined): Promise<number | undefined> {
    const before = this.#asked;
    await this.flush();
    const answer = await this.#asked;
    // What the others have counted since they were asked may be in no sum yet.
    const othersMs =
      answer?.missingSinceMs ?? (before === this.#asked ? answer?.askedMs : undefined);
    return earliest(othersMs, this.options.unwrittenSinceMs?.(accountId));
  }

  async usage(query: UsageQuery): Promise<readonly UsagePoint[]> {
    checkSteps(query);
    if (query.grain === "minute") return this.minutes(query);
    await this.flush();
    const answer = await this.ask({ type: "usage", query });
    return "usage" in answer ? answer.usage : unexpected();
  }

  async providers(fromMs: number): Promise<readonly ProviderSums[]> {
    await this.flush();
    const answer = await this.ask({ type: "providers", fromMs: toHour(fromMs) });
    return "providers" in answer ? answer.providers : unexpected();
  }

  async receipts(query: ReceiptQuery): Promise<ReceiptPage> {
    checkLimit(query, mostReceipts);
    const answer = await this.ask({ type: "receipts", query });
    return "page" in answer ? answer.page : unexpected();
  }

  async ranked(query: RankQuery): Promise<RankedPage> {
    checkLimit(query, mostReceipts);
    const answer = await this.ask({ type: "ranked", query });
    return "ranked" in answer ? answer.ranked : unexpected();
  }

  async count(query: ReceiptFilters): Promise<ReceiptCount> {
    const answer = await this.ask({ type: "count", query });
    return "count" in answer ? answer.count : unexpected();
  }

  async keySpending(query: SpendQuery): Promise<ReadonlyMap<string, bigint>> {
    await this.flush();
    const answer = await this.ask({ type: "spending", query });
    return "spending" in answer ? answer.spending : unexpected();
  }

  async receipt(id: string): Promise<Receipt | undefined> {
    const answer = await this.ask({ type: "receipt", id });
    return "receipt" in answer ? answer.receipt : unexpected();
  }

  async rejections(query: RejectionQuery): Promise<RejectionPage> {
    checkLimit(query, mostRows);
    await this.#flushRejections();
    const answer = await this.ask({ type: "rejections", query });
    return "rejections" in answer ? answer.rejections : unexpected();
  }

  async countRejections(query: RejectionFilters): Promise<RejectionTotal> {
    await this.#flushRejections();
    const answer = await this.ask({ type: "rejection-count", query });
    return "rejectionTotal" in answer ? answer.rejectionTotal : unexpected();
  }

  async rejected(query: RejectedQuery): Promise<readonly RejectedPoint[]> {
    await this.#flushRejections();
    const answer = await this.ask({ type: "rejected", query });
    return "rejected" in answer ? answer.rejected : unexpected();
  }

  async recent(query: RecentQuery): Promise<readonly RecentRejections[]> {
    await this.#flushRejections();
    const answer = await this.ask({ type: "recent", query });
    return "recent" in answer ? answer.recent : unexpected();
  }

  abstract close(): Promise<void>;

  protected abstract ask(question: ReportQuestion): Promise<ReportAnswer>;

  /** The last hour by minute. */
  protected abstract minutes(query: UsageQuery): Promise<readonly UsagePoint[]>;

  /** If it fails, reports show what is stored. */
  async #flushRejections(): Promise<void> {
    await this.options.flushRejections?.().catch(() => {});
  }

  /** Where the nodes cannot be asked, the sums reach as far as when they last could. */
  async #askNodes(): Promise<ReportsAnswer | undefined> {
    try {
      this.#lastAnswer = await this.options.askNodes?.();
    } catch (error) {
      if (this.#lastAnswer === undefined) throw error;
      const { askedMs, missingSinceMs = askedMs } = this.#lastAnswer;
      this.#lastAnswer = { askedMs, missingSinceMs };
    }
    return this.#lastAnswer;
  }

  /** Concurrent queries share one flush. If it fails, reports show what is stored. */
  protected async flush(): Promise<void> {
    const elapsedMs = this.options.elapsedMs ?? monotonicMs;
    const beganMs = elapsedMs();
    if (beganMs < this.#flushAgainMs) return void (await this.#flushed);
    this.#flushAgainMs = Number.POSITIVE_INFINITY;
    const written = within(this.options.flush(), longestPauseMs).catch(() => {});
    this.#asked = written.then(() => this.#askNodes());
    this.#flushed = this.#asked
      .catch(() => {})
      .finally(() => {
        const tookMs = elapsedMs() - beganMs;
        const againMs = Math.min(this.flushPause * tookMs, tookMs + longestPauseMs);
        this.#flushAgainMs = beganMs + Math.max(flushEveryMs, againMs);
      });
    await this.#flushed;
  }
}

/** A writer that is held back holds up no report: what it has not written is known. */
async function within(work: Promise<void>, limitMs: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export function unexpected(): never {
  throw new Error("the reply does not match the query");
}

function checkLimit({ limit }: { readonly limit: number }, most: number): void {
  if (limit >= 1 && limit <= most) return;
  throw new Problem({ code: "invalid", message: `limit must be between 1 and ${most}.` });
}

function checkSteps({ fromMs, toMs, grain, dayOffsets, isWhole = false }: UsageQuery): void {
  const readsHours = dayOffsets !== undefined || (isWhole && grain === "hour");
  const stepMs = readsHours ? hourMs : { minute: minuteMs, hour: hourMs, day: dayMs }[grain];
  if ((toMs - fromMs) / stepMs > (readsHours ? mostHours : mostSteps))
    throw new Problem({
      code: "invalid",
      message: `A report has at most ${mostSteps} time steps. Choose a shorter period or a coarser grain.`,
    });
}
