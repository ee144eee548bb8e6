import { Database } from "bun:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import {
  countRejections,
  readRecent,
  readRejected,
  readRejections,
} from "../../sql/rejections/reading.ts";
import { readKeySpending } from "../../sql/reports/key-spending.ts";
import { readMinutes, type StoredMinute } from "../../sql/reports/minute-reading.ts";
import { readProviders } from "../../sql/reports/provider-reading.ts";
import { countReceipts, readRanked } from "../../sql/reports/receipt-ranking.ts";
import { readReceipt, readReceipts } from "../../sql/reports/receipt-reading.ts";
import { readUsage } from "../../sql/reports/usage-reading.ts";
import type { ReportAnswer, ReportQuestion } from "./reports-thread.ts";
import { packUsage } from "./usage-packing.ts";

/** The thread of the reports: answers one question at a time, each from one moment of the database. */
const { path } = workerData as { readonly path: string };
let opened: Database | undefined;

parentPort?.on("message", (question: ReportQuestion | "close") => {
  if (question === "close") {
    opened?.close();
    parentPort?.postMessage("closed", []);
    return;
  }
  const answer = tryTo(question);
  const moved = "usage" in answer ? [answer.usage.numbers.buffer, answer.usage.charged.buffer] : [];
  parentPort?.postMessage(answer, moved);
});

function tryTo(question: ReportQuestion): ReportAnswer {
  try {
    opened ??= open();
    // A deferred transaction: everything is read as of its first look.
    return opened.transaction((raw: Database) => answerOf(raw, question))(opened);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function open(): Database {
  // Not `readonly`: such a connection cannot make the index of the log where it is missing.
  const raw = new Database(path, { readwrite: true, create: false, strict: true });
  raw.run("PRAGMA query_only = ON");
  raw.run("PRAGMA busy_timeout = 5000");
  raw.run("PRAGMA mmap_size = 1073741824");
  return raw;
}

function answerOf(raw: Database, question: ReportQuestion): ReportAnswer {
  switch (question.type) {
    case "usage":
      return { usage: packUsage(readUsage(raw, question.query)) };
    case "receipts":
      return { page: readReceipts(raw, question.query) };
    case "ranked":
      return { ranked: readRanked(raw, question.query) };
    case "count":
      return { count: countReceipts(raw, question.query) };
    case "spending":
      return { spending: readKeySpending(raw, question.query) };
    case "receipt":
      return { receipt: readReceipt(raw, question.id) };
    case "rejections":
      return { rejections: readRejections(raw, question.query) };
    case "rejection-count":
      return { rejectionTotal: countRejections(raw, question.query) };
    case "rejected":
      return { rejected: readRejected(raw, question.query) };
    case "recent":
      return { recent: readRecent(raw, question.query) };
    case "providers":
      return { providers: readProviders(raw, question.fromMs) };
    case "minutes":
      return { minutes: readMinutes(raw, question) satisfies readonly StoredMinute[] };
    default:
      return question satisfies never;
  }
}
