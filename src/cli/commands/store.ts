import { toUsd } from "../../base/money.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { type Command, jsonFlag } from "../command.ts";
import type {
  CancelView,
  CopyProgress,
  CopyView,
  MigrationView,
  UpgradeNotice,
} from "../store-wiring.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printHint, printJson, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";
import { askYes, isInteractive } from "../terminal/prompts.ts";
import { upgradeLines } from "../upgrade-text.ts";

const migrate: Command = {
  name: "migrate",
  about:
    "Bring the schema of the database up to date. Run it before you start a new version on PostgreSQL; a start does the same.",
  flags: {
    "dry-run": { about: "show what would be applied and change nothing" },
    yes: { about: "do not ask on a terminal" },
    ...jsonFlag,
  },
  examples: ["svc migrate --dry-run", "svc migrate", "svc migrate --yes"],
  run: (invocation) =>
    interruptible(async (signal) => {
      const { switches, wiring } = invocation;
      const dryRun = switches.has("dry-run");
      const onUpgrade = async (notice: UpgradeNotice) => {
        process.stderr.write(`${upgradeLines(notice).join("\n")}\n`);
        // Where a backup was written, nothing is at stake; and a script has nobody to ask.
        if (notice.backup.kind === "file" || switches.has("yes") || !isInteractive(invocation))
          return;
        const question = "Is there a backup, and shall the database be upgraded?";
        if (await askYes({ question, offered: false, signal })) return;
        throw new Problem({ code: "failed", message: "Stopped. Nothing was changed." });
      };
      const view = await wiring.migrate({ dryRun, onUpgrade });
      if (switches.has("json")) printJson({ ...view, dry_run: dryRun });
      else printMigration(view, dryRun);
    }),
};

function printMigration(view: MigrationView, dryRun: boolean): void {
  const { database, applied, pending, about, warning } = view;
  print(`${style.dim("database:")} ${database}`);
  for (const name of applied) print(`${style.green("applied")} ${name}`);
  for (const name of pending) print(`${style.yellow("pending")} ${name}: ${about[name] ?? ""}`);
  if (applied.length + pending.length === 0) print("The schema is up to date.");
  if (dryRun && pending.length > 0) printHint("Nothing was changed. svc migrate applies them.");
  if (warning !== undefined) print(style.yellow(warning));
}

const copy: Command = {
  name: "store copy",
  about:
    "Copy the SQLite database to an empty PostgreSQL database. Stop the server first. If the copy is interrupted, the same command continues it.",
  flags: {
    to: {
      about:
        "address of the PostgreSQL database (default: SVC_DATABASE_URL_FILE or SVC_DATABASE_URL); a password in it shows in the list of processes",
      value: "URL",
    },
    cancel: { about: "go on with the SQLite database after a complete copy" },
    ...jsonFlag,
  },
  examples: [
    "SVC_DATABASE_URL_FILE=/etc/svc/database-url svc store copy",
    "svc store copy --to postgres://svc@db.example:5432/svc",
    "svc store copy --cancel",
  ],
  async run({ flags: { to }, switches, wiring }) {
    if (switches.has("cancel")) {
      if (to !== undefined) throw invalid({ to: "to cannot be combined with --cancel." });
      const canceled = await wiring.cancelCopy();
      if (switches.has("json")) printJson(canceled);
      else printCanceled(canceled);
      return;
    }
    const line = new ProgressLine();
    const isLive = process.stderr.isTTY === true;
    const onProgress = (progress: CopyProgress) => {
      const text = isLive ? copyLine(progress, process.stderr.columns) : logText(progress);
      if (text !== undefined) line.show(text);
    };
    const view = await wiring.copyStore({ to, onProgress }).finally(() => line.clear());
    if (switches.has("json")) printJson({ ...view, charged: toUsd(view.charged) });
    else printCopy(view);
  },
};

export const storeCommands: readonly Command[] = [migrate, copy];

function printCanceled({ database, copied_to }: CancelView): void {
  print(`${style.green("canceled")} Servers can start on ${database} again.`);
  print(`Do not start one on ${copied_to} as well: money would be spent twice.`);
}

function printCopy(view: CopyView): void {
  const { from, to, rows, accounts, entries, receipts, charged } = view;
  if (view.was_complete) print("This copy is already complete.");
  print(`${style.green("copied")} ${from} to ${to}`);
  print(`${toCount(rows)} rows, verified: balances, budgets, sums and the rows of every table.`);
  print(
    `${toCount(accounts)} accounts, ${toCount(entries)} entries, ${toCount(receipts)} receipts, ${toUsd(charged)} USD charged.`,
  );
  print("Next: set SVC_DATABASE_URL to the new database, keep the secret, and start the server.");
}

const toCount = (count: number) => count.toLocaleString("en-US");

/** Tables whose rows people know by another name than the table's own. */
const tableWords: Readonly<Record<string, string>> = {
  key_uses: "last uses of keys",
  key_rejections: "refused uses of keys",
  target_checks: "provider checks",
  provider_failures: "provider failures",
  cost_versions: "vendor costs",
  data_keys: "data keys",
  limit_versions: "limits",
  saved_views: "saved views",
  audit: "audit log",
  budget_spends: "budgets",
  claims: "idempotency keys",
  rollups: "hourly sums",
  rollup_days: "daily sums",
  rollup_totals: "totals",
  receipt_marks: "retention dates",
  rejections: "refused requests",
  rejection_minutes: "refused requests per minute",
  rejection_hours: "refused requests per hour",
};

const stepText = ({ table, doneRows, totalRows, isContinued }: CopyProgress) => {
  if (table === undefined) return "verifying the ledger";
  const words = tableWords[table] ?? table;
  return isContinued
    ? `continuing: ${toCount(doneRows)} of ${toCount(totalRows)} ${words} are there`
    : `copying ${words}`;
};

/** Of a batch; smaller ones may show a tenth twice. */
const batchRows = 1_000;

/** For a log: a line per table, and about one per tenth of a long one. */
export function logText(progress: CopyProgress): string | undefined {
  const { table, doneRows, totalRows, isContinued } = progress;
  if (table === undefined || isContinued || doneRows === 0) return stepText(progress);
  const tenthAt = (rows: number) => Math.floor((rows * 10) / totalRows);
  if (doneRows >= totalRows || tenthAt(doneRows) === tenthAt(doneRows - batchRows))
    return undefined;
  return `${stepText(progress)} ${toCount(doneRows)} of ${toCount(totalRows)}`;
}

const barWidth = 24;
const usualColumns = 80;

/** A bar, its share, and the rows; the rows are dropped where the line is narrow. */
export function copyLine(progress: CopyProgress, columns: number | undefined): string {
  const { doneRows, totalRows } = progress;
  const ratio = totalRows === 0 ? 1 : Math.min(1, doneRows / totalRows);
  const filled = Math.round(barWidth * ratio);
  const bar = "━".repeat(filled) + "─".repeat(barWidth - filled);
  const share = `${String(Math.floor(ratio * 100)).padStart(3)}%`;
  const text = `${bar} ${share}  ${stepText(progress)}`;
  const rows = progress.isContinued ? "" : `  ${toCount(doneRows)} of ${toCount(totalRows)}`;
  const width = columns === undefined || columns === 0 ? usualColumns : columns;
  return text.length + rows.length < width ? text + rows : text;
}
