/**
 * What each provider costs: the bare Bun proxy and, for each kind of provider, the least server around
 * it, side by side in one run. It fails when a reply was wrong, never because something was slow.
 */
import { parseArgs } from "node:util";
import { aligned, number, type Spread, spreadOf } from "../gateway/report.ts";
import { measure, type Phase, type Target } from "../gateway/rounds.ts";
import { machineNow, openBench, proxyEnv, startTraffic } from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import { publicModel } from "../load/traffic.ts";

const names = ["bare", "openai", "gemini", "anthropic"] as const;
type Name = (typeof names)[number];
const aims: Readonly<Record<Name, string>> = {
  bare: "",
  openai: "at most 1.25",
  gemini: "at most 2",
  anthropic: "at most 4",
};
const titles: Readonly<Record<Name, string>> = {
  bare: "bare Bun proxy",
  openai: "openai",
  gemini: "gemini",
  anthropic: "anthropic, over the AI SDK bridge",
};

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    quick: { type: "boolean" },
    json: { type: "boolean" },
    rounds: { type: "string" },
    help: { type: "boolean" },
  },
});
const help = `bun bench/providers/run.ts [--rounds N] [--quick] [--json]

Compares each kind of provider with a bare Bun proxy, over 127.0.0.1 only. See bench/README.md.
`;
const isQuick = values.quick === true;
const rounds = Math.min(50, Math.max(1, Number(values.rounds ?? (isQuick ? 2 : 5))));
const requests = isQuick ? 4_000 : 30_000;
const [streams, chunks] = isQuick ? [50, 50] : [100, 200];

const phases: readonly Pick<Phase, "label" | "kind" | "connections" | "requests" | "chunks">[] = [
  { label: "chat over 64 connections", kind: "chat", connections: 64, requests, chunks: 0 },
  { label: `${streams} streams`, kind: "stream", connections: streams, requests: streams, chunks },
];

const { children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await bench();
});

async function bench(): Promise<void> {
  const progress = new Progress();
  const { upstreamPort, generator } = await startTraffic(children);
  const port = String(upstreamPort);
  const targets = new Map<Name, Target>();
  for (const name of names) {
    const args =
      name === "bare"
        ? ["bench/load/bare-proxy.ts", port]
        : ["bench/providers/proxy.ts", name, port];
    const proxy = children.start({ name, args, env: proxyEnv, talks: true });
    const target = { port: await proxy.ready(), model: publicModel, keys: ["x".repeat(48)], proxy };
    targets.set(name, { name: "bare", ...target });
  }
  progress.expect((rounds + 1) * phases.length * names.length);
  const costs: Record<Name, { request: number[]; chunk: number[] }> = {
    bare: { request: [], chunk: [] },
    openai: { request: [], chunk: [] },
    gemini: { request: [], chunk: [] },
    anthropic: { request: [], chunk: [] },
  };
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const phase of phases)
      for (const name of order) {
        progress.step(`${titles[name]}: ${phase.label}`);
        const target = targets.get(name);
        if (target === undefined) throw new Error(`${name} does not run`);
        const whole = { ...phase, proxiesOnly: true, figures: () => ({}) };
        const { proxyCpuMs = Number.NaN } = await measure({ generator, target, phase: whole });
        // The first round lets the compilers settle.
        if (round === 0) continue;
        const isChat = phase.kind === "chat";
        const count = isChat ? phase.requests : streams * chunks;
        costs[name][isChat ? "request" : "chunk"].push((proxyCpuMs * 1000) / count);
      }
  }
  progress.end();
  report(costs);
}

function report(costs: Readonly<Record<Name, { request: number[]; chunk: number[] }>>): void {
  const ratios = (name: Name, what: "request" | "chunk") =>
    spreadOf(costs[name][what].map((cost, at) => cost / (costs.bare[what][at] ?? Number.NaN)));
  const figures = names.map((name) => ({
    name,
    aim: aims[name],
    cpuUsPerRequest: spreadOf(costs[name].request),
    requestRatio: ratios(name, "request"),
    cpuUsPerChunk: spreadOf(costs[name].chunk),
    chunkRatio: ratios(name, "chunk"),
  }));
  if (values.json === true)
    return void process.stdout.write(`${JSON.stringify({ rounds, figures }, undefined, 2)}\n`);
  const rows = figures.map((one) => [
    titles[one.name],
    cell(one.cpuUsPerRequest, 1),
    one.name === "bare" ? "" : cell(one.requestRatio, 2),
    cell(one.cpuUsPerChunk, 1),
    one.name === "bare" ? "" : cell(one.chunkRatio, 2),
    one.aim,
  ]);
  const header = ["", "CPU µs a request", "÷ bare", "CPU µs a chunk", "÷ bare", "aim of ÷"];
  const { processors, model, bun } = machineNow();
  process.stdout.write(
    `\n${processors} × ${model}, Bun ${bun}; ${rounds} rounds, ` +
      `${requests} chats, ${streams} streams of ${chunks} chunks\nmedian (min–max) over the rounds\n\n` +
      `${aligned([header, ...rows])}\n`,
  );
}

function cell(spread: Spread | undefined, digits: number): string {
  if (spread === undefined) return "–";
  const { median, min, max } = spread;
  return `${number(median, digits)} (${number(min, digits)}–${number(max, digits)})`;
}
