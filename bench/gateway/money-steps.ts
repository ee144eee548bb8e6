/**
 * The parts of money and limits one by one, in a process of their own: where the microseconds of a
 * request go. Each on its own, over as many accounts and keys as the bench has, without a server.
 */

import type { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/call/chat.ts";
import { costOf, type Price } from "../../src/call/price.ts";
import type { Model } from "../../src/catalog/model.ts";
import { chatNeed } from "../../src/gateway/endpoints/chat/chat-money.ts";
import { cover, type Need } from "../../src/ledger/need.ts";
import { Hold, leastFree, Pot } from "../../src/ledger/purse.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { emptyRollup } from "../../src/ledger/rollups.ts";
import type { LedgerWrite } from "../../src/ledger/store.ts";
import { type LimitedOwner, Limiter, Permit } from "../../src/limits/limiter.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore, type Store } from "../../src/store/sqlite/store.ts";
import { toChatOrder } from "../../src/wire/v1/chat/call.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import { serveJobs } from "../load/processes.ts";
import { chatRequest, publicModel, upstreamModel } from "../load/traffic.ts";
import { spreadOf } from "./report.ts";

export type PartsJob = { readonly accounts: number; readonly keys: number };

export type Part = {
  readonly name: string;
  /** Nanoseconds a request: median, least and most of the rounds. */
  readonly median: number;
  readonly min: number;
  readonly max: number;
};

const rounds = 7;
const timesARound = 100_000;
/** Of receipts; the log of the database grows with every commit. */
const receiptsARound = 6_400;
const sumsAtOnce = 40;
const batchSizes = [1, 16, 64] as const;

const price: Price = { input: 300_000_000n, output: 2_500_000_000n };
const model: Model = {
  id: publicModel,
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 0,
  maxOutputTokens: 8_192,
  prices: [{ version: 1, effectiveAtMs: 0, createdAtMs: 0, price }],
  routes: [{ provider: "bench", model: upstreamModel, weight: 1 }],
  lifecycle: {},
};
const units = { input: 74, output: 32 };

async function measureParts(job: PartsJob): Promise<readonly Part[]> {
  return [
    await part(needWork()),
    await part(holdWork(job)),
    await part(limitWork(job)),
    ...(await receiptParts(job)),
  ];
}

type Work = {
  readonly name: string;
  /** Requests that a run of it stands for. */
  readonly times: number;
  /** Before the clock starts. */
  readonly prepare?: () => void;
  readonly run: () => void | Promise<void>;
  /** After the clock has stopped: whether all of it was really done. */
  readonly check?: () => Promise<void>;
};

/** The first round is for the just-in-time compiler. */
async function part({ name, times, prepare, run, check }: Work): Promise<Part> {
  const perRequest: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    prepare?.();
    const startedNs = Bun.nanoseconds();
    const running = run();
    if (running instanceof Promise) await running;
    const tookNs = Bun.nanoseconds() - startedNs;
    if (round > 0) perRequest.push(tookNs / times);
    await check?.();
  }
  const { median = 0, min = 0, max = 0 } = spreadOf(perRequest) ?? {};
  return { name, median, min, max };
}

function needWork(): Work {
  const request = chatRequest({ model: publicModel, key: "" }).toString("latin1");
  const text = request.slice(request.indexOf("\r\n\r\n") + 4);
  const order = toChatOrder(JSON.parse(text) as JsonObject, model.maxOutputTokens);
  return {
    name: `need of a chat of ${text.length} bytes`,
    times: timesARound,
    run() {
      let tokens = 0;
      for (let index = 0; index < timesARound; index++)
        tokens += chatNeed({ order, model, price, tpm: 1_000_000 }).tokens;
      if (tokens === 0) throw new Error("a chat needs tokens");
    },
  };
}

function holdWork({ accounts }: PartsJob): Work {
  const pots = Array.from({ length: accounts }, () => new Pot(100_000_000_000_000n));
  const need: Need = {
    units: { input: 500, choices: 1 },
    fixed: 150_000_000_000n,
    perToken: 2_500_000_000n,
    cap: 128,
    isCapNamed: true,
  };
  return {
    name: "cover, hold, cost, settle",
    times: timesARound,
    run() {
      for (let index = 0; index < timesARound; index++) {
        const pot = pots[index % accounts];
        const covered = pot && cover(need, leastFree(pot, []));
        const hold = covered && Hold.take(covered.nano, pot, []);
        if (hold === undefined || hold.settle(costOf(units, price)) === 0n)
          throw new Error("nothing was charged");
      }
    },
  };
}

