/**
 * What the number of keys costs: a gateway with a thousand and one with a million, side by side in
 * one run. Measures the start until /readyz, RSS, and CPU per request in alternating rounds, with
 * keys from all over the store. It fails when a reply was wrong, never because something was slow.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { prepareBulkStock } from "../gateway/bulk-stock.ts";
import { startGateway, whenReady } from "../gateway/gateway.ts";
import { aligned, cell, spreadOf } from "../gateway/report.ts";
import { measure, type Phase, type Target } from "../gateway/rounds.ts";
import { machineNow, openBench, proxyEnv, startTraffic } from "../load/processes.ts";
import { publicModel } from "../load/traffic.ts";

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    rounds: { type: "string" },
    keys: { type: "string" },
    used: { type: "string" },
    quick: { type: "boolean" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
const help = `bun bench/keys/run.ts [--rounds N] [--keys N] [--used N] [--quick] [--json]

Compares a gateway with a thousand keys and one with a million, of which N (1,000) are used. See bench/README.md.
`;
const isQuick = values.quick === true;
const rounds = numberFrom(values.rounds, { usual: isQuick ? 2 : 7, most: 50 });
const many = numberFrom(values.keys, { usual: isQuick ? 50_000 : 1_000_000, most: 2_000_000 });
const few = 1_000;
/** As many on both sides: sums by hour and limits cost something per key that is used. */
const usedKeys = numberFrom(values.used, { usual: few, most: 100_000 });
const requests = isQuick ? 8_000 : 40_000;
const accounts = 1_000;
const env = { ...proxyEnv, SVC_ENGINE: "off" };
/** What a start leaves behind is given back within this time. */
const idleMs = 5_000;

type Side = Target & {
  readonly keyCount: number;
  readonly startMs: number;
  readonly idleMb: number;
};
type Sample = { readonly cpuUs: number; readonly perSecond: number; readonly rssMb: number };

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await bench();
});

async function bench(): Promise<void> {
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const { upstreamPort, generator } = await startTraffic(children);
  const sides = [
    await start({ keyCount: few, upstreamPort, tell }),
    await start({ keyCount: many, upstreamPort, tell }),
  ];
  const phase: Phase = {
    label: "chat over 64 connections",
    proxiesOnly: true,
    kind: "chat",
    connections: 64,
    requests,
    chunks: 0,
    figures: () => ({}),
  };
  const samples = new Map<number, Sample[]>(sides.map(({ keyCount }) => [keyCount, []]));
  for (let round = 0; round <= rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      tell(`round ${round} of ${rounds}: ${side.keyCount} keys`);
      const { result, proxyCpuMs = 0 } = await measure({ generator, target: side, phase });
      // The first warms up.
      if (round === 0) continue;
      samples.get(side.keyCount)?.push({
        cpuUs: (proxyCpuMs * 1000) / requests,
        perSecond: (requests * 1000) / result.durationMs,
        rssMb: rssMbOf(side),
      });
    }
  report(sides, samples);
}

async function start(options: {
  readonly keyCount: number;
  readonly upstreamPort: number;
  readonly tell: (line: string) => void;
}): Promise<Side> {
  const { keyCount, upstreamPort, tell } = options;
  const name = `${keyCount} keys`;
  const own = join(dir, String(keyCount));
  mkdirSync(own);
  const used = Math.min(keyCount, usedKeys);
  const counts = { accounts, keys: keyCount, used };
  const { dataDir, configPath, keys } = await prepareBulkStock({
    ...counts,
    children,
    dir: own,
    upstreamPort,
    env,
    tell,
  });
  tell(`starting a gateway with ${name}`);
  const startedMs = performance.now();
  const { child, port } = await startGateway({ children, name, dataDir, configPath, env });
  await whenReady(port);
  const startMs = performance.now() - startedMs;
  await Bun.sleep(idleMs);
  const target = { name: "gateway", port, model: publicModel, keys, proxy: child } as const;
  return { ...target, keyCount, startMs, idleMb: rssMbOf(target) };
}

function report(sides: readonly Side[], samples: ReadonlyMap<number, readonly Sample[]>): void {
  const [small = [], large = []] = sides.map(({ keyCount }) => samples.get(keyCount) ?? []);
  if (values.json === true) {
    const starts = sides.map(({ keyCount, startMs, idleMb }) => ({ keyCount, startMs, idleMb }));
    process.stdout.write(`${JSON.stringify({ starts, small, large }, undefined, 2)}\n`);
    return;
  }
  const row = (label: string, read: (sample: Sample) => number, digits: number) => [
    label,
    cell(spreadOf(small.map(read)), digits),
    cell(spreadOf(large.map(read)), digits),
    cell(spreadOf(large.map((sample, at) => read(sample) / read(small[at] ?? sample))), 3),
  ];
  const lines = aligned([
    ["", ...sides.map(({ keyCount }) => `${keyCount.toLocaleString("en")} keys`), "ratio"],
    ["start until /readyz, s", ...sides.map(({ startMs }) => (startMs / 1000).toFixed(2)), ""],
    ["RSS idle, MB", ...sides.map(({ idleMb }) => idleMb.toFixed(0)), ""],
    row("RSS after the round, MB", ({ rssMb }) => rssMb, 0),
    row("CPU µs per request", ({ cpuUs }) => cpuUs, 1),
    row("requests/s", ({ perSecond }) => perSecond, 0),
  ]);
  const { processors, model, bun, loadAverage } = machineNow();
  process.stdout.write(
    `${processors} × ${model}, Bun ${bun}, load average ${loadAverage.toFixed(1)}, ${rounds} rounds: median (min–max)\n\n${lines}\n`,
  );
}

function rssMbOf({ proxy }: Pick<Target, "proxy">): number {
  return (proxy?.weigh().rssBytes ?? 0) / 1e6;
}

function numberFrom(
  text: string | undefined,
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  if (text === undefined) return usual;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new Error(`"${text}" is not a number from 1 to ${most}`);
}
