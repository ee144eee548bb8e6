/**
 * How long the overview takes to open over millions of receipts, and what calls cost while someone
 * watches it: makes a ledger in a temporary folder, asks it, then runs the real server on it. It
 * fails when a reply is wrong, never because something was slow. See bench/README.md.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildConsole } from "../../test/console/setup/tab.ts";
import { startPostgres } from "../../test/setup/postgres.ts";
import { machineNow, openBench, startTraffic } from "../load/processes.ts";
import { OverviewBar } from "./bar.ts";
import { measureBrowser } from "./browser.ts";
import { type Made, makeLedger } from "./data.ts";
import { measureOnPostgres } from "./postgres.ts";
import { makeOnPostgres, serverSettings } from "./postgres-data.ts";
import { measureReplies } from "./replies.ts";
import { measureReports } from "./reports.ts";
import { ledgerFolder, startServed } from "./server.ts";
import { type Result, resultTable } from "./table.ts";
import { type WatchedCost, watchedTable } from "./watch.ts";
import { measureWatched } from "./watched-load.ts";

const partNames = ["reports", "replies", "browser", "watched"] as const;
type PartName = (typeof partNames)[number];

const databases = ["sqlite", "postgres"] as const;

const counts = {
  receipts: { usual: 5_000_000, most: 50_000_000, about: "receipts in the ledger" },
  rounds: { usual: 5, most: 50, about: "rounds with and without a watcher" },
  requests: { usual: 80_000, most: 1_000_000, about: "chats per round" },
  watchers: { usual: 1, most: 100, about: "number of watchers" },
} as const;
type CountName = keyof typeof counts;
const countNames = Object.keys(counts) as CountName[];

const help = `bun bench/overview/run.ts [options]

${[
  ...countNames.map((name) => [`--${name} N`, `${counts[name].about} (${counts[name].usual})`]),
  [
    "--database D",
    `${databases.join(" or ")} (${databases[0]}); PostgreSQL is asked reports alone`,
  ],
  ["--only PART", `one of ${partNames.join(", ")}; can be repeated`],
  ["--json", "results as JSON"],
  ["--help", "show this help"],
]
  .map(([option = "", about = ""]) => `  ${option.padEnd(15)}${about}`)
  .join("\n")}
`;

type Options = Readonly<Record<CountName, number>> & {
  readonly parts: ReadonlySet<PartName>;
  readonly database: (typeof databases)[number];
  readonly json: boolean;
};

type Outcome = {
  readonly data: Readonly<Record<string, number>>;
  readonly reports?: readonly Result[];
  readonly replies?: readonly Result[];
  readonly browser?: readonly Result[];
  readonly watched?: Readonly<Record<string, WatchedCost>>;
};

const { dir, children, run } = openBench();
await run(async () => {
  const options = fromCommandLine();
  if (options === undefined) process.stdout.write(help);
  else await bench(options);
});

function fromCommandLine(): Options | undefined {
  const { values } = parseArgs({
    options: {
      receipts: { type: "string" },
      rounds: { type: "string" },
      requests: { type: "string" },
      watchers: { type: "string" },
      database: { type: "string" },
      only: { type: "string", multiple: true },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return undefined;
  const count = (name: CountName) => {
    const { usual, most } = counts[name];
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw new Error(`--${name} is a number from 1 to ${most}`);
    return value;
  };
  const database = databases.find((known) => known === (values.database ?? databases[0]));
  if (database === undefined) throw new Error(`--database is one of ${databases.join(", ")}`);
  const all = database === "postgres" ? (["reports"] as const) : partNames;
  const only = (values.only ?? all).map((name) => {
    const known = all.find((part) => part === name);
    if (known === undefined) throw new Error(`--only is one of ${all.join(", ")}`);
    return known;
  });
  return {
    receipts: count("receipts"),
    rounds: count("rounds"),
    requests: count("requests"),
    watchers: count("watchers"),
    parts: new Set(only),
    database,
    json: values.json === true,
  };
}

async function bench(options: Options): Promise<void> {
  const bar = new OverviewBar();
  const outcome = await (options.database === "postgres" ? onPostgres : onSqlite)(options, bar);
  bar.end();
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ machine: machineNow(), ...outcome }, undefined, 2)}\n`
      : toText(outcome),
  );
}

async function onPostgres({ receipts }: Options, bar: OverviewBar): Promise<Outcome> {
  const { url, stop } = await startPostgres({ settings: serverSettings });
  try {
    const { made, sizeMb } = await makeOnPostgres({ url, receipts, tell: bar.part("the ledger") });
    const reports = await measureOnPostgres({ url, made, tell: bar.part("reports") });
    return { data: { receipts, sizeMb, ...timesOf(made) }, reports };
  } finally {
    await stop();
  }
}

function timesOf(made: Made) {
  const { rollups, ownersS, insertS, recountS, vacuumS, foldS, foldPieceMs } = made;
  return {
    rollups,
    ...(ownersS !== undefined && { ownersS }),
    insertS,
    recountS,
    ...(vacuumS !== undefined && { vacuumS }),
    foldS,
    foldPieceMs,
  };
}

async function onSqlite(options: Options, bar: OverviewBar): Promise<Outcome> {
  const { receipts, parts } = options;
  mkdirSync(join(dir, ledgerFolder));
  const path = join(dir, ledgerFolder, "svc.db");
  const made = await makeLedger({ path, receipts, tell: bar.part("the ledger") });
  const sizeMb = statSync(path).size / 1e6;
  const data = { receipts, sizeMb, ...timesOf(made) };
  const reports = parts.has("reports")
    ? { reports: await measureReports({ path, made, tell: bar.part("reports") }) }
    : {};
  return { data, ...reports, ...(await measureServed({ ...options, made, bar })) };
}

/** What needs the server. */
async function measureServed(
  options: Options & { readonly made: Made; readonly bar: OverviewBar },
): Promise<Omit<Outcome, "data" | "reports">> {
  const { parts, rounds, requests, watchers, made, bar } = options;
  if (!["replies", "browser", "watched"].some((name) => parts.has(name as PartName))) return {};
  if (parts.has("browser")) await buildConsole();
  const { upstreamPort, generator } = await startTraffic(children);
  const tellServer = bar.part("the server");
  const tell = (line: string) => tellServer(line, 0);
  const served = await startServed({ children, dir, upstreamPort, made, tell });
  const replies = parts.has("replies")
    ? { replies: await measureReplies({ served, tell: bar.part("replies") }) }
    : {};
  const browser = parts.has("browser")
    ? { browser: await measureBrowser({ served, tell: bar.part("browser") }) }
    : {};
  if (!parts.has("watched")) return { ...replies, ...browser };
  const loaded = { served, generator, rounds, requests, watchers };
  const watched = await measureWatched({ ...loaded, tell: bar.part("watched") });
  return { ...replies, ...browser, watched };
}

function toText({ data, reports, replies, browser, watched }: Outcome): string {
  const { processors, model, platform, bun, loadAverage } = machineNow();
  const told = Object.entries(data).map(
    ([name, value]) => `${name} ${Math.round(value * 10) / 10}`,
  );
  const tables = [
    { title: "questions to the ledger", results: reports, sizeName: "rows" },
    { title: "replies to the page", results: replies, sizeName: "bytes" },
    { title: "the chart is drawn", results: browser, sizeName: "" },
  ];
  return [
    `${processors} × ${model}, ${platform}, Bun ${bun}; load average ${loadAverage.toFixed(1)}`,
    told.join(", "),
    ...tables.flatMap(({ results, ...words }) =>
      results === undefined ? [] : ["", resultTable({ results, ...words })],
    ),
    ...(watched === undefined ? [] : ["", watchedTable(watched)]),
    "",
  ].join("\n");
}
