import { monotonicMs } from "../../../base/clock.ts";
import { Problem } from "../../../base/problem.ts";
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
  /** A flush is followed by a pause of so many times what it took. */
  protected readonly flushPause: number = 50;
  #flushed: Promise<void> = Promise.resolve();
  #flushAgainMs = Number.NEGATIVE_INFINITY;

  constructor(options: ReportOptions) {
    this.options = options;
  }

  async catchUp(accountId: string | undefined): Promise<number | undefined> {
    await this.flush();
    return this.options.unwrittenSinceMs?.(accountId);
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

  /** Concurrent queries share one flush. If it fails, reports show what is stored. */
  protected flush(): Promise<void> {
    const elapsedMs = this.options.elapsedMs ?? monotonicMs;
    const beganMs = elapsedMs();
    if (beganMs < this.#flushAgainMs) return this.#flushed;
    this.#flushAgainMs = Number.POSITIVE_INFINITY;
    this.#flushed = this.options
      .flush()
      .catch(() => {})
      .finally(() => {
        const tookMs = elapsedMs() - beganMs;
        const againMs = Math.min(this.flushPause * tookMs, tookMs + longestPauseMs);
        this.#flushAgainMs = beganMs + Math.max(flushEveryMs, againMs);
      });
    return this.#flushed;
  }
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
