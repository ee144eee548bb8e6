/**
 * Two checkouts of the gateway side by side in one run: this one and another. Each pair of
 * measurements is taken seconds apart, in alternating order, and what is reported is the median of
 * the differences within the pairs. It fails when a reply was wrong, never because something was slow.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { copyStock, prepareStock, type Stock, startGateway } from "../gateway/gateway.ts";
import { fromCommandLine, type Options } from "../gateway/options.ts";
import { aligned, cell, type Figures, type MetricName, spreadOf } from "../gateway/report.ts";
import { measure, phasesOf, type Target } from "../gateway/rounds.ts";
import { machineNow, openBench, projectDir, proxyEnv, startTraffic } from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import { publicModel } from "../load/traffic.ts";

const help = `bun bench/compare/run.ts --against DIRECTORY [--rounds N] [--quick] [--streams-only | --chat-only]

Compares this gateway with the one of another checkout, which has its packages installed. The
store is made by the other one, which must not be newer. See bench/README.md.
`;

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    against: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean" },
    "streams-only": { type: "boolean" },
    "chat-only": { type: "boolean" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});

type Side = "before" | "now";
type Measured = Record<Side, Figures[]>;

const shown = [
  ["cpuUsPerRequest", "CPU µs per request", 1],
  ["requestsPerSecond", "requests/s", 0],
  ["p50Us", "latency p50, µs", 0],
  ["p99Us", "latency p99, µs", 0],
  ["cpuUsPerChunk", "CPU µs per streamed chunk", 1],
  ["rssMb", "RSS after the round, MB", 0],
] as const satisfies readonly (readonly [MetricName, string, number])[];

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true || values.against === undefined) process.stdout.write(help);
  else await compare(resolve(values.against));
});

async function compare(against: string): Promise<void> {
  if (!existsSync(join(against, "src/main.ts")))
    throw new Error(`--against: there is no src/main.ts in ${against}`);
  const options = fromCommandLine([
    ...(values.quick === true ? ["--quick"] : []),
    "--rounds",
    values.rounds ?? (values.quick === true ? "2" : "9"),
  ]);
  if (options === undefined) return;
  const progress = new Progress();
  const { upstreamPort, generator } = await startTraffic(children);
  const { accounts, keys } = options;
  const tell = (line: string) => progress.tell(line);
  const env = proxyEnv;
  const made = { children, dir, upstreamPort, accounts, keys, env, tell, root: against };
  const stock = await prepareStock(made);
  const targets = [
    await startSide(stock, "before", against),
    await startSide(stock, "now", projectDir),
  ] as const;
  const measured = await runPairs({ options, generator, targets, progress });
  progress.end();
  for (const { proxy } of targets) await proxy?.stop();
  report(measured);
}

type SideTarget = Target & { readonly side: Side };

async function startSide(stock: Stock, side: Side, root: string): Promise<SideTarget> {
  const { configPath, keys } = stock;
  const dataDir = copyStock(stock, side);
  const { child, port } = await startGateway({
    children,
    name: side,
    dataDir,
    configPath,
    env: proxyEnv,
    root,
  });
  return { side, name: "gateway", port, model: publicModel, keys, proxy: child };
}

interface Pairs {
  readonly options: Options;
  readonly generator: Parameters<typeof measure>[0]["generator"];
  readonly targets: readonly SideTarget[];
  readonly progress: Progress;
}

async function runPairs({ options, generator, targets, progress }: Pairs): Promise<Measured> {
  const phases = phasesOf(options).filter(
    ({ kind, connections }) =>
      connections > 1 &&
      (kind === "chat" ? values["streams-only"] !== true : values["chat-only"] !== true),
  );
  progress.expect((options.rounds + 1) * phases.length * targets.length);
  const measured: Measured = { before: [], now: [] };
  for (let round = 0; round <= options.rounds; round++) {
    const figures: Record<Side, Figures> = { before: {}, now: {} };
    for (const phase of phases)
      for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
        progress.step(`${target.side}: ${phase.label}`);
        const sample = await measure({ generator, target, phase });
        Object.assign(figures[target.side], phase.figures(sample));
      }
    // The first warms up.
    if (round === 0) continue;
    for (const { side, proxy } of targets) {
      const rssMb = (proxy?.weigh().rssBytes ?? 0) / 1e6;
      measured[side].push({ ...figures[side], rssMb });
    }
  }
  return measured;
}

function report({ before, now }: Measured): void {
  const { model, processors, bun, loadAverage } = machineNow();
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify({ before, now }, undefined, 2)}\n`);
    return;
  }
  const rows = shown.flatMap(([metric, label, digits]) => {
    const read = (figures: Figures) => figures[metric] ?? Number.NaN;
    if (now.every((figures) => figures[metric] === undefined)) return [];
    const ratios = now.map((figures, at) => read(figures) / read(before[at] ?? {}));
    const differences = now.map((figures, at) => read(figures) - read(before[at] ?? {}));
    return [
      [
        label,
        cell(spreadOf(before.map(read)), digits),
        cell(spreadOf(now.map(read)), digits),
        cell(spreadOf(differences), digits),
        cell(spreadOf(ratios), 3),
      ],
    ];
  });
  const lines = aligned([["", "before", "now", "difference", "ratio"], ...rows]);
  process.stdout.write(
    `${processors} × ${model}, Bun ${bun}, load average ${loadAverage.toFixed(1)}, ${now.length} pairs: median (min–max)\n\n${lines}\n`,
  );
}
