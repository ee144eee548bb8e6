/**
 * What each part of the gateway costs: a chain of gateways, each without one part more than the one
 * before it, beside the bare proxy. A round measures all of them, and the cost of a part is the
 * median of the differences between neighbors within the rounds. It fails when a reply was wrong or
 * a part was not really taken out, never because something was slow.
 */
import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { copyStock, prepareStock, type Stock, startGateway } from "../gateway/gateway.ts";
import { fromCommandLine, type Options } from "../gateway/options.ts";
import { measure, type Phase, phasesOf, type Target } from "../gateway/rounds.ts";
import {
  type Child,
  machineNow,
  openBench,
  projectDir,
  proxyEnv,
  startTraffic,
} from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import { publicModel } from "../load/traffic.ts";
import { checkedCalls, checkReplies, checkStore } from "./check.ts";
import { chainOf, firstParts, type PartName, parts, toPartName } from "./parts.ts";
import { joined, type Measured, rowsOf, type Side, table } from "./report.ts";

const help = `bun bench/ablation/run.ts [options]

Takes one part after the other out of the gateway and measures what each costs, on this machine, over
127.0.0.1 only. See bench/README.md.

  --against DIR       also the gateway of another checkout, which has its packages installed and must
                      not be newer: its figures are "before", those of this checkout "after"
  --parts a,b         only these parts; what lies between them is measured as one
  --rounds N          measured rounds, after one warm-up round (7)
  --starts N          do all of it N times, with new processes (1): two processes of the same code
                      differ by a few percent, which no number of rounds takes out
  --quick             small counts: shows that it works, not how fast
  --json              results as JSON, with the figures of every round
  --requests N, --connections N, --accounts N, --keys N
                      as in \`npm run bench\`
  --help              show this help

Parts, in the order in which they are taken out:
${parts.map(({ name, about }) => `  ${name.padEnd(12)}${about.slice(name.length + 2)}`).join("\n")}
`;

const counts = ["requests", "connections", "accounts", "keys"] as const;
const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    against: { type: "string" },
    parts: { type: "string" },
    rounds: { type: "string" },
    starts: { type: "string" },
    quick: { type: "boolean" },
    json: { type: "boolean" },
    requests: { type: "string" },
    connections: { type: "string" },
    accounts: { type: "string" },
    keys: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});

type BareTarget = Target & { readonly label: string; readonly proxy: Child };
type GatewayTarget = BareTarget & {
  readonly side: Side;
  /** How many parts it lacks. */
  readonly count: number;
  readonly without: readonly PartName[];
  readonly dataDir: string;
};

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await ablate();
});

async function ablate(): Promise<void> {
  const options = readOptions();
  const starts = readStarts();
  const chain = chainOf(readParts());
  const roots = readRoots();
  const progress = new Progress();
  progress.expect(starts * (options.rounds + 1) * (chain.length * roots.length + 1));
  const { upstreamPort, generator } = await startTraffic(children);
  const { accounts, keys } = options;
  const tell = (line: string) => progress.tell(line);
  const env = proxyEnv;
  const root = roots[0]?.root ?? projectDir;
  const stock = await prepareStock({
    children,
    dir,
    upstreamPort,
    accounts,
    keys,
    env,
    tell,
    root,
  });
  const measured: Measured[] = [];
  for (let start = 1; start <= starts; start++) {
    tell(`start ${start} of ${starts}: ${chain.length * roots.length} gateways`);
    const bare = await startBare(stock, upstreamPort);
    const gateways: GatewayTarget[] = [];
    for (const count of chain)
      for (const side of roots) gateways.push(await startStage({ stock, ...side, count }));
    measured.push(await runRounds({ options, generator, bare, gateways, progress }));
    await stopAll([...gateways, bare]);
    const calls = checkedCalls + options.requests * (options.rounds + 1);
    for (const { label, dataDir, without } of gateways) {
      checkStore({ name: label, without, dataDir, calls });
      rmSync(dataDir, { recursive: true });
    }
  }
  progress.end();
  report(joined(measured), { ...options, rounds: starts * options.rounds });
}

async function stopAll(targets: readonly BareTarget[]): Promise<void> {
  await Promise.all(targets.map(({ proxy }) => proxy.stop()));
}

function readStarts(): number {
  const { starts = "1" } = values;
  if (!/^[1-9]\d?$/.test(starts)) throw new Error("--starts is a number from 1 to 99");
  return Number(starts);
}

function readOptions(): Options {
  const rounds = values.rounds ?? (values.quick === true ? "2" : "7");
  const options = fromCommandLine([
    ...(values.quick === true ? ["--quick"] : []),
    "--rounds",
    rounds,
    ...counts.flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]])),
  ]);
  if (options === undefined) throw new Error("the options of the bench ask for help");
  return options;
}

