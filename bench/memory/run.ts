/**
 * The gateway's resident memory: idle after a start, and over minutes of full load, 64 connections
 * that call without a pause and 1,000 streams open at once. Sampled every second. It fails when a
 * reply was wrong, never because something was large.
 */
import { parseArgs } from "node:util";
import { prepareBulkStock } from "../gateway/bulk-stock.ts";
import { copyStock, type Gateway, type Stock, startGateway } from "../gateway/gateway.ts";
import { aligned, number } from "../gateway/report.ts";
import type { LoadJob, LoadResult } from "../load/job.ts";
import { type Child, machineNow, openBench, proxyEnv } from "../load/processes.ts";
import { publicModel } from "../load/traffic.ts";

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    minutes: { type: "string" },
    streams: { type: "string" },
    root: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
const help = `bun bench/memory/run.ts [--minutes N] [--streams N] [--root DIRECTORY] [--json]

RSS of the gateway, idle and over N minutes (10) of full load with N streams (1,000) open at once;
--root measures another checkout, with its packages installed. See bench/README.md.
`;
const minutes = numberFrom(values.minutes, { usual: 10, most: 120 });
const streams = numberFrom(values.streams, { usual: 1_000, most: 4_000 });
const connections = 64;
const stockOf = { accounts: 5_000, keys: 10_000, used: 10_000 };
const env = { ...proxyEnv, SVC_ENGINE: "off" };
/** Between two events of a stream: 1,000 streams so bring 10,000 a second. */
const eventMs = 100;
/** Of one stream, so that some end and begin at any time. */
const chunks = 100;
const chatsPerJob = 20_000;
const jobTimeoutMs = 180_000;
/** What a start leaves behind is given back within this time. */
const idleMs = 10_000;

type Sample = {
  readonly second: number;
  readonly rssMb: number;
  readonly cpuMs: number;
  readonly chats: number;
  readonly streamsDone: number;
};

const { dir, children, run } = openBench();
await run(async () => {
  if (values.help === true) process.stdout.write(help);
  else await bench();
});

async function bench(): Promise<void> {
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const start = (name: string, args: readonly string[]) =>
    children.start({ name, args, talks: true });
  const upstream = start("upstream", ["bench/load/upstream.ts"]);
  const generators = {
    chat: start("load of chat", ["bench/load/load.ts"]),
    stream: start("load of streams", ["bench/load/load.ts"]),
  };
  for (const generator of Object.values(generators)) await generator.ready();
  const upstreamPort = await upstream.ready();
  const stock = await prepareBulkStock({ ...stockOf, children, dir, upstreamPort, env, tell });
  const dataDir = copyStock(stock, "measured");
  const { configPath } = stock;
  const { root } = values;
  const gateway = await startGateway({
    children,
    name: "gateway",
    dataDir,
    configPath,
    env,
    ...(root === undefined ? {} : { root }),
  });
  await Bun.sleep(idleMs);
  const idleMb = rssMbOf(gateway);
  tell(`idle: ${idleMb.toFixed(0)} MB; ${minutes} minutes of load begin`);
  const samples = await underLoad({ gateway, generators, stock, tell });
  await Bun.sleep(idleMs);
  report({ idleMb, samples, afterMb: rssMbOf(gateway) });
}

type Kind = "chat" | "stream";

async function underLoad(options: {
  readonly gateway: Gateway;
  readonly generators: Readonly<Record<Kind, Child>>;
  readonly stock: Stock;
  readonly tell: (line: string) => void;
}): Promise<readonly Sample[]> {
  const { gateway, generators, stock, tell } = options;
  const { port } = gateway;
  const untilMs = performance.now() + minutes * 60_000;
  const done = { chat: 0, stream: 0 };
  const common = { port, model: publicModel, keys: stock.keys, timeoutMs: jobTimeoutMs };
  const load = async (job: LoadJob & { readonly kind: Kind }) => {
    while (performance.now() < untilMs) {
      const result = (await generators[job.kind].ask(job, jobTimeoutMs * 2)) as LoadResult;
      if (result.failures > 0)
        throw new Error(
          `${result.failures} failed; the first: ${result.firstFailure}\n${gateway.child.lastWords()}`,
        );
      done[job.kind] += result.replies;
    }
  };
  const stream = { kind: "stream", connections: streams, chunks, paceMs: eventMs } as const;
  const streamJob = { ...common, ...stream };
  const chatJob = { ...common, kind: "chat", connections, requests: chatsPerJob, chunks } as const;
  const loads = [load(chatJob), load({ ...streamJob, requests: streams * 3 })];
  const samples: Sample[] = [];
  const sampling = (async () => {
    while (performance.now() < untilMs) {
      await Bun.sleep(1_000);
      const second = samples.length + 1;
      const { cpuMs } = gateway.child.weigh();
      const [chats, streamsDone] = [done.chat, done.stream];
      samples.push({ second, rssMb: rssMbOf(gateway), cpuMs, chats, streamsDone });
      if (second % 60 === 0) tell(`minute ${second / 60}: ${samples.at(-1)?.rssMb.toFixed(0)} MB`);
    }
  })();
  await Promise.all([sampling, ...loads]);
  return samples;
}

function report(figures: {
  readonly idleMb: number;
  readonly samples: readonly Sample[];
  readonly afterMb: number;
}): void {
  const { idleMb, samples, afterMb } = figures;
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
    return;
  }
  const mb = (value: number) => number(value, 0);
  const rows = Array.from({ length: Math.ceil(samples.length / 60) }, (_, minute) => {
    const part = samples.slice(minute * 60, minute * 60 + 60);
    const rss = part.map(({ rssMb }) => rssMb);
    const [first, last] = [part[0], part.at(-1)];
    const seconds = (last?.second ?? 1) - (first?.second ?? 0);
    const per = (read: (sample: Sample) => number) =>
      last === undefined || first === undefined ? 0 : (read(last) - read(first)) / seconds;
    return [
      `minute ${minute + 1}`,
      mb(Math.min(...rss)),
      mb(rss.reduce((sum, one) => sum + one, 0) / rss.length),
      mb(Math.max(...rss)),
      number(
        per(({ chats }) => chats),
        0,
      ),
      number(per(({ cpuMs }) => cpuMs) / 1000, 2),
    ];
  });
  const header = ["RSS, MB", "least", "mean", "most", "chats/s", "cores used"];
  const blank = ["", "", "", ""];
  const { processors, model, bun, loadAverage } = machineNow();
  const lines = aligned([
    header,
    ["idle", mb(idleMb), ...blank],
    ...rows,
    [`${idleMs / 1000} s after`, mb(afterMb), ...blank],
  ]);
  process.stdout.write(
    `${processors} × ${model}, Bun ${bun}, load average ${loadAverage.toFixed(1)}; ${connections} connections, ${streams} streams\n\n${lines}\n`,
  );
}

function rssMbOf({ child }: Gateway): number {
  return child.weigh().rssBytes / 1e6;
}

function numberFrom(
  text: string | undefined,
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  if (text === undefined) return usual;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new Error(`"${text}" is not a number from 1 to ${most}`);
}
