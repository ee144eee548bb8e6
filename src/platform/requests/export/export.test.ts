import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { above2to53, noonMs, receiptOf } from "../../../../test/store/ledger-samples.ts";
import { newId } from "../../../base/ids.ts";
import { csvLine } from "../../../base/text/csv.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { operatorColumns } from "../columns.ts";
import { type ExportFormat, exportReceipts } from "./export.ts";

const root = mkdtempSync(join(tmpdir(), "svc-export-"));
afterAll(() => rmSync(root, { recursive: true }));

const names = { accounts: new Map([["acct_1", 'acme, "inc"']]), keys: new Map() };
const receipts = Array.from({ length: 25 }, (_, at) =>
  receiptOf({
    id: newId("req", noonMs + at),
    model: at === 3 ? 'quoted "name",\r\nof two lines' : "m",
    hold: above2to53 + BigInt(at),
    cost: above2to53,
    charged: BigInt(at),
    vendorCost: at % 2 === 0 ? undefined : 1n,
    firstByteMs: at % 3 === 0 ? undefined : 3,
    isStreamed: at % 2 === 0,
    dialect: at % 2 === 0 ? undefined : "messages",
  }),
);

async function* several(list: readonly Receipt[]) {
  yield* list;
}

const write = (format: ExportFormat, name: string) =>
  exportReceipts({
    receipts: several(receipts),
    names,
    format,
    path: join(root, name),
    receiptsAtOnce: 10,
  });

test("CSV has every receipt, every column and every digit", async () => {
  const { path, ...file } = await write("csv", "new/receipts.csv");
  const expected = [
    operatorColumns.names,
    ...receipts.map((receipt) => operatorColumns.cells(receipt, names)),
  ];
  const text = readFileSync(path, "utf8");
  expect(text).toBe(expected.map(csvLine).join(""));
  expect(text).toContain(",9007199.254740993,");
  expect(text).toContain('"quoted ""name"",\r\nof two lines"');
  expect(file).toEqual({ receipts: 25, sizeBytes: Buffer.byteLength(text) });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("Parquet has the same, with amounts as exact decimals", async () => {
  const { path, sizeBytes } = await write("parquet", "receipts.parquet");
  expect(statSync(path).size).toBe(sizeBytes);
  const file = await asyncBufferFromFile(path);
  const { schema, row_groups, num_rows } = await parquetMetadataAsync(file);
  expect([num_rows, row_groups.length]).toEqual([25n, 3]);
  expect(schema.find(({ name }) => name === "hold_usd")).toMatchObject({
    type: "INT64",
    converted_type: "DECIMAL",
    scale: 9,
    precision: 18,
  });
  const rows = await parquetReadObjects({ file });
  expect(rows.map((row) => row["id"])).toEqual(receipts.map(({ id }) => id));
  expect(rows[3]).toMatchObject({
    account: 'acme, "inc"',
    key: null,
    model: 'quoted "name",\r\nof two lines',
    began_at: new Date(noonMs + 3),
    streamed: false,
    dialect: "messages",
    input: 1n,
    first_byte_ms: null,
    vendor_cost_usd: 1e-9,
  });
  // As the file has them: readers for JavaScript make fractions of decimals.
  const exact = await parquetReadObjects({
    file,
    metadata: await withoutDecimals(path),
    columns: ["hold_usd", "charged_usd", "vendor_cost_usd"],
  });
  expect(exact).toEqual(
    receipts.map(({ hold, charged, vendorCost }) => ({
      hold_usd: hold,
      charged_usd: charged,
      vendor_cost_usd: vendorCost ?? null,
    })),
  );
});

async function withoutDecimals(path: string) {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  for (const element of metadata.schema)
    if (element.converted_type === "DECIMAL") delete element.converted_type;
  return metadata;
}

test("a file that fails leaves nothing, and what had its name stays", async () => {
  const { path } = await write("csv", "kept/receipts.csv");
  const before = readFileSync(path, "utf8");
  async function* broken() {
    yield* receipts;
    throw new Error("the database went away");
  }
  await expect(
    exportReceipts({ receipts: broken(), names, format: "csv", path, receiptsAtOnce: 10 }),
  ).rejects.toThrow("went away");
  expect(readdirSync(join(root, "kept"))).toEqual(["receipts.csv"]);
  expect(readFileSync(path, "utf8")).toBe(before);
});
