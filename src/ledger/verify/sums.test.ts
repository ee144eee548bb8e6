import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { noonMs, receiptOf, startSums, write } from "../../../test/store/ledger-samples.ts";
import { newId } from "../../base/ids.ts";
import { openLedgerReader } from "../../store/sqlite/ledger/reader.ts";
import type { Sqlite } from "../../store/sqlite/sqlite.ts";
import { createStore } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";
import { hourMs } from "../rollups.ts";
import { Problems } from "./problems.ts";
import { checkFolded, RollupSums } from "./sums.ts";

const root = mkdtempSync(join(tmpdir(), "svc-verify-sums-"));
afterAll(() => rmSync(root, { recursive: true }));

let sqlite: Sqlite;
let store: Store;
beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  for (const id of ["acct_1", "acct_2"])
    await store.accounts.insert({ id, name: id, createdAtMs: 1 }, auditOf());
  const sums = await startSums(store.ledger);
  const receipts = [1, 2, 2].map((at) =>
    receiptOf({
      id: newId("req", noonMs),
      accountId: `acct_${at}`,
      keyId: `key_${at}`,
      charged: 0n,
      firstByteMs: 4 * at,
    }),
  );
  await store.ledger.commit(receipts.map((receipt) => write(receipt)));
  await sums.flush(noonMs, true);
});
afterEach(() => store.close());

/** What is found wrong with the sums that are kept. */
async function kinds(): Promise<readonly (readonly [string, string])[]> {
  const reader = openLedgerReader(sqlite.path);
  const stored = await reader.rollups();
  const sums = new RollupSums(stored);
  for await (const receipt of reader.receipts({})) sums.add(receipt);
  await reader.close();
  const problems = new Problems();
  sums.compare(stored.list, problems);
  checkFolded(stored, problems);
  return problems.first.map(({ kind, subject }) => [kind, subject] as const);
}

const corrupt = (sql: string) => sqlite.raw.run(sql);

test("sums that count times wrongly are found, unless they are from before these were counted", async () => {
  for (const [column, kind] of [
    ["duration_0", "durations"],
    ["first_byte_12", "firstBytes"],
    ["shortest_ms", "shortestMs"],
    ["longest_ms", "longestMs"],
    ["shortest_first_byte_ms", "shortestFirstByteMs"],
    ["longest_first_byte_ms", "longestFirstByteMs"],
  ]) {
    corrupt(`update rollups set ${column} = ${column} + 1 where key_id = 'key_2'`);
    expect(await kinds()).toEqual([[`rollup ${kind}`, "2027-01-15T12 key_2 m p"]]);
    corrupt(`update meta set value = '${noonMs + hourMs}' where key = 'rollups_counted_from_ms'`);
    expect(await kinds()).toEqual([]);
    corrupt("update meta set value = '0' where key = 'rollups_counted_from_ms'");
    corrupt(`update rollups set ${column} = ${column} - 1 where key_id = 'key_2'`);
  }
});

test("while an hour is open its times may lie closer together than those of its receipts, never wider", async () => {
  corrupt(`update meta set value = '${noonMs}' where key = 'rollups_open_from_ms'`);
  const subject = "2027-01-15T12 key_2 m p";
  for (const [column, kind, wider] of [
    ["shortest_ms", "shortestMs", -1],
    ["longest_ms", "longestMs", 1],
    ["shortest_first_byte_ms", "shortestFirstByteMs", -1],
    ["longest_first_byte_ms", "longestFirstByteMs", 1],
  ] as const) {
    const change = (by: number) =>
      corrupt(`update rollups set ${column} = ${column} + (${by}) where key_id = 'key_2'`);
    change(-wider);
    expect(await kinds()).toEqual([]);
    change(2 * wider);
    expect(await kinds()).toEqual([[`rollup ${kind}`, subject]]);
    change(-wider);
  }
});

test("sums by day and in totals are held to those by hour that are in them", async () => {
  while (await store.ledger.rollups.fold(noonMs + hourMs));
  expect(await kinds()).toEqual([]);
  for (const [table, name, subject] of [
    ["rollup_days", "key_id = 'key_2'", "2027-01-15 acct_2 key_2 m p"],
    ["rollup_totals", "name = 'key_2' and grain = 'hour'", "hour 2027-01-15T12 key key_2"],
    ["rollup_totals", "name = 'acct_2' and grain = 'day'", "day 2027-01-15 account acct_2"],
  ] as const) {
    corrupt(`update ${table} set charged = charged + 1 where ${name}`);
    expect(await kinds()).toEqual([["folded charged", subject]]);
    corrupt(`update ${table} set charged = charged - 1, duration_3 = 9 where ${name}`);
    expect(await kinds()).toEqual([["folded durations", subject]]);
    corrupt(`update ${table} set duration_3 = 0, longest_ms = 13 where ${name}`);
    expect(await kinds()).toEqual([["folded longestMs", subject]]);
    corrupt(`update ${table} set longest_ms = 12 where ${name}`);
  }
  corrupt("delete from rollup_totals where name = 'm' and grain = 'day'");
  const subjects = new Set((await kinds()).map(([, subject]) => subject));
  expect([...subjects]).toEqual(["day 2027-01-15 model m"]);
});
