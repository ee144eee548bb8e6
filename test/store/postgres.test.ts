import { expect, test } from "bun:test";
import { verifyLedger } from "../../src/ledger/verify/verify.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { openEmptyDatabase } from "../setup/empty-database.ts";
import { useFolder } from "../setup/folder.ts";
import { storeContract } from "./contract.ts";
import { costsContract } from "./costs-contract.ts";
import { contentOf, fillStore, receiptsOf } from "./full-store.ts";
import { namesContract } from "./names-contract.ts";
import { createNodes, createShared } from "./postgres-stores.ts";
import { providersContract } from "./providers-contract.ts";

/** The short form for PostgreSQL; test/postgres has the long suites. */
storeContract("PostgreSQL", createShared);
namesContract("PostgreSQL", createShared);
providersContract("PostgreSQL", createShared);
costsContract("PostgreSQL", createNodes);

const root = useFolder();

/** As text without what is new with every row, and the versions, of which a budget takes two here. */
const withoutIds = (content: object) =>
  Bun.inspect(content, { depth: 99 }).replaceAll(
    /(audit_|entry_|reference |limitsVersion: )\w+/g,
    "$1…",
  );

test("a full ledger and all other ports return what they return on SQLite", async () => {
  const sqlite = openEmptyDatabase(root);
  const database = await createNodes();
  const stores = [await createStore(sqlite, "x"), await database.open("x")];
  const receipts = receiptsOf(30);
  for (const store of stores) await fillStore(store, receipts);
  const readers = [openLedgerReader(sqlite.path), await database.openReader()];
  const contents = stores.map(async (store) => withoutIds(await contentOf(store)));
  const [expected, found] = await Promise.all(contents);
  expect(found).toEqual(expected ?? "");
  const ledgers = readers.map(async (reader) => ({
    receipts: await Array.fromAsync(reader.receipts({})),
    verified: await verifyLedger(reader),
  }));
  const [expectedLedger, ledger] = await Promise.all(ledgers);
  expect(ledger).toEqual(expectedLedger);
  for (const one of [...readers, ...stores]) await one.close();
  await database.remove();
});
