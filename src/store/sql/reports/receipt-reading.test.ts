import { afterEach, beforeEach, expect, test } from "bun:test";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { noonMs, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { receiptsOf } from "../../../../test/store/plain-reports.ts";
import { newId } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { ReceiptQuery } from "../../../ledger/reports.ts";
import { hourMs } from "../../../ledger/rollups.ts";
import { createSqliteReader } from "../../sqlite/reports/sqlite-reader.ts";
import type { Sqlite } from "../../sqlite/sqlite.ts";
import { createStore } from "../../sqlite/store.ts";
import type { Store } from "../../store.ts";
import { readReceipts } from "./receipt-reading.ts";

const root = useFolder();

let sqlite: Sqlite;
let store: Store;
let receipts: readonly Receipt[];
beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  receipts = Array.from({ length: 400 }, (_, at) =>
    receiptOf({
      // Not evenly: the second hour has most of them.
      id: newId("req", noonMs + (at < 300 ? 1 : 2 + (at % 5)) * hourMs + at * 7_000),
      keyId: `key_${at % 40}`,
      outcome: at % 50 === 0 ? "upstream_error" : "ok",
      charged: 0n,
    }),
  );
  await store.ledger.commit(receipts.map((receipt) => write(receipt)));
  await store.ledger.rollups.recount(0);
});
afterEach(() => store.close());

/** All pages, and how many of them there were. */
async function walk(query: Omit<ReceiptQuery, "after">, bounds = { maxLooked: 60, atOnce: 20 }) {
  const ids: string[] = [];
  let pages = 0;
  let after: string | undefined;
  do {
    const page = await readReceipts(createSqliteReader(sqlite.raw), { ...query, after }, bounds);
    ids.push(...page.receipts.map(({ id }) => id));
    expect(page.after).not.toBe(after ?? "");
    after = page.after;
    pages++;
  } while (after !== undefined && pages < 1_000);
  return { ids, pages };
}

test("a page that looked at enough ends early, and the next goes on where it ended", async () => {
  for (const oldestFirst of [false, true])
    for (const filter of [
      { keyId: "key_7" },
      { outcome: "failed" },
      { outcome: "upstream_error" },
    ]) {
      const query = { ...filter, oldestFirst, limit: 100 };
      const { ids, pages } = await walk(query);
      expect(ids).toEqual(receiptsOf(receipts, query).map(({ id }) => id));
      expect(pages).toBeGreaterThan(4);
      expect(await walk(query, { maxLooked: 1_000_000, atOnce: 1_000_000 })).toEqual({
        ids,
        pages: 1,
      });
    }
});

test("hours without any of what is asked for are not read", async () => {
  const alone = receiptOf({ id: newId("req", noonMs + 9 * hourMs), keyId: "key_alone" });
  await store.ledger.commit([write({ ...alone, charged: 0n })]);
  await store.ledger.rollups.recount(0);
  // One hour fits the bound; were the others looked at, there would be more pages.
  expect((await walk({ keyId: "key_alone", limit: 10 })).pages).toBe(1);
  expect(await walk({ keyId: "key_none", limit: 10 })).toEqual({ ids: [], pages: 1 });
});
