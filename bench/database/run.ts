/**
 * What PostgreSQL costs: the gateway on SQLite, a gateway on PostgreSQL, and one, two and four
 * workers on PostgreSQL, side by side in one run; then what they send to the database; then two
 * drivers. It fails when a reply was wrong or a receipt is missing, never because something was slow.
 */
import type { Child } from "../load/processes.ts";
import { machineNow, openBench, startTraffic } from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import { type Observation, observeDrivers } from "./driver-faults.ts";
import { type DriverSample, measureDrivers } from "./drivers.ts";
import { fromCommandLine, help, type Options } from "./options.ts";
import { doubts, driverTable, gatewayTable, observationList, wireTable } from "./report.ts";
import { type Round, runRounds } from "./rounds.ts";
import { type Home, openHome, startTarget, type Target, targetNames } from "./targets.ts";
import { countWire, type WireCount } from "./wire.ts";

type Outcome = {
  readonly rounds: readonly Round[];
  readonly wire: readonly WireCount[];
  readonly drivers: readonly DriverSample[];
  readonly observations: readonly Observation[];
};

const noGateways: Pick<Outcome, "rounds" | "wire"> = { rounds: [], wire: [] };

const { dir, children, run } = openBench();
await run(async () => {
  const options = fromCommandLine(Bun.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else await bench(options);
});

async function bench(options: Options): Promise<void> {
  const progress = new Progress();
  const loadBefore = machineNow().loadAverage;
  const has = (part: Options["parts"][number]) => options.parts.includes(part);
  const needsGateways = has("gateways") || has("wire");
  const measured = needsGateways ? await benchGateways(options, progress) : noGateways;
  const drivers = has("drivers") ? await measureDrivers(options, progress) : [];
  const tell = (line: string) => progress.tell(line);
  const observations = has("drivers") ? await observeDrivers(tell) : [];
  progress.end();
  report({ options, loadBefore, outcome: { ...measured, drivers, observations } });
}

async function benchGateways(
  options: Options,
  progress: Progress,
): Promise<Pick<Outcome, "rounds" | "wire">> {
  const { upstreamPort, generator } = await startTraffic(children);
  const tell = (line: string) => progress.tell(line);
  const { accounts } = options;
  const homes: Home[] = [];
  for (const name of targetNames)
    homes.push(await openHome({ name, dir, upstreamPort, accounts, tell }));
  try {
    return await measureHomes({ options, generator, homes, progress });
  } finally {
    await children.stop();
    for (const { database } of homes) await database?.stop();
  }
}

async function measureHomes(of: {
  readonly options: Options;
  readonly generator: Child;
  readonly homes: readonly Home[];
  readonly progress: Progress;
}): Promise<Pick<Outcome, "rounds" | "wire">> {
  const { options, generator, homes, progress } = of;
  let rounds: readonly Round[] = [];
  if (options.parts.includes("gateways")) {
    const targets: Target[] = [];
    for (const home of homes) targets.push(await startTarget({ home, children }));
    rounds = await runRounds({ options, generator, targets, progress });
  }
  const wire = options.parts.includes("wire") ? await countWire({ ...of, children }) : [];
  return { rounds, wire };
}

function report(of: {
  readonly options: Options;
  readonly loadBefore: number;
  readonly outcome: Outcome;
}): void {
  const { options, loadBefore, outcome } = of;
  const { rounds, wire, drivers, observations } = outcome;
  const machine = machineNow();
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ machine, loadBefore, counts: options, ...outcome }, undefined, 2)}\n`,
    );
    return;
  }
  const sections = [
    `${machine.processors} × ${machine.model}, ${machine.platform}, Bun ${machine.bun}; load average ${loadBefore.toFixed(1)} before the run; median (min–max) over the rounds`,
    ...(rounds.length === 0
      ? []
      : [
          `${options.rounds} rounds; ${options.requests} chats over ${options.connections} connections and ${options.singles} over one; ${options.accounts} accounts\n\n${gatewayTable(rounds)}`,
          ...doubts(rounds),
        ]),
    ...(wire.length === 0 ? [] : [wireTable(wire)]),
    ...(drivers.length === 0 ? [] : [driverTable(drivers)]),
    ...(observations.length === 0 ? [] : [observationList(observations)]),
  ];
  process.stdout.write(`${sections.join("\n\n")}\n`);
}