function limitWork({ accounts, keys }: PartsJob): Work {
  const owners = (kind: LimitedOwner["kind"], count: number) =>
    Array.from({ length: count }, () => ({
      id: newId(kind === "key" ? "key" : "acct"),
      kind,
      limits: { rpm: 1_000_000, tpm: 1_000_000_000, concurrency: 10_000 },
    }));
  const allKeys = owners("key", keys);
  const allAccounts = owners("account", accounts);
  const limiter = new Limiter();
  return {
    name: "limits: enter, take tokens, release, read",
    times: timesARound,
    run() {
      for (let index = 0; index < timesARound; index++) {
        const key = allKeys[index % keys];
        const account = allAccounts[index % accounts];
        if (key === undefined || account === undefined) throw new Error("nobody is limited");
        const nowMs = Date.now();
        const entered = limiter.enter({ key, account, nowMs });
        if (!(entered instanceof Permit)) throw new Error("a limit was reached");
        const permit = limiter.takeTokens(entered, { key, account, tokens: 250, nowMs });
        if (!(permit instanceof Permit)) throw new Error("a limit was reached");
        limiter.release(permit, 106, nowMs);
        limiter.look(key, account, nowMs);
      }
    },
  };
}

async function receiptParts({ accounts }: PartsJob): Promise<readonly Part[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-parts-"));
  try {
    const sqlite = openSqlite(join(dir, "svc.db"));
    const store = await createStore(sqlite, "bench");
    const ids: string[] = [];
    for (let index = 0; index < accounts; index++) {
      const id = newId("acct");
      await store.accounts.insert({ id, name: `bench-${index}`, createdAtMs: 0 }, auditOf());
      const nano = 100_000_000_000_000n;
      const entry = { accountId: id, kind: "credit", nano, reference: id, note: "" } as const;
      await store.ledger.addEntry({ ...entry, id: newId("entry"), createdAtMs: 0 }, auditOf());
      ids.push(id);
    }
    const parts: Part[] = [];
    for (const size of batchSizes)
      parts.push(await part(receiptWork({ store, raw: sqlite.raw, ids, size })));
    parts.push(await part(sumsWork(store, ids)));
    await store.close();
    return parts;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What a commit does on the event loop; the sync that follows it is another thread's. */
function receiptWork(options: {
  readonly store: Store;
  readonly raw: Database;
  readonly ids: readonly string[];
  readonly size: number;
}): Work {
  const { store, raw, ids, size } = options;
  let batches: readonly (readonly LedgerWrite[])[] = [];
  let commits: Promise<void>[] = [];
  return {
    name: `a receipt, ${size} per commit`,
    times: receiptsARound,
    prepare() {
      // Each round begins with an empty log, as a running gateway about does.
      raw.run("PRAGMA wal_checkpoint(TRUNCATE)");
      const writes = Array.from({ length: receiptsARound }, (_, index) => toWrite(ids, index));
      batches = Array.from({ length: receiptsARound / size }, (_, index) =>
        writes.slice(index * size, (index + 1) * size),
      );
    },
    run() {
      commits = batches.map((batch) => store.ledger.commit(batch));
    },
    async check() {
      await Promise.all(commits);
    },
  };
}

/** As `rollups.ts` writes them: one row a key, model and hour, so many in one transaction. */
function sumsWork({ ledger }: Store, ids: readonly string[]): Work {
  const rows = ids.map((accountId) => ({
    ...emptyRollup({
      hourMs: 0,
      accountId,
      keyId: newId("key"),
      model: publicModel,
      provider: "bench",
    }),
    receipts: 4,
    cost: 408_800n,
    charged: 408_800n,
  }));
  return {
    name: `hourly rollup: a row, ${sumsAtOnce} per commit (not every request)`,
    times: rows.length,
    async run() {
      for (let done = 0; done < rows.length; done += sumsAtOnce)
        await ledger.rollups.add(rows.slice(done, done + sumsAtOnce), 0);
    },
  };
}

function toWrite(ids: readonly string[], index: number): LedgerWrite {
  const receipt: Receipt = {
    id: newId("req"),
    accountId: ids[index % ids.length] ?? "",
    keyId: newId("key"),
    model: publicModel,
    endpoint: "chat",
    provider: "bench",
    attempts: [{ provider: "bench", model: upstreamModel, startedMs: 0, durationMs: 3 }],
    priceVersion: 1,
    units,
    reasoningTokens: 0,
    estimated: false,
    hold: 500_000n,
    cost: 102_200n,
    charged: 102_200n,
    vendorCost: undefined,
    outcome: "ok",
    firstByteMs: undefined,
    durationMs: 3,
  };
  return { type: "receipt", receipt, hold: { budgets: [] } };
}

serveJobs((job) => measureParts(job as PartsJob));
