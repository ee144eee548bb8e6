/**
 * A quick look for CI: what the gateway costs compared with the bare proxy, in pairs. It fails when a
 * reply was wrong or when the median ratio is far beyond what it should be; the limits are in
 * `verdict.ts`. If a limit is exceeded, it measures once more before it fails.
 */
import { parseArgs } from "node:util";
import { copyStock, prepareStock, startGateway } from "../gateway/gateway.ts";
import { aligned, cell, type Figures, number } from "../gateway/report.ts";
import { measure, type Phase, phasesOf, type Target } from "../gateway/rounds.ts";
import { type Child, openBench, proxyEnv, startTraffic } from "../load/processes.ts";
import { publicModel } from "../load/traffic.ts";
import { limits, type Pair, type Verdict, verdictsOf } from "./verdict.ts";

const pairCount = 5;
const stockSize = { accounts: 20, keys: 40 };
const counts = {
  connections: 64,
  requests: 6_000,
  streams: 200,
  chunks: 80,
  singles: 1,
  firsts: 1,
  rounds: pairCount,
  ...stockSize,
};

const labels = { cpuUsPerRequest: "CPU µs per request", cpuUsPerChunk: "CPU µs per chunk" };

const help = `bun bench/guard/run.ts

Compares the gateway with the bare proxy in five pairs and fails if it costs far more than it should:
at most ${limits.cpuUsPerRequest} times the CPU per request and ${limits.cpuUsPerChunk} times per chunk. It has no options.
`;

const { dir, children, run } = openBench();
await run(async () => {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: { help: { type: "boolean", short: "h" } },
  });
  if (values.help === true) process.stdout.write(help);
  else await guard();
});

async function guard(): Promise<void> {
  const { upstreamPort, generator } = await startTraffic(children);
  const targets = await startTargets(upstreamPort);
  const phases = phasesOf({ ...counts, only: undefined, json: false, slowSync: false }).filter(
    ({ connections }) => connections > 1,
  );
  // The first pair lets the compilers settle.
  await measurePair({ generator, targets, phases, isReversed: false });
  const pairs: Pair[] = [];
  const measurePairs = async () => {
    for (let at = 0; at < pairCount; at++)
      pairs.push(await measurePair({ generator, targets, phases, isReversed: at % 2 === 1 }));
    return verdictsOf(pairs);
  };
  let verdicts = await measurePairs();
  const isWithin = () => verdicts.every((verdict) => verdict.isWithin);
  if (!isWithin()) verdicts = await measurePairs();
  process.stdout.write(`${shown(verdicts)}\n`);
  if (!isWithin())
    throw new Error("The gateway costs far more than it should, compared with the bare proxy.");
}

type Targets = Readonly<Record<keyof Pair, Target>>;

async function startTargets(upstreamPort: number): Promise<Targets> {
  const env = proxyEnv;
  const tell = () => {};
  const stock = await prepareStock({ children, dir, upstreamPort, ...stockSize, env, tell });
  const { configPath, keys } = stock;
  const dataDir = copyStock(stock, "gateway");
  const name = "gateway";
  const { child, port } = await startGateway({ children, name, dataDir, configPath, env });
  const args = ["bench/load/bare-proxy.ts", String(upstreamPort)];
  const proxy = children.start({ name: "bare proxy", args, env, talks: true });
  const model = publicModel;
  return {
    ours: { name, port, model, keys, proxy: child },
    bare: { name: "bare", port: await proxy.ready(), model, keys, proxy },
  };
}

async function measurePair(options: {
  readonly generator: Child;
  readonly targets: Targets;
  readonly phases: readonly Phase[];
  readonly isReversed: boolean;
}): Promise<Pair> {
  const { generator, targets, phases, isReversed } = options;
  const pair: Record<keyof Pair, Figures> = { ours: {}, bare: {} };
  const sides = ["ours", "bare"] as const;
  for (const phase of phases)
    for (const side of isReversed ? sides.toReversed() : sides) {
      const sample = await measure({ generator, target: targets[side], phase });
      Object.assign(pair[side], phase.figures(sample));
    }
  return pair;
}

function shown(verdicts: readonly Verdict[]): string {
  return aligned([
    ["", "bare Bun proxy", "gateway", "gateway ÷ bare", "limit"],
    ...verdicts.map(({ metric, ours, bare, ratio, limit }) => [
      labels[metric],
      cell(bare, 1),
      cell(ours, 1),
      cell(ratio, 2),
      number(limit, 1),
    ]),
  ]);
}
