import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { nextTurn } from "../../../base/clock.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { Days } from "../../../ledger/retention.ts";
import type { LedgerReader } from "../../../ledger/store.ts";
import type { ReceiptNames } from "../columns.ts";
import { csvEncoder } from "./csv.ts";
import type { Encoder } from "./encoder.ts";

export const exportFormats = ["csv", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  readonly receipts: AsyncIterable<Receipt>;
  readonly names: ReceiptNames;
  readonly format: ExportFormat;
  readonly path: string;
  /** Encoded in one turn of the event loop; in Parquet, a row group. */
  readonly receiptsAtOnce: number;
  readonly onProgress?: (receipts: number, last: Receipt) => void;
}

export interface ExportedFile {
  readonly path: string;
  readonly receipts: number;
  readonly sizeBytes: number;
}

/**
 * Any number of receipts, in bounded memory. The file has its name only once it is whole and on the
 * disk; what is there under that name is replaced.
 */
export async function exportReceipts(options: ExportOptions): Promise<ExportedFile> {
  const { path, receiptsAtOnce, onProgress } = options;
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const partPath = `${path}.${randomUUID()}.part`;
  const encoder = await createEncoder(options);
  // Receipts are for their owners alone.
  const file = await open(partPath, "wx", 0o600);
  let [receipts, sizeBytes] = [0, 0];
  try {
    const put = async (bytes: Uint8Array) => {
      await file.writeFile(bytes);
      sizeBytes += bytes.length;
    };
    const add = async (batch: readonly Receipt[]) => {
      const last = batch.at(-1);
      if (last === undefined) return;
      await put(encoder.add(batch));
      receipts += batch.length;
      onProgress?.(receipts, last);
      await nextTurn();
    };
    await put(encoder.begin());
    let batch: Receipt[] = [];
    for await (const receipt of options.receipts) {
      batch.push(receipt);
      if (batch.length < receiptsAtOnce) continue;
      await add(batch);
      batch = [];
    }
    await add(batch);
    await put(encoder.end());
    await file.sync();
    await file.close();
    await rename(partPath, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partPath, { force: true });
    throw error;
  }
  await syncFolder(folder);
  return { path, receipts, sizeBytes };
}

async function createEncoder({ format, names }: ExportOptions): Promise<Encoder> {
  if (format === "csv") return csvEncoder(names);
  // Loaded here, because most installations do without it.
  const { parquetEncoder } = await import("./parquet.ts");
  return parquetEncoder(names);
}

/** The name of a file survives a power cut, too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

/** Of one day (UTC); from a directory with one file per day, any day can be read alone. */
export async function exportDay(
  ledger: LedgerReader,
  of: Pick<ExportOptions, "format" | "receiptsAtOnce" | "onProgress"> & {
    readonly day: Days;
    readonly dir: string;
    readonly names?: ReceiptNames;
  },
): Promise<ExportedFile> {
  const { day, dir, names = await receiptNames(ledger), ...options } = of;
  const date = new Date(day.fromMs).toISOString().slice(0, 10);
  return exportReceipts({
    ...options,
    receipts: ledger.receipts({ ...day, oldestFirst: true }),
    names,
    path: join(dir, `receipts-${date}.${of.format}`),
  });
}

export async function receiptNames(ledger: LedgerReader): Promise<ReceiptNames> {
  const [accounts, keys] = await Promise.all([ledger.accounts(), ledger.keys()]);
  return {
    accounts: new Map(accounts.map(({ id, name }) => [id, name])),
    keys: new Map(keys.map(({ id, name, hint }) => [id, name || hint])),
  };
}
