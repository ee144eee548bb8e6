import type { Receipt } from "../../../ledger/receipt.ts";
import type {
  ProviderSums,
  RankedPage,
  RankQuery,
  ReceiptCount,
  ReceiptFilters,
  ReceiptPage,
  ReceiptQuery,
  SpendQuery,
  UsagePoint,
  UsageQuery,
} from "../../../ledger/reports.ts";
import type {
  RecentQuery,
  RecentRejections,
  RejectedPoint,
  RejectedQuery,
  RejectionFilters,
  RejectionPage,
  RejectionQuery,
  RejectionTotal,
} from "../../../rejections/rejection.ts";
import {
  countRejections,
  readRecent,
  readRejected,
  readRejections,
} from "../rejections/reading.ts";
import { readKeySpending } from "./key-spending.ts";
import { readProviders } from "./provider-reading.ts";
import { countReceipts, readRanked } from "./receipt-ranking.ts";
import { readReceipt, readReceipts } from "./receipt-reading.ts";
import type { SqlReader } from "./sql-reader.ts";
import { readUsage } from "./usage-reading.ts";

export type ReportQuestion =
  | { readonly type: "usage"; readonly query: UsageQuery }
  | { readonly type: "receipts"; readonly query: ReceiptQuery }
  | { readonly type: "ranked"; readonly query: RankQuery }
  | { readonly type: "count"; readonly query: ReceiptFilters }
  | { readonly type: "spending"; readonly query: SpendQuery }
  | { readonly type: "receipt"; readonly id: string }
  | { readonly type: "rejections"; readonly query: RejectionQuery }
  | { readonly type: "rejection-count"; readonly query: RejectionFilters }
  | { readonly type: "rejected"; readonly query: RejectedQuery }
  | { readonly type: "recent"; readonly query: RecentQuery }
  | { readonly type: "providers"; readonly fromMs: number };

export type ReportAnswer =
  | { readonly usage: readonly UsagePoint[] }
  | { readonly page: ReceiptPage }
  | { readonly ranked: RankedPage }
  | { readonly count: ReceiptCount }
  | { readonly spending: ReadonlyMap<string, bigint> }
  | { readonly receipt: Receipt | undefined }
  | { readonly rejections: RejectionPage }
  | { readonly rejectionTotal: RejectionTotal }
  | { readonly rejected: readonly RejectedPoint[] }
  | { readonly recent: readonly RecentRejections[] }
  | { readonly providers: readonly ProviderSums[] };

/** Called within one transaction: all of it is read as of one moment. */
export async function answerOf(reader: SqlReader, question: ReportQuestion): Promise<ReportAnswer> {
  switch (question.type) {
    case "usage":
      return { usage: await readUsage(reader, question.query) };
    case "receipts":
      return { page: await readReceipts(reader, question.query) };
    case "ranked":
      return { ranked: await readRanked(reader, question.query) };
    case "count":
      return { count: await countReceipts(reader, question.query) };
    case "spending":
      return { spending: await readKeySpending(reader, question.query) };
    case "receipt":
      return { receipt: await readReceipt(reader, question.id) };
    case "rejections":
      return { rejections: await readRejections(reader, question.query) };
    case "rejection-count":
      return { rejectionTotal: await countRejections(reader, question.query) };
    case "rejected":
      return { rejected: await readRejected(reader, question.query) };
    case "recent":
      return { recent: await readRecent(reader, question.query) };
    case "providers":
      return { providers: await readProviders(reader, question.fromMs) };
    default:
      return question satisfies never;
  }
}