function readParts(): readonly PartName[] {
  return values.parts === undefined
    ? parts.map(({ name }) => name)
    : values.parts.split(",").map((name) => toPartName(name.trim()));
}

/** The older one first: it creates the store. */
function readRoots(): readonly { readonly side: Side; readonly root: string }[] {
  const after = { side: "after", root: projectDir } as const;
  if (values.against === undefined) return [after];
  const root = resolve(values.against);
  if (!existsSync(join(root, "src/main.ts")))
    throw new Error(`--against: there is no src/main.ts in ${root}`);
  return [{ side: "before", root }, after];
}

async function startBare({ keys }: Stock, upstreamPort: number): Promise<BareTarget> {
  const args = ["bench/load/bare-proxy.ts", String(upstreamPort)];
  const proxy = children.start({ name: "bare proxy", args, env: proxyEnv, talks: true });
  const port = await proxy.ready();
  return { label: "bare proxy", name: "bare", port, model: publicModel, keys, proxy };
}

interface StageOptions {
  readonly stock: Stock;
  readonly side: Side;
  readonly root: string;
  /** How many parts it lacks. */
  readonly count: number;
}

function nameOf(side: Side, count: number): string {
  return `${side} without ${count} parts`;
}

async function startStage({ stock, side, root, count }: StageOptions): Promise<GatewayTarget> {
  const { configPath, keys } = stock;
  const label = nameOf(side, count);
  const without = firstParts(count);
  const dataDir = copyStock(stock, `${side}-${count}`);
  const { child, port } = await startGateway({
    children,
    name: label,
    dataDir,
    configPath,
    script: "bench/ablation/server.ts",
    env: { ...proxyEnv, BENCH_ROOT: root, BENCH_WITHOUT: without.join(",") },
  });
  await checkReplies({ name: label, without, port, key: keys[0] ?? "" });
  const target = { name: "gateway", port, model: publicModel, keys, proxy: child } as const;
  return { ...target, label, side, count, without, dataDir };
}

interface Running {
  readonly options: Options;
  readonly generator: Child;
  readonly bare: BareTarget;
  readonly gateways: readonly GatewayTarget[];
  readonly progress: Progress;
}

/** Neighbors in the chain, and both checkouts, follow each other; the order is reversed each round. */
async function runRounds(running: Running): Promise<Measured> {
  const { options, generator, bare, gateways, progress } = running;
  const [phase] = phasesOf(options);
  if (phase === undefined) throw new Error("the bench has no phase");
  const targets = [...gateways, bare];
  const rounds = new Map<BareTarget, number[]>(targets.map((target) => [target, []]));
  for (let round = 0; round <= options.rounds; round++) {
    progress.tell(`round ${round} of ${options.rounds}`);
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      progress.step(`round ${round} of ${options.rounds}: ${target.label}`);
      const cpuUs = await measureOne({ generator, target, phase });
      // The first warms up.
      if (round > 0) rounds.get(target)?.push(cpuUs);
    }
  }
  const chains: Partial<Record<Side, Map<number, readonly number[]>>> = {};
  for (const gateway of gateways) {
    const chain = (chains[gateway.side] ??= new Map());
    chain.set(gateway.count, rounds.get(gateway) ?? []);
  }
  return { bare: rounds.get(bare) ?? [], chains };
}

async function measureOne(options: {
  readonly generator: Child;
  readonly target: BareTarget;
  readonly phase: Phase;
}): Promise<number> {
  const { phase, target } = options;
  const { cpuUsPerRequest } = phase.figures(await measure(options));
  if (cpuUsPerRequest === undefined) throw new Error(`${target.label} was not weighed`);
  return cpuUsPerRequest;
}

function report(measured: Measured, { rounds, connections, requests }: Options): void {
  const machine = machineNow();
  if (values.json === true) {
    const { bare, chains } = measured;
    const byCount = ({ before, after }: Measured["chains"]) => ({
      ...(before === undefined ? {} : { before: Object.fromEntries(before) }),
      ...(after === undefined ? {} : { after: Object.fromEntries(after) }),
    });
    const whole = { machine, bare, chains: byCount(chains), rows: rowsOf(measured) };
    process.stdout.write(`${JSON.stringify(whole, undefined, 2)}\n`);
    return;
  }
  const { processors, model, bun, loadAverage } = machine;
  process.stdout.write(
    `${processors} × ${model}, Bun ${bun}, load average ${loadAverage.toFixed(1)}\n` +
      `CPU µs per request: ${requests} chats over ${connections} connections, ${rounds} rounds, median (min–max).\n` +
      "A part's row is what it adds, within a round. The medians of parts need not add up to the whole.\n\n" +
      `${table(measured)}\n`,
  );
}
