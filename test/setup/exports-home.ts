import { afterEach, beforeEach } from "bun:test";
/** A data directory with receipts of hours that are long over, and what commands export of them. */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { idTimeMs, newId } from "../../src/base/ids.ts";
import { markerName } from "../../src/exports/marker.ts";
import { hourMs, toHour } from "../../src/ledger/rollups.ts";
import type { ExportView } from "../../src/platform/exports/schemas.ts";
import { masterSecret } from "../../src/secrets/master-secret.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "../store/audit-sample.ts";
import { above2to53, entryOf, receiptOf, startSums, write } from "../store/ledger-samples.ts";
import { createHome, type Home, type HomeOptions } from "./child.ts";

export interface ExportsHome extends Home {
  /** An empty folder for exports. */
  readonly dir: string;
  /** Of the planted receipts, oldest first. */
  readonly ids: string[];
  show(name: string): Promise<ExportView>;
  /** One more receipt, right after the newest. */
  receive(): Promise<string>;
}

/** The same number of receipts in each of two hours. */
export async function createExportsHome(
  perHour: number,
  options: HomeOptions = {},
): Promise<ExportsHome> {
  const planted = plantings.get(perHour) ?? plant(perHour);
  plantings.set(perHour, planted);
  const { dataDir, ids } = await planted;
  const home = createHome(options);
  cpSync(dataDir, home.dataDir, { recursive: true });
  const dir = join(home.dataDir, "..", "exports");
  mkdirSync(dir);
  return {
    ...home,
    dir,
    ids: [...ids],
    show: (name) => home.json<ExportView>(["exports", "show", name]),
    receive: () =>
      withStore(home.dataDir, async ({ ledger }) => {
        const id = newId("req", idTimeMs(ids.at(-1) ?? "") + 1);
        await ledger.commit([write(receiptOf({ id }))]);
        return id;
      }),
  };
}

/** One for each test of a file. */
export function useExportsHome(perHour: number): ExportsHome {
  const held: { home?: ExportsHome } = {};
  beforeEach(async () => {
    held.home = await createExportsHome(perHour);
  });
  afterEach(() => held.home?.remove());
  return new Proxy({} as ExportsHome, {
    get(_, name: keyof ExportsHome) {
      if (held.home === undefined) throw new Error("There is a home during a test alone.");
      return held.home[name];
    },
  });
}

/** Data directories with receipts, which homes copy; planted once per process. */
const plantings = new Map<number, ReturnType<typeof plant>>();

async function plant(perHour: number) {
  const { dataDir, configPath, svc } = createHome();
  process.on("exit", () => rmSync(dirname(configPath), { recursive: true, force: true }));
  await svc(["apply", configPath]);
  return { dataDir, ids: await withStore(dataDir, (store) => plantReceipts(store, perHour)) };
}

async function withStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const { fingerprint } = createSecrets(
    masterSecret({ fromEnvironment: undefined, dataDir, hasDatabase: true }),
  );
  const store = await createStore(openSqlite(join(dataDir, "svc.db")), fingerprint);
  return work(store).finally(() => store.close());
}

/** Adds receipts to a store without accounts; returns their ids, oldest first. */
export async function plantReceipts(
  { accounts, ledger }: Pick<Store, "accounts" | "ledger">,
  perHour: number,
): Promise<string[]> {
  const firstMs = toHour(Date.now()) - 5 * hourMs;
  await accounts.insert({ id: "acct_1", name: "acme", createdAtMs: 1 }, auditOf());
  await ledger.addEntry(entryOf({ nano: above2to53 }), auditOf());
  const sums = await startSums(ledger, firstMs);
  const receipts = [0, hourMs].flatMap((afterMs) =>
    Array.from({ length: perHour }, (_, at) =>
      receiptOf({ id: newId("req", firstMs + afterMs + at) }),
    ),
  );
  for (let at = 0; at < receipts.length; at += 1_000)
    await ledger.commit(receipts.slice(at, at + 1_000).map((receipt) => write(receipt)));
  await sums.flush(Date.now(), true);
  return receipts.map(({ id }) => id);
}

export interface ReceivedBatch {
  readonly headers: Headers;
  readonly body: string;
}

/** The ids of the receipts in batches, in the order of arrival. */
export const idsInBatches = (all: readonly ReceivedBatch[]): readonly unknown[] =>
  all.flatMap(({ body }) =>
    body
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line).id),
  );

export interface Receiver {
  readonly url: string;
  readonly received: readonly ReceivedBatch[];
  stop(): Promise<void>;
}

/** An HTTP endpoint for exports. It stores each request before it replies. */
export function startReceiver(
  answer: (
    batch: ReceivedBatch,
    received: readonly ReceivedBatch[],
  ) => Response | Promise<Response>,
): Receiver {
  const received: ReceivedBatch[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const batch = { headers: request.headers, body: await request.text() };
      received.push(batch);
      return answer(batch, received);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/usage`,
    received,
    stop: () => server.stop(true),
  };
}

/** Files of receipts that are whole: each gets its name once it is written. */
export const wholeIn = (dir: string): readonly string[] =>
  filesIn(dir).filter((path) => path.startsWith("receipts/") && path.endsWith(".jsonl.gz"));

/** Files below a folder, by their paths in it, without the marker of the export. */
export const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== markerName)
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .toSorted();

export const linesOf = (bytes: Uint8Array<ArrayBuffer>): readonly Record<string, unknown>[] =>
  gunzipSync(bytes)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Ids of the receipts in all files, in the order of their names. */
export const idsIn = (dir: string): readonly unknown[] =>
  filesIn(dir)
    .filter((path) => path.startsWith("receipts/"))
    .flatMap((path) => linesOf(new Uint8Array(readFileSync(join(dir, path)))))
    .map(({ id }) => id);
