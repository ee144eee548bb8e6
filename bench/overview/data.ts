/** A ledger as large as a year of a busy team's, written by the product's own code. */

import { newId } from "../../src/base/ids.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { dayMs } from "../../src/ledger/rollups.ts";
import type { LedgerWrite } from "../../src/ledger/store.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "../../test/store/audit-sample.ts";

export const days = 90;
const usualCounts = { accounts: 40, keys: 200, models: 8 };
const receiptsAtOnce = 20_000;
const tellEvery = 10;
/** About so many at once are added to their day. */
const rowsAPiece = 30;

/** A server on this ledger needs it: the database knows to whom it belongs. */
export const benchSecret = "of a bench alone, and gone with its folder";
export const secretFingerprint = createSecrets(benchSecret).fingerprint;

export type Made = {
  readonly accountIds: readonly string[];
  readonly keyIds: readonly string[];
  readonly models: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Where it is measured on its own. */
  readonly ownersS?: number;
  readonly vacuumS?: number;
  readonly insertS: number;
  readonly recountS: number;
  readonly foldS: number;
  /** The longest that one piece of it held the event loop. */
  readonly foldPieceMs: number;
  readonly rollups: number;
};

export type Tell = (label: string, share: number) => void;

export async function makeLedger(options: {
  readonly path: string;
  readonly receipts: number;
  readonly tell: Tell;
}): Promise<Made> {
  const { path, receipts, tell } = options;
  const sqlite = openSqlite(path);
  const store = await createStore(sqlite, secretFingerprint);
  const toMs = Date.now() - 60_000;
  const fromMs = toMs - days * dayMs;
  const names = await makeOwners(store, fromMs);
  const timer = new Stopwatch();
  const random = randomFrom(7);
  for (let done = 0, turn = 0; done < receipts; turn++) {
    const count = Math.min(receiptsAtOnce, receipts - done);
    const writes = Array.from({ length: count }, (_, at): LedgerWrite => {
      const ms = fromMs + Math.floor(((toMs - fromMs) * (done + at)) / receipts);
      return { type: "receipt", receipt: receiptAt(ms, names, random), hold: { budgets: [] } };
    });
    await store.ledger.commit(writes);
    done += count;
    if (turn % tellEvery !== 0) continue;
    sqlite.raw.run("PRAGMA wal_checkpoint(TRUNCATE)");
    tell(`${done.toLocaleString("en")} receipts written`, (0.5 * done) / receipts);
  }
  const insertS = timer.nextS();
  tell("adding up by hour", 0.5);
  await store.ledger.rollups.recount(0);
  sqlite.raw.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const recountS = timer.nextS();
  const counted = sqlite.raw.query<{ rows: number }, []>("select count(*) as rows from rollups");
  const rollups = counted.get()?.rows ?? 0;
  const foldPieceMs = await foldAll(store, {
    toMs,
    tell: (done) =>
      tell("adding up by day", 0.7 + Math.min(0.3, (0.3 * done * rowsAPiece) / rollups)),
  });
  const foldS = timer.nextS();
  sqlite.raw.run("PRAGMA wal_checkpoint(TRUNCATE)");
  await store.close();
  return { ...names, fromMs, toMs, insertS, recountS, foldS, foldPieceMs, rollups };
}

export async function foldAll(
  { ledger }: Store,
  options: { readonly toMs: number; readonly tell: (pieces: number) => void },
): Promise<number> {
  const { toMs, tell } = options;
  let longestMs = 0;
  for (let piece = 0; ; piece++) {
    const startedMs = performance.now();
    if (!(await ledger.rollups.fold(toMs))) return longestMs;
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    if (piece % 500 === 0) tell(piece);
  }
}

export type Names = Pick<Made, "accountIds" | "keyIds" | "models">;

export async function makeOwners(
  store: Store,
  createdAtMs: number,
  counts = usualCounts,
): Promise<Names> {
  const accountIds = Array.from({ length: counts.accounts }, () => newId("acct", createdAtMs));
  for (const [at, id] of accountIds.entries()) {
    await store.accounts.insert({ id, name: `team-${at}`, createdAtMs }, auditOf());
    await store.ledger.addEntry(
      {
        id: newId("entry", createdAtMs),
        accountId: id,
        kind: "credit",
        nano: 1_000_000_000_000_000n,
        reference: id,
        note: "",
        createdAtMs,
      },
      auditOf(),
    );
  }
  const keyIds = Array.from({ length: counts.keys }, () => newId("key", createdAtMs));
  for (const [at, id] of keyIds.entries())
    await store.keys.insert(
      {
        id,
        accountId: accountIds[at % accountIds.length] ?? "",
        name: `bench-${at}`,
        hash: id,
        hint: "sk-svc-…",
        createdAtMs,
      },
      auditOf(),
    );
  const models = Array.from({ length: counts.models }, (_, at) => `bench-model-${at}`);
  return { accountIds, keyIds, models };
}

/** A few keys and models have most of the traffic. */
function receiptAt(ms: number, names: Names, random: () => number): Receipt {
  const { accountIds, keyIds, models } = names;
  const key = Math.floor(keyIds.length * random() ** 3);
  const model = Math.floor(models.length * random() ** 2);
  const input = 200 + Math.floor(4_000 * random() ** 3);
  const output = 20 + Math.floor(1_000 * random() ** 2);
  const firstByteMs = 80 + Math.floor(900 * random() ** 2);
  const isFailure = random() < 0.01;
  const cost = BigInt(input * 300 + output * 2_500);
  const provider = model % 3 === 0 ? "second" : "first";
  const durationMs = firstByteMs + output * 12;
  return {
    id: newId("req", ms),
    accountId: accountIds[key % accountIds.length] ?? "",
    keyId: keyIds[key] ?? "",
    model: models[model] ?? "",
    endpoint: "chat",
    provider,
    attempts: [
      { provider, model: `upstream-model-${model}`, startedMs: 1, durationMs: durationMs - 1 },
    ],
    priceVersion: 1,
    units: { input, output },
    reasoningTokens: 0,
    estimated: false,
    hold: cost * 4n,
    cost,
    charged: isFailure ? 0n : cost,
    vendorCost: cost - 100n,
    outcome: isFailure ? "upstream_error" : "ok",
    firstByteMs: isFailure ? undefined : firstByteMs,
    durationMs,
  };
}

/** The same numbers in every run (a linear congruential generator). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export class Stopwatch {
  #startedMs = performance.now();

  nextS(): number {
    const tookS = (performance.now() - this.#startedMs) / 1_000;
    this.#startedMs = performance.now();
    return tookS;
  }
}
