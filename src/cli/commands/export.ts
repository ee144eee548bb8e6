import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { idTimeMs } from "../../base/ids.ts";
import { invalid, Problem } from "../../base/problem.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { dayMs, toDay } from "../../ledger/rollups.ts";
import type { LedgerReader } from "../../ledger/store.ts";
import { toMoment } from "../../platform/input/values.ts";
import {
  type ExportedFile,
  type ExportFormat,
  exportDay,
  exportFormats,
  exportReceipts,
  receiptNames,
} from "../../platform/requests/export/export.ts";
import { type Command, jsonFlag } from "../command.ts";
import { print, printJson, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";

/** Of a process that does nothing else. */
const receiptsAtOnce = { csv: 1_000, parquet: 20_000 } as const;

interface Wanted {
  readonly fromMs: number | undefined;
  readonly toMs: number;
  readonly format: ExportFormat;
  /** A directory gets one file per day. */
  readonly out: string;
}

export const receiptExport: Command = {
  name: "receipt export",
  about:
    "Write receipts to a file, or to one file per day in a directory. Amounts are exact in both formats.",
  flags: {
    from: { about: "started on or after this date (UTC) or time", value: "DATE" },
    before: {
      about: "started before this date (UTC) or time (default: now)",
      value: "DATE",
    },
    format: {
      about: "csv or parquet (default: by the name of the file, else csv)",
      value: "FORMAT",
      choices: exportFormats,
    },
    out: {
      about: "a file, or a directory: one that exists, or a new one with a slash at its end",
      value: "PATH",
      required: true,
    },
    ...jsonFlag,
  },
  examples: [
    "svc receipt export --before 2027-01-01 --out receipts.parquet",
    "svc receipt export --from 2026-12-01 --before 2027-01-01 --format parquet --out archive/",
    "svc receipt export --out receipts.csv --json",
  ],
  run: ({ flags, switches, wiring }) =>
    wiring.withLedger(async (ledger) => {
      const out = resolve(flags["out"] ?? "");
      const { from, before } = flags;
      const isDirectory = /[/\\]$/.test(flags["out"] ?? "");
      const wanted: Wanted = {
        fromMs: from === undefined ? undefined : toMoment(from, "from"),
        toMs: before === undefined ? Date.now() : toMoment(before, "before"),
        format: readFormat(flags["format"], out),
        out,
      };
      if (before !== undefined && (wanted.fromMs ?? 0) > wanted.toMs)
        throw invalid({ from: "from must not be later than --before." });
      const line = new ProgressLine();
      const files = await createDirectory(isDirectory ? out : undefined)
        .then(() => writeFiles(ledger, wanted, line))
        .catch((cause: unknown) => {
          throw toProblem(cause, out);
        })
        .finally(() => line.clear());
      show(files, switches.has("json"));
    }),
};

function readFormat(text: string | undefined, out: string): ExportFormat {
  if (text === undefined) return out.endsWith(".parquet") ? "parquet" : "csv";
  const format = exportFormats.find((known) => known === text);
  if (format === undefined)
    throw invalid({ format: `The format must be csv or parquet, not "${text}".` });
  return format;
}

async function createDirectory(path: string | undefined): Promise<void> {
  if (path !== undefined) await mkdir(path, { recursive: true });
}

async function writeFiles(
  ledger: LedgerReader,
  { fromMs, toMs, format, out }: Wanted,
  line: ProgressLine,
): Promise<readonly ExportedFile[]> {
  const names = await receiptNames(ledger);
  const first = await firstReceipt(ledger, fromMs, toMs);
  const beganMs = first === undefined ? toMs : idTimeMs(first.id);
  let before = 0;
  const options = {
    names,
    format,
    receiptsAtOnce: receiptsAtOnce[format],
    onProgress(receipts: number, last: Receipt) {
      if (process.stderr.isTTY !== true) return;
      const ratio = (idTimeMs(last.id) - beganMs) / Math.max(1, toMs - beganMs);
      line.show(`${bar(ratio)}  ${before + receipts} receipts`);
    },
  };
  if (statSync(out, { throwIfNoEntry: false })?.isDirectory() !== true) {
    const receipts = ledger.receipts({ fromMs, toMs, oldestFirst: true });
    return [await exportReceipts({ ...options, receipts, path: out })];
  }
  const files: ExportedFile[] = [];
  let next = first;
  while (next !== undefined) {
    const dayFromMs = toDay(idTimeMs(next.id));
    const day = {
      fromMs: Math.max(dayFromMs, fromMs ?? 0),
      toMs: Math.min(dayFromMs + dayMs, toMs),
    };
    const file = await exportDay(ledger, { ...options, day, dir: out });
    files.push(file);
    before += file.receipts;
    next = await firstReceipt(ledger, day.toMs, toMs);
  }
  return files;
}

async function firstReceipt(
  ledger: LedgerReader,
  fromMs: number | undefined,
  toMs: number,
): Promise<Receipt | undefined> {
  for await (const receipt of ledger.receipts({ fromMs, toMs, oldestFirst: true, limit: 1 }))
    return receipt;
  return undefined;
}

const barWidth = 30;

/** By time: how many there are is known only at the end. */
function bar(ratio: number): string {
  const filled = Math.round(barWidth * ratio);
  const share = String(Math.floor(ratio * 100)).padStart(3);
  return `${"━".repeat(filled)}${"─".repeat(barWidth - filled)} ${share}%`;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "its disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "a part of the path is not a directory",
  EISDIR: "it is a directory",
};

function toProblem(cause: unknown, out: string): unknown {
  if (!(cause instanceof Error) || !("syscall" in cause)) return cause;
  // Its own message names a file that is only there while it is written.
  const code = "code" in cause ? String(cause.code) : "";
  const reason = reasons[code] ?? "the system refuses it";
  const message = `${out} cannot be written: ${reason} (${code}).`;
  return new Problem({ code: "failed", message, cause });
}

function show(files: readonly ExportedFile[], isJson: boolean): void {
  const receipts = files.reduce((sum, file) => sum + file.receipts, 0);
  if (isJson)
    return printJson({
      receipts,
      files: files.map((file) => ({
        path: file.path,
        receipts: file.receipts,
        size_bytes: file.sizeBytes,
      })),
    });
  for (const file of files) print(`${file.path}  ${style.dim(`${file.receipts} receipts`)}`);
  print(`${style.green("exported")} ${receipts} receipts`);
}
