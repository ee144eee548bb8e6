import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import { Problems } from "../../src/ledger/verify/problems.ts";
import { checkFolded } from "../../src/ledger/verify/sums.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { knownCharges } from "../../src/store/sqlite/migrations/known-charges.ts";
import { migrate } from "../../src/store/sqlite/migrations/migrations.ts";
import { money } from "../../src/store/sqlite/migrations/money.ts";
import { usage } from "../../src/store/sqlite/migrations/usage.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { firstSchema } from "./first-schema.ts";
import { noonMs } from "./ledger-samples.ts";

const root = mkdtempSync(join(tmpdir(), "svc-known-"));
afterAll(() => rmSync(root, { recursive: true }));

test("sums from before say what was charged for receipts with a known cost", async () => {
  const path = join(root, "svc.db");
  const { db, raw } = openSqlite(path);
  // The tables that the second migration builds on.
  const foundation = async () => {
    for (const line of firstSchema.split("\n")) raw.run(line);
  };
  const before = {
    "0001-foundation": { up: foundation, about: "" },
    "0002-money": { up: money, about: "" },
  };
  await migrate(db, before);
  const add = (model: string, sums: { receipts: number; charged: number; known: number }) =>
    raw.run(
      `insert into rollups (hour_ms, account_id, key_id, model, provider, receipts, charged, vendor_known, failures, input_tokens, output_tokens, cost, vendor_cost)
        values (${noonMs}, 'acct_1', 'key_1', '${model}', 'p', ${sums.receipts}, ${sums.charged}, ${sums.known}, 0, 0, 0, 0, 0)`,
    );
  add("all", { receipts: 2, charged: 10, known: 2 });
  add("none", { receipts: 2, charged: 10, known: 0 });
  add("some", { receipts: 3, charged: 10, known: 2 });
  const zeros = ["input", "cached_input", "cache_write", "output", "audio_output", "image"];
  const plain = [...zeros, "video_second", "reasoning", "estimated", "hold", "cost", "duration_ms"];
  for (const [at, charged, cost] of [
    [0, 1, "7"],
    [1, 3, "null"],
    [2, 6, "0"],
  ] as const)
    raw.run(
      `insert into receipts (id, account_id, key_id, model, endpoint, provider, attempts, price_version, outcome, charged, vendor_cost, ${plain.join(", ")})
        values ('${newId("req", noonMs + at)}', 'acct_1', 'key_1', 'some', 'chat', 'p', '', 1, 'ok', ${charged}, ${cost}, ${plain.map(() => "0").join(", ")})`,
    );
  await migrate(db, {
    ...before,
    "0003-usage": { up: usage, about: "" },
    "0004-known-charges": { up: knownCharges, about: "" },
  });
  await db.destroy();
  const reader = openLedgerReader(path);
  const stored = await reader.rollups();
  await reader.close();
  const known = (rows: readonly { readonly model: string; readonly chargedKnown: bigint }[]) =>
    Object.fromEntries(rows.map(({ model, chargedKnown }) => [model, chargedKnown]));
  expect(known(stored.list)).toEqual({ all: 10n, none: 0n, some: 7n });
  expect(known(stored.days)).toEqual({ all: 10n, none: 0n, some: 7n });
  const problems = new Problems();
  checkFolded(stored, problems);
  expect(problems.first).toEqual([]);
});
