/**
 * How long the overview takes to open over millions of receipts: makes a ledger in a temporary
 * folder, opens it as the server does, and asks what the console asks. See bench/README.md.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../src/base/clock.ts";
import { createLog } from "../src/base/log.ts";
import type { LedgerReports, ReceiptQuery, UsageQuery } from "../src/ledger/reports.ts";
import { dayMs, hourMs } from "../src/ledger/rollups.ts";
import { openMoney } from "../src/money.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { createStore } from "../src/store/store.ts";
import { type Made, makeLedger, type Tell } from "./overview-data.ts";
import { spreadOf } from "./report.ts";

const wantedMs = 200;
const times = 20;
const maxReceipts = 50_000_000;

const help = `bun bench/overview.ts [options]

  --receipts N   how many the ledger has (5000000)
  --json         results as JSON
  --help         this
`;

type Result = {
  readonly name: string;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly worstMs: number;
  /** Median; of all threads, so that it says something on a busy machine too. */
  readonly cpuMs: number;
  readonly rows: number;
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      receipts: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return void process.stdout.write(help);
  const receipts = Number(values.receipts ?? 5_000_000);
  if (!Number.isInteger(receipts) || receipts < 1 || receipts > maxReceipts)
    throw new Error(`--receipts is a number from 1 to ${maxReceipts}`);
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-overview-"));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  const leave = () => {
    remove();
    process.exit(130);
  };
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    const path = join(dir, "svc.db");
    const made = await makeLedger({ path, receipts, tell: toBar() });
    clearBar();
    const sizeMb = statSync(path).size / 1e6;
    const results = await measureAll(path, made);
    const { insertS, recountS, foldS, foldPieceMs, rollups } = made;
    const data = { receipts, sizeMb, rollups, insertS, recountS, foldS, foldPieceMs };
    if (values.json === true)
      process.stdout.write(`${JSON.stringify({ data, results }, undefined, 2)}\n`);
    else process.stdout.write(toText(data, results));
  } finally {
    remove();
  }
}

async function measureAll(path: string, made: Made): Promise<readonly Result[]> {
  const store = await createStore(openSqlite(path), "bench");
  const log = createLog({ level: "error", pretty: false, write: (line) => console.error(line) });
  const money = await openMoney({ store, maxCallMs: 900_000, clock: systemClock, log });
  try {
    const results: Result[] = [];
    // The thread starts with the first question.
    await money.reports.receipt("");
    for (const { name, ask } of questions(money.reports, made))
      results.push(await measure(name, ask));
    return results;
  } finally {
    await money.close();
    await store.close();
  }
}

type Question = { readonly name: string; readonly ask: () => Promise<number> };

/** What the console asks for, of the busiest account and of all. */
function questions(reports: LedgerReports, made: Made): readonly Question[] {
  const toMs = Date.now();
  const spans = [
    { span: "24 h by hour", fromMs: toMs - dayMs + hourMs, grain: "hour" },
    { span: "7 days by hour", fromMs: toMs - 7 * dayMs + hourMs, grain: "hour" },
    { span: "30 days by day", fromMs: toMs - 29 * dayMs, grain: "day" },
    { span: "90 days by day", fromMs: toMs - 89 * dayMs, grain: "day" },
  ] as const;
  const [accountId, keyId] = [made.accountIds[0], made.keyIds.at(-1)];
  const usage = (name: string, query: UsageQuery): Question => ({
    name,
    ask: async () => (await reports.usage(query)).length,
  });
  const page = (name: string, query: Omit<ReceiptQuery, "limit">): Question => ({
    name: `receipts: ${name}`,
    ask: async () => (await reports.receipts({ ...query, limit: 50 })).receipts.length,
  });
  return [
    ...spans.flatMap(({ span, ...range }) =>
      (["none", "model", "key", "account"] as const).flatMap((by) => [
        usage(`${span}, operator, by ${by}`, { ...range, toMs, by }),
        ...(by === "account"
          ? []
          : [usage(`${span}, one account, by ${by}`, { ...range, toMs, by, accountId })]),
      ]),
    ),
    usage("7 days by hour, operator, one model by key", {
      fromMs: toMs - 7 * dayMs + hourMs,
      toMs,
      grain: "hour",
      by: "key",
      model: made.models[0],
    }),
    page("newest", {}),
    page("of one account", { accountId }),
    page("of a seldom used key", { keyId }),
    page("that failed", { outcome: "failed" }),
    page("of one account that failed", { accountId, outcome: "failed" }),
    page("of a seldom used key that failed", { keyId, outcome: "failed" }),
    page("with an error that nobody had", { outcome: "upstream_timeout" }),
    page("of 60 days ago, oldest first", { fromMs: toMs - 60 * dayMs, oldestFirst: true }),
  ];
}

async function measure(name: string, ask: () => Promise<number>): Promise<Result> {
  const tookMs: number[] = [];
  const usedMs: number[] = [];
  let rows = 0;
  for (let time = 0; time < times; time++) {
    const startedMs = performance.now();
    const before = process.cpuUsage();
    rows = await ask();
    const { user, system } = process.cpuUsage(before);
    tookMs.push(performance.now() - startedMs);
    usedMs.push((user + system) / 1_000);
  }
  const { median = 0, max = 0 } = spreadOf(tookMs) ?? {};
  const cpuMs = spreadOf(usedMs)?.median ?? 0;
  return { name, firstMs: tookMs[0] ?? 0, medianMs: median, worstMs: max, cpuMs, rows };
}

/** With the time that is left, on a terminal; one line in ten per cent elsewhere. */
function toBar(): Tell {
  const startedMs = performance.now();
  let told = -1;
  return (label, share) => {
    const leftS = share === 0 ? 0 : ((performance.now() - startedMs) * (1 / share - 1)) / 1_000;
    const text = `${Math.round(share * 100)} %  ${label}, about ${Math.round(leftS)} s left`;
    if (process.stderr.isTTY === true) {
      const filled = Math.round(share * 30);
      process.stderr.write(`\r\x1b[2K${"█".repeat(filled)}${"░".repeat(30 - filled)} ${text}`);
      return;
    }
    const tenth = Math.floor(share * 10);
    if (tenth > told) process.stderr.write(`${text}\n`);
    told = Math.max(told, tenth);
  };
}

function clearBar(): void {
  if (process.stderr.isTTY === true) process.stderr.write("\r\x1b[2K");
}

function toText(data: Readonly<Record<string, number>>, results: readonly Result[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const number = (value: number) => value.toFixed(1).padStart(9);
  const lines = results.map(({ name, firstMs, medianMs, worstMs, cpuMs, rows }) => {
    const verdict =
      worstMs <= wantedMs ? "ok" : medianMs <= wantedMs ? "ok, not always" : "too slow";
    const figures = `${[firstMs, medianMs, worstMs, cpuMs].map(number).join("")}`;
    return `${name.padEnd(width)}${figures}${String(rows).padStart(8)}  ${verdict}`;
  });
  const told = Object.entries(data).map(
    ([name, value]) => `${name} ${Math.round(value * 10) / 10}`,
  );
  const head = `${"ms; wanted: 200 or less".padEnd(width)}${["first", "median", "worst", "CPU"]
    .map((name) => name.padStart(9))
    .join("")}${"rows".padStart(8)}`;
  return `${told.join(", ")}\n\n${head}\n${lines.join("\n")}\n`;
}

await main();
