import { Database } from "bun:sqlite";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { Kysely, SqliteDialect } from "kysely";
import { Problem } from "../../../base/problem.ts";
import { findLostTail, rememberLostTail } from "../../sql/lost-tail.ts";
import type { Db } from "../../sql/schema.ts";
import { readMark } from "../mark.ts";
import { asKyselyExpects } from "../sqlite.ts";
import { checkSpace } from "./space.ts";

/** What is in a copy of the database. */
export interface DatabaseFacts {
  readonly secretFingerprint: string;
  /** By name, the oldest first. */
  readonly migrations: readonly string[];
  /** "" where there is none. */
  readonly newestReceipt: string;
  readonly sequence: number;
  readonly receipts: number;
  readonly accounts: number;
}

export interface SnapshotOptions {
  /** The real path of the database. */
  readonly path: string;
  readonly to: string;
  readonly nowMs: () => number;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface Snapshot {
  /** Every reply that was complete by then has its receipt in the copy. */
  readonly atMs: number;
  readonly facts: DatabaseFacts;
  readonly sizeBytes: number;
}

const lookEveryMs = 250;

/**
 * A consistent copy of the database as of one moment, beside a running gateway: one read transaction
 * of SQLite, which no writer waits for. The write-ahead log cannot be shortened meanwhile, so it
 * grows by what is written.
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { path, to, nowMs, signal } = options;
  const totalBytes = sizeOf(path);
  checkSpace(dirname(to), totalBytes, "a copy of the database");
  // SQLite would create it readable for all.
  closeSync(openSync(to, "wx", 0o600));
  // Both before the copy begins: what they tell of is in it.
  const mark = readMark(path);
  const atMs = nowMs();
  await copy(options, totalBytes);
  signal?.throwIfAborted();
  const db: Db = new Kysely({
    dialect: new SqliteDialect({ database: asKyselyExpects(open(to)) }),
  });
  try {
    // A loss that no start has recorded yet would not show without the mark.
    const lost = await findLostTail(db, mark, atMs).catch(() => undefined);
    if (lost !== undefined) await rememberLostTail(db, lost);
  } finally {
    await db.destroy();
  }
  return { atMs, facts: readFacts(to), sizeBytes: statSync(to).size };
}

export function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}

async function copy(
  { path, to, onProgress, signal }: SnapshotOptions,
  totalBytes: number,
): Promise<void> {
  const worker = new Worker(new URL("./snapshot-worker.ts", import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const timer = setInterval(
    () => onProgress(Math.min(sizeIfThere(to), totalBytes), totalBytes),
    lookEveryMs,
  );
  const onAbort = () => reject(new Error("The backup was stopped."));
  signal?.addEventListener("abort", onAbort, { once: true });
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", () => reject(new Error("the thread of the backup has exited")));
  try {
    worker.postMessage({ path, to }, []);
    const answer = await promise;
    if (isFailure(answer))
      throw Object.assign(new Error(answer.error), { code: answer.code, path });
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}

const isFailure = (answer: unknown): answer is { readonly error: string; readonly code: string } =>
  typeof answer === "object" && answer !== null && "error" in answer && "code" in answer;

function open(path: string): Database {
  return new Database(path, { readwrite: true, create: false, strict: true });
}

/** Of a database that nobody writes. */
export function readFacts(path: string): DatabaseFacts {
  const raw = open(path);
  try {
    const get = <T>(sql: string) => raw.query<{ value: T }, []>(sql).get()?.value;
    const has = (table: string) =>
      raw.query("select 1 from sqlite_master where type = 'table' and name = ?").get(table) !==
      null;
    const secretFingerprint = has("meta")
      ? get<string>("select value from meta where key = 'secret_fingerprint'")
      : undefined;
    if (secretFingerprint === undefined) throw noLedger(path);
    const migrations = raw
      .query<{ name: string }, []>("select name from kysely_migration order by name")
      .all()
      .map(({ name }) => name);
    const hasReceipts = has("receipts");
    return {
      secretFingerprint,
      migrations,
      newestReceipt:
        (hasReceipts ? get<string | null>("select max(id) as value from receipts") : "") ?? "",
      sequence: get<number>("select sequence as value from feed") ?? 0,
      receipts: (hasReceipts ? get<number>("select count(*) as value from receipts") : 0) ?? 0,
      accounts: get<number>("select count(*) as value from accounts") ?? 0,
    };
  } finally {
    raw.close();
  }
}

const noLedger = (path: string) =>
  new Problem({
    code: "failed",
    message: `The database ${path} is empty: no gateway has been started on it.`,
  });

function sizeOf(path: string): number {
  const raw = open(path);
  try {
    raw.run("PRAGMA busy_timeout = 5000");
    const get = (name: string) =>
      Number(
        Object.values(raw.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {})[0],
      );
    return get("page_count") * get("page_size");
  } finally {
    raw.close();
  }
}

const sizeIfThere = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The first thing that is wrong with a page or an index; undefined where all is well. */
export function integrityProblem(path: string): string | undefined {
  const raw = open(path);
  try {
    const [found] = raw.query<Record<string, unknown>, []>("PRAGMA integrity_check(1)").all();
    const text = String(Object.values(found ?? {})[0]);
    return text === "ok" ? undefined : text;
  } catch (error) {
    return String(error);
  } finally {
    raw.close();
  }
}
