/**
 * What the record of refused calls costs: the gateway with it and without it, side by side in one
 * run, under a flood of calls that are all refused. It fails when a reply was wrong or a call is
 * missing from the record, never because something was slow.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  copyStock,
  type Gateway,
  prepareStock,
  type Stock,
  startGateway,
} from "../gateway/gateway.ts";
import { aligned, cell, spreadOf } from "../gateway/report.ts";
import { machineNow, openBench, proxyEnv, startTraffic } from "../load/processes.ts";
import { publicModel } from "../load/traffic.ts";

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    quick: { type: "boolean" },
    rounds: { type: "string" },
    help: { type: "boolean" },
  },
});
const help = `bun bench/rejections/run.ts [--rounds N] [--quick]

Compares the gateway with and without the record of rejected calls. See bench/README.md.
`;
const isQuick = values.quick === true;
const rounds = Math.min(50, Math.max(1, Number(values.rounds ?? (isQuick ? 2 : 5))));
const calls = isQuick ? 4_000 : 40_000;
const connections = 64;
/** More than one flood: every key has rows of its own. */
const stockOf = { accounts: 20, keys: isQuick ? 20 : 200 };
/** The record is written every two seconds. */
const settleMs = 2_500;

interface Target {
  readonly name: "with" | "without";
  readonly dataDir: string;
  readonly gateway: Gateway;
}

interface Sample {
  readonly perSecond: number;
  readonly cpuUs: number;
}

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await bench();
});

async function bench(): Promise<void> {
  const { upstreamPort } = await startTraffic(children);
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const stock = await prepareStock({
    children,
    dir,
    upstreamPort,
    ...stockOf,
    env: proxyEnv,
    tell,
  });
  const targets = [await start(stock, "with"), await start(stock, "without")];
  const samples = { with: [] as Sample[], without: [] as Sample[] };
  for (let round = 0; round <= rounds; round++)
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      tell(`round ${round} of ${rounds}: ${target.name} the record`);
      const sample = await measure(target, stock.keys);
      // The first warms up.
      if (round > 0) samples[target.name].push(sample);
    }
  for (const { gateway } of targets) await gateway.child.stop();
  checkRecord(targets);
  report(samples);
}

async function start(stock: Stock, name: Target["name"]): Promise<Target> {
  const dataDir = copyStock(stock, name);
  const { configPath } = stock;
  const gateway = await startGateway({
    children,
    name: `gateway ${name}`,
    dataDir,
    configPath,
    env: proxyEnv,
    ...(name === "without" ? { script: "bench/rejections/silent-server.ts" } : {}),
  });
  return { name, dataDir, gateway };
}

async function measure({ gateway }: Target, keys: readonly string[]): Promise<Sample> {
  const url = `http://127.0.0.1:${gateway.port}/v1/chat/completions`;
  const body = JSON.stringify({
    model: publicModel,
    messages: [{ role: "user", content: "Hello" }],
    temperature: 9,
  });
  let sent = 0;
  const send = async () => {
    while (sent < calls) {
      const key = keys[sent++ % keys.length] ?? "";
      const reply = await fetch(url, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      });
      if (reply.status !== 400) throw new Error(`expected 400, got ${reply.status}`);
      await reply.arrayBuffer();
    }
  };
  const before = gateway.child.weigh().cpuMs;
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: connections }, send));
  const tookMs = performance.now() - startedMs;
  // What is put off until after the last reply is part of the cost.
  await Bun.sleep(settleMs);
  const cpuMs = gateway.child.weigh().cpuMs - before;
  return { perSecond: (calls * 1_000) / tookMs, cpuUs: (cpuMs * 1_000) / calls };
}

function checkRecord(targets: readonly Target[]): void {
  for (const { name, dataDir } of targets) {
    const database = new Database(join(dataDir, "svc.db"));
    const found = database
      .query<{ count: number | null }, []>("select sum(count) as count from rejection_hours")
      .get();
    database.close();
    const expected = name === "with" ? calls * (rounds + 1) : null;
    if (found?.count !== expected)
      throw new Error(`${name} the record: ${found?.count} calls recorded, not ${expected}`);
  }
}

function report({ with: on, without: off }: Record<Target["name"], readonly Sample[]>): void {
  const row = (label: string, read: (sample: Sample) => number, digits: number) => {
    const shown = (values: readonly number[]) => cell(spreadOf(values), digits);
    const added = on.map((sample, at) => read(sample) - read(off[at] ?? sample));
    return [label, shown(off.map(read)), shown(on.map(read)), shown(added)];
  };
  const lines = aligned([
    ["", "without the record", "with", "difference"],
    row("refused calls/s", ({ perSecond }) => perSecond, 0),
    row("CPU µs per refused call", ({ cpuUs }) => cpuUs, 1),
  ]);
  const { model, processors, bun, loadAverage } = machineNow();
  process.stdout.write(
    `${processors} × ${model}, Bun ${bun}, load average ${loadAverage.toFixed(1)}\n\n${lines}\n`,
  );
}
