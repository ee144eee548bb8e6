/**
 * What telemetry costs: a gateway that sends nothing, one that traces 5 % of its calls and two that
 * trace all of them, side by side in one run. Metrics and logs go out as well. It fails when a reply
 * was wrong, never because something was slow.
 */
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import {
  copyStock,
  type Gateway,
  prepareStock,
  type Stock,
  startGateway,
} from "../gateway/gateway.ts";
import { aligned, cell, spreadOf } from "../gateway/report.ts";
import type { LoadKind } from "../load/job.ts";
import { measureJob } from "../load/measure.ts";
import { type Child, machineNow, openBench, proxyEnv, startTraffic } from "../load/processes.ts";
import { publicModel } from "../load/traffic.ts";

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    quick: { type: "boolean" },
    rounds: { type: "string" },
    help: { type: "boolean" },
  },
});
const help = `bun bench/telemetry/run.ts [--rounds N] [--quick]

Compares the gateway without telemetry and with it. See bench/README.md.
`;
const isQuick = values.quick === true;
const rounds = Math.min(50, Math.max(1, Number(values.rounds ?? (isQuick ? 2 : 7))));
const stockOf = isQuick ? { accounts: 20, keys: 40 } : { accounts: 500, keys: 1_000 };
/** The last batch is written and sent within a second of the last call. */
const settleMs = 1_500;

const settings = {
  off: undefined,
  "5 %": { SVC_TRACE_SAMPLE: "0.05" },
  "100 %": { SVC_TRACE_SAMPLE: "1" },
  "100 %, not compressed": { SVC_TRACE_SAMPLE: "1", SVC_OTLP_COMPRESSION: "none" },
} as const;
type Name = keyof typeof settings;
const names = Object.keys(settings) as Name[];

interface Load {
  readonly kind: LoadKind;
  readonly unit: string;
  readonly connections: number;
  readonly requests: number;
  readonly chunks: number;
}

const loads: readonly Load[] = [
  {
    kind: "chat",
    unit: "chat",
    connections: 64,
    requests: isQuick ? 4_000 : 20_000,
    chunks: 0,
  },
  { kind: "stream", unit: "stream of 50 chunks", connections: 100, requests: 600, chunks: 50 },
];

interface Target {
  readonly name: Name;
  readonly gateway: Gateway;
  readonly sink: Sink;
}

interface Sink {
  readonly url: string;
  spans: number;
  readonly stop: () => Promise<void>;
}

type Figures = Map<Name, number[]>;

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await bench();
});

async function bench(): Promise<void> {
  const { upstreamPort, generator } = await startTraffic(children);
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const shared = { children, dir, upstreamPort, ...stockOf, env: proxyEnv, tell };
  const stock = await prepareStock(shared);
  const targets: Target[] = [];
  for (const name of names) targets.push(await start(stock, name));
  const figures = loads.map((): Figures => new Map(names.map((name) => [name, []])));
  for (let round = 0; round <= rounds; round++)
    for (const [at, load] of loads.entries())
      for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
        tell(`round ${round} of ${rounds}: ${load.kind}, traced: ${target.name}`);
        const cpuUs = await measure({ target, load, generator, keys: stock.keys });
        // The first warms up.
        if (round > 0) figures[at]?.get(target.name)?.push(cpuUs);
      }
  for (const { gateway } of targets) await gateway.child.stop();
  for (const { sink } of targets) await sink.stop();
  report(figures, targets);
}

async function start(stock: Stock, name: Name): Promise<Target> {
  const sink = listen();
  const telemetry = settings[name];
  const gateway = await startGateway({
    children,
    name: `gateway, traced: ${name}`,
    dataDir: copyStock(stock, `traced-${names.indexOf(name)}`),
    configPath: stock.configPath,
    env: telemetry === undefined ? proxyEnv : { ...proxyEnv, ...telemetry, SVC_OTLP_URL: sink.url },
  });
  return { name, gateway, sink };
}

/** In place of a collector, in this process: its own cost is not measured. */
function listen(): Sink {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const sent = new Uint8Array(await request.arrayBuffer());
      const isPacked = request.headers.get("content-encoding") === "gzip";
      const text = Buffer.from(isPacked ? gunzipSync(sent) : sent).toString();
      sink.spans += text.split('"spanId":"').length - 1;
      return Response.json({});
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const sink: Sink = { url, spans: 0, stop: () => server.stop(true) };
  return sink;
}

/** CPU of the gateway per request, in µs, with what it puts off. */
async function measure(options: {
  readonly target: Target;
  readonly load: Load;
  readonly generator: Child;
  readonly keys: readonly string[];
}): Promise<number> {
  const { target, load, generator, keys } = options;
  const { child, port } = target.gateway;
  const before = child.weigh().cpuMs;
  const { kind, connections, requests, chunks } = load;
  const job = { kind, connections, requests, chunks, port, keys, timeoutMs: 120_000 };
  const { result } = await measureJob({
    generator,
    proxy: undefined,
    job: { ...job, model: publicModel },
  });
  if (result.failures > 0 || result.replies !== requests)
    throw new Error(`${target.name}: ${result.firstFailure ?? "replies are missing"}`);
  await Bun.sleep(settleMs);
  return ((child.weigh().cpuMs - before) * 1_000) / requests;
}

function report(figures: readonly Figures[], targets: readonly Target[]): void {
  const rows = loads.flatMap(({ unit }, at) => {
    const of = (name: Name) => figures[at]?.get(name) ?? [];
    const off = of("off");
    const ratios = (name: Name) => of(name).map((one, round) => one / (off[round] ?? one));
    return [
      [`CPU µs per ${unit}`, ...names.map((name) => cell(spreadOf(of(name)), 1))],
      ["ratio to off", ...names.map((name) => cell(spreadOf(ratios(name)), 3))],
    ];
  });
  const calls = loads.reduce((sum, { requests }) => sum + requests, 0) * (rounds + 1);
  const spans = targets.map(({ sink }) => (sink.spans / (2 * calls)).toFixed(3));
  const lines = aligned([
    ["traced", ...names],
    ...rows,
    ["share of the calls that reached the collector", ...spans],
  ]);
  const { model, processors, bun, loadAverage } = machineNow();
  process.stdout.write(
    `${processors} × ${model}, Bun ${bun}, load average ${loadAverage.toFixed(1)}\n\n${lines}\n`,
  );
}
