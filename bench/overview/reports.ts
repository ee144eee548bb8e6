/** The questions to the ledger alone: opened as the server does, asked as the console asks. */

import { openMoney } from "../../src/app/ledger.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import type { LedgerReports, ReceiptQuery, UsageQuery } from "../../src/ledger/reports.ts";
import { dayMs, hourMs } from "../../src/ledger/rollups.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { spreadOf } from "../gateway/report.ts";
import { type Made, secretFingerprint, type Tell } from "./data.ts";
import { type Result, resultOf } from "./table.ts";

const times = 20;

export async function measureReports(options: {
  readonly path: string;
  readonly made: Made;
  readonly tell: Tell;
}): Promise<readonly Result[]> {
  const { path, made, tell } = options;
  const store = await createStore(openSqlite(path), secretFingerprint);
  const log = createLog({ level: "error", pretty: false, write: (line) => console.error(line) });
  const money = await openMoney({ store, maxCallMs: 900_000, clock: systemClock, log });
  // A server has its sockets; a process that has nothing to wait for spins until the answer is here.
  const waiting = setInterval(() => {}, 60_000);
  try {
    const results: Result[] = [];
    // The thread starts with the first question.
    await money.reports.receipt("");
    const all = questions(money.reports, made, await middleOf(money.reports, made));
    for (const [at, { name, ask }] of all.entries()) {
      tell(name, at / all.length);
      results.push(await measure(name, ask));
    }
    return results;
  } finally {
    clearInterval(waiting);
    await money.close();
    await store.close();
  }
}

type Question = { readonly name: string; readonly ask: () => Promise<number> };

/** A receipt of 60 days ago. */
export async function middleOf(reports: LedgerReports, { toMs }: Made): Promise<string> {
  const page = await reports.receipts({ toMs: toMs - 60 * dayMs, limit: 1 });
  return page.receipts[0]?.id ?? "";
}

/** What the console asks for, of the busiest account and of all. */
export function questions(
  reports: LedgerReports,
  made: Made,
  middleId: string,
): readonly Question[] {
  const toMs = Date.now();
  const spans = [
    { span: "24 h by hour", fromMs: toMs - dayMs + hourMs, grain: "hour" },
    { span: "7 days by hour", fromMs: toMs - 7 * dayMs + hourMs, grain: "hour" },
    { span: "30 days by day", fromMs: toMs - 29 * dayMs, grain: "day" },
    { span: "90 days by day", fromMs: toMs - 89 * dayMs, grain: "day" },
  ] as const;
  const [accountId, keyId, model] = [made.accountIds[0], made.keyIds.at(-1), made.models[0]];
  const smallAccountId = made.accountIds.at(-1);
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
    ...spans.flatMap(({ span, ...range }) => [
      usage(`${span}, operator, one model by key`, { ...range, toMs, by: "key", model }),
      usage(`${span}, operator, one model by account`, { ...range, toMs, by: "account", model }),
      usage(`${span}, operator, one key by model`, {
        ...range,
        toMs,
        by: "model",
        keyId: made.keyIds[0],
      }),
      usage(`${span}, one account, one model by key`, {
        ...range,
        toMs,
        by: "key",
        model,
        accountId,
      }),
    ]),
    page("newest", {}),
    page("of one account", { accountId }),
    page("of a small account", { accountId: smallAccountId }),
    page("of a seldom used key", { keyId }),
    page("of one key", { keyId: made.keyIds[0] }),
    page("of one model", { model }),
    page("of a seldom used model", { model: made.models.at(-1) }),
    page("that failed", { outcome: "failed" }),
    page("of one account that failed", { accountId, outcome: "failed" }),
    page("of a seldom used key that failed", { keyId, outcome: "failed" }),
    page("with an error that nobody had", { outcome: "upstream_timeout" }),
    page("of 60 days ago, oldest first", { fromMs: toMs - 60 * dayMs, oldestFirst: true }),
    page("page of 60 days ago", { after: middleId }),
    page("page of 60 days ago, of one account", { accountId, after: middleId }),
    page("page of 60 days ago, that failed", { outcome: "failed", after: middleId }),
    {
      name: "receipt: by its id",
      ask: async () => ((await reports.receipt(middleId)) === undefined ? 0 : 1),
    },
    ...[
      { name: "all", query: {} },
      { name: "of one account", query: { accountId } },
      { name: "that failed", query: { outcome: "failed" as const } },
      { name: "with an error that nobody had", query: { outcome: "upstream_timeout" } },
    ].flatMap(({ name, query }) => [
      {
        name: `dearest: ${name}`,
        ask: async () =>
          (await reports.ranked({ ...query, by: "charged", limit: 50 })).receipts.length,
      },
      { name: `count: ${name}`, ask: async () => (await reports.count(query)).count },
    ]),
  ];
}

export async function measure(name: string, ask: () => Promise<number>): Promise<Result> {
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
  return resultOf({ name, tookMs, cpuMs: spreadOf(usedMs)?.median ?? 0, size: rows });
}
