/**
 * The bench: upstream, load generator, a bare Bun proxy and our gateway, each in a process of its
 * own, side by side in one run. It fails when a reply was wrong, never because something was slow.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { hasGateway, startGateway } from "./gateway.ts";
import { fromCommandLine, help, type Options } from "./options.ts";
import { Children } from "./processes.ts";
import { Progress } from "./progress.ts";
import { doubts, type Round, summarise, table } from "./report.ts";
import { phasesOf, runRound, type Target } from "./rounds.ts";
import { publicModel, upstreamModel } from "./traffic.ts";

/** Bun's fetch lets only 256 requests run at once unless told; both proxies are told the same. */
const proxyEnv = { BUN_CONFIG_MAX_HTTP_REQUESTS: "4096" };

const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
const children = new Children(dir);
process.on("exit", () => {
  children.kill();
  rmSync(dir, { recursive: true, force: true });
});
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
for (const [signal, code] of Object.entries(exitCodes)) {
  process.on(signal, () => process.exit(code));
}

try {
  const options = fromCommandLine(Bun.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else await bench(options);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await children.stop();
}
process.exit();

async function bench(options: Options): Promise<void> {
  if (options.only !== "bare" && !hasGateway()) {
    throw new Error("there is no src/main.ts to measure; --only bare runs without it");
  }
  const phases = phasesOf(options);
  const progress = new Progress();
  const upstream = children.start({ name: "upstream", args: ["bench/upstream.ts"], talks: true });
  const upstreamPort = await upstream.ready();
  const generator = children.start({
    name: "load generator",
    args: ["bench/load.ts"],
    talks: true,
  });
  await generator.ready();
  const targets = await startTargets({ options, upstreamPort, progress });

  const perRound = targets.flatMap(({ proxy }) =>
    phases.filter(({ proxiesOnly }) => !proxiesOnly || proxy !== undefined),
  ).length;
  progress.expect(perRound * (options.rounds + 1));
  const rounds: Round[] = [];
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
  }
  progress.end();
  report({ options, rounds, keys: targets.at(-1)?.keys.length ?? 0 });
}

type Start = {
  readonly options: Options;
  readonly upstreamPort: number;
  readonly progress: Progress;
};

async function startTargets({ options, upstreamPort, progress }: Start): Promise<Target[]> {
  // As long as ours are, so that all targets read as many bytes.
  const keys = Array.from({ length: options.keys }, (_, index) => `bench-${index}`.padEnd(48, "x"));
  const targets: Target[] = [
    { name: "direct", port: upstreamPort, model: upstreamModel, keys, proxy: undefined },
  ];
  if (options.only !== "gateway") {
    const args = ["bench/bare-proxy.ts", String(upstreamPort)];
    const proxy = children.start({ name: "bare proxy", args, env: proxyEnv, talks: true });
    targets.push({ name: "bare", port: await proxy.ready(), model: publicModel, keys, proxy });
  }
  if (options.only !== "bare") {
    const { accounts, keys: keyCount } = options;
    const tell = (line: string) => progress.tell(line);
    const settings = { children, dir, upstreamPort, accounts, keys: keyCount, env: proxyEnv, tell };
    const { child, port, keys: made } = await startGateway(settings);
    targets.push({ name: "gateway", port, model: publicModel, keys: made, proxy: child });
  }
  return targets;
}

type Outcome = {
  readonly options: Options;
  readonly rounds: readonly Round[];
  /** Really made, which may be fewer than asked for. */
  readonly keys: number;
};

function report({ options, rounds, keys }: Outcome): void {
  const summary = summarise(rounds);
  const processors = cpus();
  const machine = {
    processors: processors.length,
    model: processors[0]?.model ?? "unknown",
    platform: `${process.platform} ${process.arch}`,
    bun: Bun.version,
  };
  const warnings = doubts(summary);
  if (options.json) {
    const { only: _, json: __, ...counts } = options;
    process.stdout.write(
      `${JSON.stringify({ machine, counts: { ...counts, keys }, ...summary, warnings }, undefined, 2)}\n`,
    );
    return;
  }
  process.stdout.write(
    `\n${machine.processors} × ${machine.model}, ${machine.platform}, Bun ${machine.bun}\n` +
      `${options.rounds} rounds; ${options.requests} chats over ${options.connections} connections, ` +
      `${keys} keys; ${options.streams} streams of ${options.chunks} chunks, each every 10 ms\n` +
      `median (min–max) over the rounds; CPU is that of the proxy process alone\n\n` +
      `${table(summary)}\n${warnings.map((warning) => `\n${warning}`).join("")}\n`,
  );
}
