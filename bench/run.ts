/**
 * The bench: upstream, load generator, a bare Bun proxy, nginx where it is installed, our gateway and
 * the same without money and limits, each in a process of its own, side by side in one run. It fails
 * when a reply was wrong or a receipt is missing, never because something was slow.
 */
import { join } from "node:path";
import { commitTable, type Watched, watchCommits } from "./gateway/commits.ts";
import {
  copyStock,
  countReceipts,
  hasGateway,
  prepareStock,
  type Stock,
  startGateway,
  writeSums,
} from "./gateway/gateway.ts";
import { fromCommandLine, help, type Options } from "./gateway/options.ts";
import { doubts, number, type Round, summarise, type TargetName, table } from "./gateway/report.ts";
import { type Phase, phasesOf, runRound, type Target, weighAll } from "./gateway/rounds.ts";
import { findNginx, startNginx } from "./load/nginx.ts";
import { type Child, machineNow, openBench, proxyEnv, startTraffic } from "./load/processes.ts";
import { Progress } from "./load/progress.ts";
import { publicModel, upstreamModel } from "./load/traffic.ts";

const slowSyncMs = 3;

const { dir, children, run } = openBench();
await run(async () => {
  const options = fromCommandLine(Bun.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else await bench(options);
});

async function bench(options: Options): Promise<void> {
  if (options.only !== "bare" && !hasGateway()) {
    throw new Error("there is no src/main.ts to measure; --only bare runs without it");
  }
  const progress = new Progress();
  const { upstreamPort, generator } = await startTraffic(children);
  const start = { options, upstreamPort, progress };
  const stock = options.only === "bare" ? undefined : await makeStock(start);
  const targets = await startTargets(start, stock);
  const phases = phasesOf(options);
  const stepsARound = targets.flatMap(({ proxy }) => phasesFor(phases, proxy)).length;
  progress.expect(stepsARound * (options.rounds + 1));
  const measured = await runRounds({ options, generator, targets, phases, progress });
  const watched: Watched[] = [];
  if (stock !== undefined) {
    await checkReceipts({ options, targets, phases, stock });
    for (const syncDelayMs of options.slowSync ? [0, slowSyncMs] : [0])
      watched.push(await watch({ options, generator, phases, progress, stock, syncDelayMs }));
  }
  progress.end();
  report({ options, measured, watched });
}

type Start = {
  readonly options: Options;
  readonly upstreamPort: number;
  readonly progress: Progress;
};

function makeStock({ options, upstreamPort, progress }: Start): Promise<Stock> {
  const { accounts, keys } = options;
  const tell = (line: string) => progress.tell(line);
  return prepareStock({ children, dir, upstreamPort, accounts, keys, env: proxyEnv, tell });
}

async function startTargets(
  { options, upstreamPort }: Start,
  stock: Stock | undefined,
): Promise<Target[]> {
  // As long as ours are, so that all targets read as many bytes.
  const keys = Array.from({ length: options.keys }, (_, index) => `bench-${index}`.padEnd(48, "x"));
  const targets: Target[] = [
    { name: "direct", port: upstreamPort, model: upstreamModel, keys, proxy: undefined },
  ];
  if (options.only !== "gateway") {
    const args = ["bench/load/bare-proxy.ts", String(upstreamPort)];
    const proxy = children.start({ name: "bare proxy", args, env: proxyEnv, talks: true });
    targets.push({ name: "bare", port: await proxy.ready(), model: publicModel, keys, proxy });
    const command = findNginx();
    if (command !== undefined) {
      // It does not change the model.
      const { child, port } = await startNginx({ command, children, dir, upstreamPort });
      targets.push({ name: "nginx", port, model: upstreamModel, keys, proxy: child });
    }
  }
  if (stock === undefined) return targets;
  const { configPath } = stock;
  for (const name of ["free", "gateway"] as const) {
    const dataDir = copyStock(stock, name);
    const { child, port } = await startGateway({
      children,
      name,
      dataDir,
      configPath,
      env: proxyEnv,
      ...(name === "free" ? { script: "bench/gateway/free-server.ts" } : {}),
    });
    const { keys } = stock;
    const catchUp = () => writeSums(dataDir);
    targets.push({ name, port, model: publicModel, keys, proxy: child, catchUp });
  }
  return targets;
}

function phasesFor(phases: readonly Phase[], proxy: Child | undefined): readonly Phase[] {
  return phases.filter(({ proxiesOnly }) => !proxiesOnly || proxy !== undefined);
}

type Running = {
  readonly options: Options;
  readonly generator: Child;
  readonly phases: readonly Phase[];
  readonly progress: Progress;
};

type Measured = {
  readonly rounds: readonly Round[];
  /** What money and limits add in CPU over all rounds, with what was put off between them. */
  readonly addedUsACall: number;
};

function callsARound(phases: readonly Phase[]): number {
  return phases.reduce((sum, { requests }) => sum + requests, 0);
}

async function runRounds({
  options,
  generator,
  targets,
  phases,
  progress,
}: Running & { readonly targets: readonly Target[] }): Promise<Measured> {
  const rounds: Round[] = [];
  let before: ReadonlyMap<string, number> = new Map();
  for (let index = 0; index <= options.rounds; index++) {
    progress.tell(index === 0 ? "warming up" : `round ${index} of ${options.rounds}`);
    const round = await runRound({
      generator,
      phases,
      // Who comes first may find the machine cooler or busier; so each is first in every other round.
      targets: index % 2 === 0 ? targets : targets.toReversed(),
      step: (label) => progress.step(label),
    });
    // The first round is for the just-in-time compilers: they take thousands of requests to settle.
    if (index > 0) rounds.push(round);
    else before = await weighAll(targets);
  }
  const after = await weighAll(targets);
  const cpuMs = (name: TargetName) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const calls = options.rounds * callsARound(phases);
  return { rounds, addedUsACall: ((cpuMs("gateway") - cpuMs("free")) * 1000) / calls };
}

/** Every call of the gateway was charged, and none of the one without money; else nothing is true. */
async function checkReceipts(options: {
  readonly options: Options;
  readonly targets: readonly Target[];
  readonly phases: readonly Phase[];
  readonly stock: Stock;
}): Promise<void> {
  const { targets, phases, stock } = options;
  const due = { free: 0, gateway: callsARound(phases) * (options.options.rounds + 1) };
  for (const name of ["free", "gateway"] as const) {
    await targets.find((target) => target.name === name)?.proxy?.stop();
    const { ok, other } = countReceipts(join(stock.dataDir, "..", name));
    if (ok !== due[name] || other !== 0)
      throw new Error(
        `${name} has ${ok} receipts of calls that went well and ${other} others; due were ${due[name]}`,
      );
  }
}

/** With the store as the rounds have left it: a gateway that has been in use. */
async function watch({
  options,
  generator,
  phases,
  progress,
  stock,
  syncDelayMs,
}: Running & { readonly stock: Stock; readonly syncDelayMs: number }): Promise<Watched> {
  const [many, single] = phases.filter(({ kind }) => kind === "chat");
  if (many === undefined || single === undefined) throw new Error("there are no chats to watch");
  const name = syncDelayMs === 0 ? "watched" : "slow sync";
  progress.tell(syncDelayMs === 0 ? "watching commits" : "watching commits on a slower disk");
  const { configPath, keys } = stock;
  const dataDir = join(stock.dataDir, "..", "gateway");
  const { child, port } = await startGateway({
    children,
    name,
    dataDir,
    configPath,
    env: { ...proxyEnv, BENCH_SYNC_DELAY_MS: String(syncDelayMs) },
    script: "bench/gateway/watched-server.ts",
    talks: true,
  });
  const watched = await watchCommits({
    syncDelayMs,
    generator,
    target: {
      name: "gateway",
      port,
      model: publicModel,
      keys,
      proxy: child,
      catchUp: () => writeSums(dataDir),
    },
    many,
    single,
    rounds: options.rounds,
    step: (label) => progress.step(label),
  });
  await child.stop();
  return watched;
}

type Outcome = {
  readonly options: Options;
  readonly measured: Measured;
  readonly watched: readonly Watched[];
};

function report({ options, measured, watched }: Outcome): void {
  const summary = summarise(measured.rounds);
  const hasGateways = summary.targets.gateway !== undefined;
  const overall = hasGateways ? { addedUsACall: measured.addedUsACall } : {};
  const machine = machineNow();
  const warnings = doubts(summary);
  if (options.json) {
    const { only: _, json: __, slowSync: ___, ...counts } = options;
    const all = { machine, counts, ...summary, ...overall, watched, warnings };
    process.stdout.write(`${JSON.stringify(all, undefined, 2)}\n`);
    return;
  }
  process.stdout.write(
    `\n${machine.processors} × ${machine.model}, ${machine.platform}, Bun ${machine.bun}\n` +
      `${options.rounds} rounds; ${options.requests} chats over ${options.connections} connections, ` +
      `${options.keys} keys of ${options.accounts} accounts; ` +
      `${options.streams} streams of ${options.chunks} chunks, each every 10 ms\n` +
      `median (min–max) over the rounds; CPU of the proxy's processes only\n\n` +
      `${table(summary)}\n` +
      (hasGateways
        ? `\nall rounds together, deferred work included: added by money and limits ${number(measured.addedUsACall, 1)} µs of CPU per call\n`
        : "") +
      (watched.length === 0 ? "" : `\n${commitTable(watched)}\n`) +
      `${warnings.map((warning) => `\n${warning}`).join("")}\n`,
  );
}
