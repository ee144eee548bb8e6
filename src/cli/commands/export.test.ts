import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { runReceiptCommand } from "../../../test/setup/receipt-commands.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { plainModel } from "../../../test/store/catalog-samples.ts";
import {
  entryOf,
  noonMs,
  receiptOf,
  startSums,
  write,
} from "../../../test/store/ledger-samples.ts";
import { newId } from "../../base/ids.ts";
import { toUsd } from "../../base/money.ts";
import { costOf, type Price } from "../../call/price.ts";
import { dayMs } from "../../ledger/rollups.ts";
import type { Sqlite } from "../../store/sqlite/sqlite.ts";
import { createStore } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";

const root = mkdtempSync(join(tmpdir(), "svc-export-"));
const price: Price = { input: 300_000_000n, output: 2_500_000_001n };
const units = { input: 7, output: 11 };
const cost = costOf(units, price);
const receipts = Array.from({ length: 60 }, (_, at) =>
  receiptOf({ id: newId("req", noonMs + at), units, cost, charged: cost, hold: cost }),
);

let sqlite: Sqlite;
let store: Store;

beforeAll(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  await store.accounts.insert({ id: "acct_1", name: "acme", createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000_000_000n }), auditOf());
  const from = { modelId: "m", effectiveAtMs: 1, createdAtMs: 1 };
  await store.catalog.write(
    { atMs: 1, saveModels: [plainModel], addPrices: [{ ...from, price }] },
    auditOf(),
  );
  const rollups = await startSums(store.ledger);
  await store.ledger.commit(receipts.map((receipt) => write(receipt)));
  await rollups.flush(noonMs + 2 * dayMs);
});
afterAll(async () => {
  await store.close();
  rmSync(root, { recursive: true });
});

const run = (line: string) => runReceiptCommand(line, sqlite.path);
const output = async (line: string) => (await run(line)).text;
const idsIn = (text: string): string[] => [...(text.match(/req_[0-9a-f]+/g) ?? [])];

describe("svc receipt export", () => {
  test("writes one file, in the format of its name, and sums it up for machines", async () => {
    const path = join(root, "all.csv");
    expect(
      JSON.parse(await output(`receipt export --before 2027-02-01 --out ${path} --json`)),
    ).toEqual({
      receipts: 60,
      files: [{ path, receipts: 60, size_bytes: statSync(path).size }],
    });
    expect(idsIn(readFileSync(path, "utf8"))).toEqual(receipts.map(({ id }) => id));
    const parquet = join(root, "all.parquet");
    await output(`receipt export --out ${parquet}`);
    expect(readFileSync(parquet).subarray(0, 4).toString()).toBe("PAR1");
  });

  test("writes one file per day into a directory, of the days asked for", async () => {
    const dir = mkdtempSync(join(root, "days-"));
    const text = await output(`receipt export --from 2027-01-01 --before 2027-02-01 --out ${dir}`);
    const path = join(dir, "receipts-2027-01-15.csv");
    expect(text).toBe(`${path}  60 receipts\nexported 60 receipts\n`);
    expect(idsIn(readFileSync(path, "utf8"))).toHaveLength(60);
    expect(await output(`receipt export --before 2027-01-15 --out ${dir}`)).toBe(
      "exported 0 receipts\n",
    );
  });

  test("says what is wrong with a format or a path", async () => {
    expect((await run("receipt export --format xml --out x")).code).toBe("invalid");
    const path = join(sqlite.path, "x.csv");
    const { code, message } = await run(`receipt export --out ${path}`);
    expect(code).toBe("failed");
    expect(message).toMatch(
      /x\.csv cannot be written: a part of the path is not a directory \(\w+\)\.$/,
    );
    expect(message).toStartWith(path);
    expect(await run("receipt export --from 2027-02-01 --before 2027-01-01 --out x")).toMatchObject(
      { code: "invalid", message: "from must not be later than --before." },
    );
  });

  test("creates a directory whose name ends in a slash", async () => {
    const dir = join(root, "new", "archive");
    await output(`receipt export --before 2027-02-01 --out ${dir}/`);
    expect(readdirSync(dir)).toEqual(["receipts-2027-01-15.csv"]);
  });
});

describe("svc ledger verify without old receipts", () => {
  test("says what it took from sums", async () => {
    await store.retention.advance({ nowMs: noonMs + 2 * dayMs, days: 1 });
    while (await store.retention.erase({ withAll: true }));
    const charged = toUsd(60n * cost);
    expect(await output("ledger verify")).toBe(
      `ok  0 receipts, 1 account, 1 entry, ${charged} USD charged
The daily sums stand for 60 receipts with ${charged} USD: receipts are no longer kept before 2027-01-16T00:00:00Z.
`,
    );
    expect(JSON.parse(await output("ledger verify --json"))).toMatchObject({
      ok: true,
      from_sums: { receipts: 60, charged, before: "2027-01-16T00:00:00Z" },
    });
  });
});
