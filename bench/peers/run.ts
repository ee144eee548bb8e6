/**
 * The gateway beside its peers: every contender in processes of its own, side by side in one run. It
 * fails when a reply of ours was wrong or a receipt is missing, never because something was slow.
 */
import { join } from "node:path";
import { countReceipts } from "../gateway/gateway.ts";
import { aligned } from "../gateway/report.ts";
import { type Child, machineNow, openBench, startTraffic } from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import type { Contender } from "./contender.ts";
import { toJson, writeDocument } from "./document.ts";
import { goalTable } from "./goals.ts";
import { fromCommandLine, help, type Options } from "./options.ts";
import { type Overload, overload } from "./overload.ts";
import { Rounds } from "./rounds.ts";
import { startAll } from "./start.ts";
import { type Report, tablesOf } from "./tables.ts";
import { workloadsOf } from "./workloads.ts";

const { dir, children, run } = openBench();
await run(async () => {
  const options = fromCommandLine(Bun.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else await bench(options);
});

async function bench(options: Options): Promise<void> {
  const progress = new Progress();
  const { upstreamPort, upstream, generator } = await startTraffic(children);
  const start = { children, dir, upstreamPort };
  const contenders = await startAll(options, { start, generator, progress });
  const workloads = workloadsOf(options);
  const { rounds: count } = options;
  progress.expect(contenders.length * (workloads.length * (count + 1) + 1));
  const rounds = new Rounds({
    generator,
    upstream,
    contenders,
    workloads,
    rounds: count,
    tell: (line) => progress.tell(line),
    step: (label) => progress.step(label),
  });
  const results = await rounds.run();
  const rateOf: Report["rateOf"] = (workload, contender) => rounds.rateOf(workload, contender);
  const report = { contenders, workloads, results, overloads: new Map<string, Overload>(), rateOf };
  progress.tell("twice the saturation rate");
  for (const contender of contenders) {
    const outcome = await overloadOne({ options, report, contender, rounds, generator, upstream });
    if (outcome !== undefined) report.overloads.set(contender.name, outcome);
    progress.step(`${contender.title}: twice the saturation rate`);
  }
  progress.end();
  await checkReceipts(contenders, rounds);
  const command = `npm run bench:peers -- ${shownWords(Bun.argv.slice(2)).join(" ")}`.trim();
  const { isQuick, json, write } = options;
  const outcome = { report, rounds: count, isQuick, command };
  if (write) writeDocument(outcome);
  if (json) process.stdout.write(`${JSON.stringify(toJson(outcome), undefined, 2)}\n`);
  else show(report, options);
}

/** The command line without the paths of this machine. */
function shownWords(words: readonly string[]): readonly string[] {
  return words.map((word) => (word.includes("/") ? "PATH" : word));
}

async function overloadOne(options: {
  readonly options: Options;
  readonly report: Report;
  readonly contender: Contender;
  readonly rounds: Rounds;
  readonly generator: Child;
  readonly upstream: Child;
}): Promise<Overload | undefined> {
  const { report, contender, rounds, generator, upstream } = options;
  const { results, workloads } = report;
  const { name } = contender;
  const workload = workloads.find(({ id }) => id === "chat-1k");
  const gentle = workloads.find(({ id }) => id === "gentle");
  const saturation = results.spread("chat-1k", name, "requestsPerSecond")?.median;
  const normalP50Us = results.spread("gentle", name, "p50Us")?.median;
  if (workload === undefined || gentle === undefined) return undefined;
  if (saturation === undefined || normalP50Us === undefined) return undefined;
  return overload({
    generator,
    upstream,
    contender,
    workload,
    saturation,
    gentleRate: rounds.rateOf(gentle, contender) ?? 1,
    normalP50Us,
    durationS: options.options.isQuick ? 1.5 : 4,
    addReplies: (count) => rounds.replies.set(name, (rounds.replies.get(name) ?? 0) + count),
  });
}

/** Every call of ours was charged; else nothing is true. */
async function checkReceipts(contenders: readonly Contender[], rounds: Rounds): Promise<void> {
  const ours = contenders.find(({ name }) => name === "svc");
  if (ours === undefined) return;
  await ours.proxy?.stop();
  const { ok } = countReceipts(join(dir, "svc"));
  const due = rounds.replies.get("svc") ?? 0;
  if (ok < due) throw new Error(`svc has ${ok} receipts of calls that went well; due were ${due}`);
}

function show(report: Report, options: Options): void {
  const { processors, model, platform, bun } = machineNow();
  process.stdout.write(
    `\n${processors} × ${model}, ${platform}, Bun ${bun}; ${options.rounds} rounds: median (min–max)\n`,
  );
  const [contenders, ...tables] = tablesOf(report);
  // A column of sentences reads better as lines.
  for (const [title, version, does] of contenders?.rows.slice(1) ?? [])
    process.stdout.write(`  ${[title, version].join(" ").trim()}: ${does}\n`);
  for (const { title, rows } of [...tables, goalTable(report)])
    process.stdout.write(`\n${title}\n${aligned(rows)}\n`);
}
