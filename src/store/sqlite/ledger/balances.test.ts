import { afterEach, beforeEach, expect, test } from "bun:test";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { entryOf, noonMs, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { newId } from "../../../base/ids.ts";
import { hourMs } from "../../../ledger/rollups.ts";
import type { Store } from "../../store.ts";
import type { Sqlite } from "../sqlite.ts";
import { createStore } from "../store.ts";

const root = useFolder();

let sqlite: Sqlite;
let store: Store;

beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  await store.accounts.insert({ id: "acct_1", name: "payer", createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000n }), auditOf());
});
afterEach(() => store.close());

const charge = (ms: number, charged: bigint) =>
  store.ledger.commit([write(receiptOf({ id: newId("req", ms), charged }))]);

test("an account that was charged more than it had is found by its receipts, whatever the sums say", async () => {
  await charge(noonMs, 400n);
  await charge(noonMs + hourMs, 700n);
  expect(await store.checkBalances()).toEqual({
    belowZero: { accountId: "acct_1", name: "payer", missingNano: 100n },
    wrongFromMs: 0,
  });
});

test("an account at zero is not below it, and sums that lack receipts are told", async () => {
  await charge(noonMs, 1_000n);
  expect(await store.checkBalances()).toEqual({ belowZero: undefined, wrongFromMs: 0 });
  await store.ledger.rollups.recount(0);
  expect(await store.checkBalances()).toEqual({ belowZero: undefined, wrongFromMs: undefined });
});

test("hours that were checked are not added up again, later ones are", async () => {
  await charge(noonMs, 400n);
  await charge(noonMs + 9 * hourMs, 100n);
  await store.ledger.rollups.recount(0);
  expect(await store.checkBalances()).toEqual({ belowZero: undefined, wrongFromMs: undefined });
  // From the hour two hours before the newest receipt on.
  await charge(noonMs + 8 * hourMs, 600n);
  expect(await store.checkBalances()).toEqual({
    belowZero: { accountId: "acct_1", name: "payer", missingNano: 100n },
    wrongFromMs: noonMs + 7 * hourMs,
  });
});
