/**
 * What each dialect costs beside chat: one gateway as an operator runs it, called in every dialect in
 * turn, translated and natively, in one run. It fails when a reply was wrong or a receipt is missing,
 * never because something was slow.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  copyStock,
  countReceipts,
  prepareStock,
  startGateway,
  writeSums,
} from "../gateway/gateway.ts";
import { aligned, number, type Spread, spreadOf } from "../gateway/report.ts";
import { measure, type Phase, type Target } from "../gateway/rounds.ts";
import { machineNow, openBench, proxyEnv, startTraffic } from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import { type LoadDialect, publicModel, upstreamModel } from "../load/traffic.ts";

interface Subject {
  readonly name: string;
  readonly dialect: LoadDialect;
  readonly model: string;
  readonly hasTools?: true;
}

/** Chat is what the others are compared with, each conversation with its own. */
const plainSubjects: readonly Subject[] = [
  { name: "chat", dialect: "chat", model: publicModel },
  { name: "responses, translated", dialect: "responses", model: publicModel },
  { name: "responses, native", dialect: "responses", model: "native-responses" },
  { name: "messages, translated", dialect: "messages", model: publicModel },
  { name: "messages, native", dialect: "messages", model: "native-messages" },
  { name: "completions", dialect: "completions", model: publicModel },
];
/** Legacy completions have no tools. */
const toolSubjects = plainSubjects
  .filter(({ dialect }) => dialect !== "completions")
  .map((subject) => ({ ...subject, name: `${subject.name}, tools`, hasTools: true }) as const);
const subjects: readonly Subject[] = [...plainSubjects, ...toolSubjects];
const limit = 1.2;

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    quick: { type: "boolean" },
    json: { type: "boolean" },
    rounds: { type: "string" },
    only: { type: "string" },
    help: { type: "boolean" },
  },
});
const help = `bun bench/dialects/run.ts [--rounds N] [--only DIALECT,…] [--quick] [--json]

Compares the CPU of a request and of a chunk in each dialect with chat's, over 127.0.0.1 only. See
bench/README.md.
`;
const isQuick = values.quick === true;
const rounds = Math.min(50, Math.max(1, Number(values.rounds ?? (isQuick ? 2 : 7))));
const requests = isQuick ? 5_000 : 20_000;
/** Of the first round, which lets the compilers settle and is not counted. */
const warmUpRequests = 20_000;
const [streams, chunks] = isQuick ? [50, 50] : [100, 200];
const only = values.only?.split(",");
const measured = subjects.filter(
  ({ dialect }) => dialect === "chat" || only === undefined || only.includes(dialect),
);

const phases: readonly Pick<Phase, "label" | "kind" | "connections" | "requests" | "chunks">[] = [
  { label: "whole, over 64 connections", kind: "chat", connections: 64, requests, chunks: 0 },
  { label: `${streams} streams`, kind: "stream", connections: streams, requests: streams, chunks },
];

interface Costs {
  readonly request: number[];
  readonly chunk: number[];
}

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await bench();
});

async function bench(): Promise<void> {
  const progress = new Progress();
  const { upstreamPort, generator } = await startTraffic(children);
  const tell = (line: string) => progress.tell(line);
  const stocked = { children, dir, upstreamPort, accounts: 10, keys: 100, env: proxyEnv, tell };
  const stock = await prepareStock(stocked);
  addNatives(stock.configPath, upstreamPort);
  const dataDir = copyStock(stock, "dialects");
  const { configPath, keys } = stock;
  const started = { children, name: "dialects", dataDir, configPath, env: proxyEnv };
  const { child: proxy, port } = await startGateway(started);
  const catchUp = () => writeSums(dataDir);
  const costs = new Map(measured.map(({ name }) => [name, { request: [], chunk: [] } as Costs]));
  progress.expect((rounds + 1) * phases.length * measured.length);
  for (let round = 0; round <= rounds; round++)
    for (const phase of phases)
      for (const { name, dialect, model, hasTools } of round % 2 === 0
        ? measured
        : measured.toReversed()) {
        progress.step(`${name}: ${phase.label}`);
        const target: Target = { name: "gateway", port, model, keys, proxy, catchUp };
        const isWarmUp = round === 0 && phase.kind === "chat";
        const count = isWarmUp ? warmUpRequests : phase.requests;
        const whole = {
          ...phase,
          requests: count,
          dialect,
          hasTools,
          proxiesOnly: true,
          figures: () => ({}),
        };
        const { proxyCpuMs = Number.NaN } = await measure({ generator, target, phase: whole });
        if (round === 0) continue;
        const isWhole = phase.kind === "chat";
        const units = isWhole ? count : streams * chunks;
        costs.get(name)?.[isWhole ? "request" : "chunk"].push((proxyCpuMs * 1000) / units);
      }
  await proxy.stop();
  checkReceipts(dataDir);
  progress.end();
  report(costs);
}

