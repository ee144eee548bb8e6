import { Database } from "bun:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { Mutex } from "../../../base/mutex.ts";
import { answerOf } from "../../sql/reports/questions.ts";
import { readMinutes } from "./minute-reading.ts";
import type { ThreadAnswer, ThreadQuestion } from "./reports-thread.ts";
import { createSqliteReader } from "./sqlite-reader.ts";
import { packUsage } from "./usage-packing.ts";

/** The thread of the reports: answers one question at a time, each from one moment of the database. */
const { path } = workerData as { readonly path: string };
let opened: Database | undefined;
/** Reading is asynchronous in name alone, but a connection has one transaction. */
const asking = new Mutex();

parentPort?.on("message", (question: ThreadQuestion | "close") => {
  void asking.run(async () => {
    if (question === "close") {
      opened?.close();
      parentPort?.postMessage("closed", []);
      return;
    }
    const answer = await tryTo(question);
    const moved =
      "packed" in answer ? [answer.packed.numbers.buffer, answer.packed.charged.buffer] : [];
    parentPort?.postMessage(answer, moved);
  });
});

async function tryTo(question: ThreadQuestion): Promise<ThreadAnswer> {
  try {
    opened ??= open();
    // A deferred transaction: everything is read as of its first look.
    opened.run("begin");
    try {
      return await toAnswer(opened, question);
    } finally {
      opened.run("rollback");
    }
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

async function toAnswer(raw: Database, question: ThreadQuestion): Promise<ThreadAnswer> {
  if (question.type === "minutes") return { minutes: readMinutes(raw, question) };
  const answer = await answerOf(createSqliteReader(raw), question);
  return "usage" in answer ? { packed: packUsage(answer.usage) } : answer;
}