/** Providers that speak a dialect themselves, in front of the same upstream. */
function addNatives(configPath: string, upstreamPort: number): void {
  const address = `base_url: "http://127.0.0.1:${upstreamPort}/v1", api_key: "literal", allow_private: true`;
  const text = readFileSync(configPath, "utf8");
  const providers = `providers:
  openai-native: { kind: openai, vendor: openai, ${address} }
  anthropic-native: { kind: anthropic, ${address} }
`;
  writeFileSync(configPath, text.replace("providers:\n", providers));
  const terms = 'endpoint: chat, max_output_tokens: 8192, price: { input: "0.30", output: "2.50" }';
  appendFileSync(
    configPath,
    `  native-responses: { ${terms}, routes: [{ provider: openai-native, model: ${upstreamModel} }] }
  native-messages: { ${terms}, routes: [{ provider: anthropic-native, model: ${upstreamModel} }] }
`,
  );
}

/** Every call was charged; else nothing is true. */
function checkReceipts(dataDir: string): void {
  const { ok, other } = countReceipts(dataDir);
  const calls = warmUpRequests + rounds * requests + (rounds + 1) * streams;
  const due = measured.length * calls;
  if (ok !== due || other !== 0)
    throw new Error(`${ok} receipts of calls that went well and ${other} others; due were ${due}`);
}

function report(costs: ReadonlyMap<string, Costs>): void {
  const ratios = ({ name, hasTools }: Subject, what: keyof Costs) => {
    const chat = costs.get(hasTools === true ? "chat, tools" : "chat");
    return spreadOf(
      (costs.get(name)?.[what] ?? []).map((cost, at) => cost / (chat?.[what][at] ?? Number.NaN)),
    );
  };
  const figures = measured.map(({ name, ...subject }) => ({
    name,
    limit,
    cpuUsPerRequest: spreadOf(costs.get(name)?.request ?? []),
    requestRatio: ratios({ name, ...subject }, "request"),
    cpuUsPerChunk: spreadOf(costs.get(name)?.chunk ?? []),
    chunkRatio: ratios({ name, ...subject }, "chunk"),
  }));
  const machine = machineNow();
  if (values.json === true) {
    const counts = { rounds, requests, streams, chunks };
    return void process.stdout.write(
      `${JSON.stringify({ machine, counts, figures }, undefined, 2)}\n`,
    );
  }
  const rows = figures.map((one) => [
    one.name,
    cell(one.cpuUsPerRequest, 1),
    one.name.startsWith("chat") ? "" : cell(one.requestRatio, 2),
    cell(one.cpuUsPerChunk, 1),
    one.name.startsWith("chat") ? "" : cell(one.chunkRatio, 2),
  ]);
  const header = ["", "CPU µs per request", "÷ chat", "CPU µs per chunk", "÷ chat"];
  const { processors, model, bun } = machine;
  process.stdout.write(
    `\n${processors} × ${model}, Bun ${bun}; ${rounds} rounds, ` +
      `${requests} requests, ${streams} streams of ${chunks} chunks\n` +
      `median (min–max) over the rounds; the limit of each ratio is ${limit}\n\n` +
      `${aligned([header, ...rows])}\n`,
  );
}

function cell(spread: Spread | undefined, digits: number): string {
  if (spread === undefined) return "–";
  const { median, min, max } = spread;
  return `${number(median, digits)} (${number(min, digits)}–${number(max, digits)})`;
}
