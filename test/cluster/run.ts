/** npm run test:cluster. Ends with 1 when anything was found. */

import { parseArgs } from "node:util";
import { Cluster, type ClusterProcess, callNano, callOnce } from "./cluster.ts";
import { type FaultRow, faults, runFault } from "./faults.ts";
import { addChanges, addMany } from "./many-rows.ts";
import { killGateways, Load, raceForMoney, untilRefused, untilServed } from "./scenarios.ts";

const help = `npm run test:cluster [-- OPTIONS]

Four gateways and a platform on one real PostgreSQL, each with a data directory of its own, under
load. Gateways are killed and paused, the database is restarted, keys are revoked, money is
withdrawn, prices change; many callers race for little money. Afterwards the ledger is verified.

  --gateways N   how many gateways (4)
  --kills N      rounds of kill -9 (100)
  --races N      rounds of callers that race for money for ten (1000)
  --callers N    callers in each race (500)
  --pause S      seconds that one gateway is stopped (60)
  --revokes N    keys that are revoked under load (100)
  --accounts N   accounts, with two keys each, that gateways fall behind with (50000)
  --faults       only the faults of the database, one after another, each on a cluster of its own
  --only NAME    only this fault: NAMES
  --json         the results as JSON
  --help         this text
`;

interface Results {
  readonly problems: string[];
  readonly figures: Record<string, number | string>;
}

function readOptions(words: readonly string[]) {
  const { values } = parseArgs({
    args: [...words],
    options: {
      gateways: { type: "string", default: "4" },
      kills: { type: "string", default: "100" },
      races: { type: "string", default: "1000" },
      callers: { type: "string", default: "500" },
      pause: { type: "string", default: "60" },
      revokes: { type: "string", default: "100" },
      accounts: { type: "string", default: "50000" },
      faults: { type: "boolean", default: false },
      only: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { json, help: isHelp, faults: hasFaults, only, ...rest } = values;
  const numbers = Object.fromEntries(
    Object.entries(rest).map(([name, text]) => [name, Number(text)]),
  ) as Record<keyof typeof rest, number>;
  return { json, isHelp, faults: hasFaults ? Object.keys(faults) : only?.split(","), ...numbers };
}

type Options = ReturnType<typeof readOptions>;

const isLive = process.stderr.isTTY === true;

/** A line that is written over on a terminal, and now and then elsewhere. */
function progress(name: string, of: number): (done: number) => void {
  return (done) => {
    if (isLive) process.stderr.write(`\r${name} ${done}/${of}${done === of ? "\n" : ""}`);
    else if (done === of || done % Math.max(1, Math.floor(of / 10)) === 0)
      process.stderr.write(`${name} ${done}/${of}\n`);
  };
}

async function main(words: readonly string[]): Promise<number> {
  const options = readOptions(words);
  if (options.isHelp) {
    process.stdout.write(help.replace("NAMES", Object.keys(faults).join(", ")));
    return 0;
  }
  if (options.faults !== undefined) return runFaults(options.faults);
  const results: Results = { problems: [], figures: {} };
  const cluster = await Cluster.start({ gateways: options.gateways });
  try {
    const { key } = await cluster.openAccount("load", "10000");
    const load = new Load(cluster, key, 8);
    await runKills(cluster, options, results);
    await runRevokes(cluster, options, results);
    await runPause(cluster, key, options, results);
    await runRestart(cluster, key);
    const withdrawals = await runWithdrawals(cluster, results);
    await runPrices(cluster, key, results);
    await load.end();
    results.figures["calls served under faults"] = load.served.length;
    for (const [name, count] of load.refused) results.figures[`refused: ${name}`] = count;
    await runRaces(cluster, options, results);
    await runBehind(cluster, options, results);
    await judge(cluster, [...load.served, ...withdrawals.served], results);
  } finally {
    await cluster.stop();
  }
  process.stdout.write(options.json ? `${JSON.stringify(results)}\n` : told(results));
  return results.problems.length === 0 ? 0 : 1;
}

/** Fails when a reply lacks its receipt, or the ledger is wrong; the rest are figures. */
async function runFaults(names: readonly string[]): Promise<number> {
  let isBad = false;
  for (const name of names) {
    const row = await runFault(name);
    process.stdout.write(`${JSON.stringify(row)}\n`);
    const odd = Object.keys(row.replies).filter((reply) => !/^(200|503 \w+)$/.test(reply));
    isBad ||= odd.some((reply) => !reply.startsWith("0"));
    isBad ||= name === "failover-async" ? isHidden(row) : row.lost > 0 || row.problems.length > 0;
  }
  return isBad ? 1 : 0;
}

/** What the standby lacked is lost; each place must show all of it, and nothing else is lost. */
function isHidden({ lost, found }: FaultRow): boolean {
  if (found === undefined) return true;
  const { inLogs, inMetrics, inDatabase, byVerify, doctorBefore, doctorAfter } = found;
  const least = Math.min(inLogs, inMetrics, inDatabase);
  const isShown = byVerify > 0 && doctorBefore !== "" && doctorAfter !== "";
  return found.lostAfterwards > 0 || least < lost || (lost > 0 && !isShown);
}

async function runKills(cluster: Cluster, { kills }: Options, { figures }: Results): Promise<void> {
  const startMs = performance.now();
  await killGateways(cluster, kills, progress("kill -9", kills));
  figures["gateways killed"] = kills;
  figures["seconds for the kills"] = Math.round((performance.now() - startMs) / 1000);
}

/** How long each was still served, on the gateway that heard of it last. */
async function runRevokes(cluster: Cluster, { revokes }: Options, results: Results): Promise<void> {
  const tell = progress("revoked keys", revokes);
  const account = await cluster.openAccount("revokes", "100");
  const served: number[] = [];
  for (let at = 1; at <= revokes; at++) {
    const made = await cluster.operate(({ keys }) =>
      keys.create({ account: account.id, name: `k${at}` }),
    );
    const times = await untilRefused(cluster, made.key, () =>
      cluster.revokeWithoutWaiting(made.id),
    );
    served.push(Math.max(...times));
    tell(at);
  }
  if (served.length === 0) return;
  const sorted = served.toSorted((one, other) => one - other);
  const longest = sorted.at(-1) ?? 0;
  results.figures["a revoked key was served for ms, p50"] = Math.round(
    sorted[Math.floor(sorted.length / 2)] ?? 0,
  );
  results.figures["… p99"] = Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? longest);
  results.figures["… at most"] = Math.round(longest);
  if (longest > 1_000)
    results.problems.push(`a revoked key was served for ${Math.round(longest)} ms`);
}

async function runPause(
  cluster: Cluster,
  key: string,
  { pause }: Options,
  { figures }: Results,
): Promise<void> {
  // It closes only if it is stopped for seconds.
  if (pause === 0) return;
  const [gateway] = cluster.gateways as [ClusterProcess];
  process.stderr.write(`a gateway is stopped for ${pause} s\n`);
  gateway.signal("SIGSTOP");
  await Bun.sleep(pause * 1000);
  gateway.signal("SIGCONT");
  figures["exit code of the gateway that slept too long"] = await gateway.exited;
  await gateway.start();
  await untilServed(gateway, key);
}

async function runRestart(cluster: Cluster, key: string): Promise<void> {
  process.stderr.write("the database is killed and started again\n");
  await cluster.restartDatabase();
  for (const gateway of cluster.gateways) {
    // On a busy machine it may be away for so long that the others close it.
    if (!gateway.isRunning) await gateway.start();
    await untilServed(gateway, key);
  }
}

/** Once the command has returned, every gateway charges the new price. */
async function runPrices(cluster: Cluster, key: string, results: Results): Promise<void> {
  const { problems, figures } = results;
  const changes = 20;
  for (let at = 1; at <= changes; at++) {
    const nano = at === changes ? callNano : callNano + BigInt(at);
    await cluster.setPrice(nano);
    const calls = await Promise.all(cluster.gateways.map((gateway) => callOnce(gateway, key)));
    const charged = await cluster.charged(calls.map(({ requestId }) => requestId));
    for (const one of charged)
      if (one !== nano) problems.push(`after a change to ${nano} a call was charged ${one}`);
  }
  figures["changes of the price"] = changes;
}

/** From an account whose money all gateways are using; the last one asks for too much. */
async function runWithdrawals(cluster: Cluster, { problems, figures }: Results): Promise<Load> {
  const { id, key } = await cluster.openAccount("withdrawals", "5");
  const load = new Load(cluster, key, 4);
  const withdrawals = 14;
  for (let at = 0; at < withdrawals; at++)
    await cluster.operate(({ entries }) =>
      entries.add({ account: id, kind: "withdrawal", usd: "0.25" }),
    );
  const tooMuch = cluster.operate(({ entries }) =>
    entries.add({ account: id, kind: "withdrawal", usd: "1.51" }),
  );
  await tooMuch.then(
    () => problems.push("more was withdrawn than there was"),
    () => {},
  );
  await load.end();
  figures["withdrawals"] = withdrawals;
  figures["calls served meanwhile"] = load.served.length;
  return load;
}

async function runRaces(
  cluster: Cluster,
  { races, callers }: Options,
  { problems, figures }: Results,
): Promise<void> {
  const tell = progress("races for money", races);
  const { key, id } = await cluster.openAccount("races", "0.0010");
  const perRound = 10;
  let fewer = 0;
  for (let at = 1; at <= races; at++) {
    const { served, others } = await raceForMoney(cluster.gateways, key, callers);
    if (served > perRound) problems.push(`race ${at}: ${served} calls were served`);
    if (served < perRound) fewer++;
    const odd = [...others.keys()].filter((name) => !/^(402|503) /.test(name));
    if (odd.length > 0) problems.push(`race ${at}: ${odd.join(", ")}`);
    const left = BigInt(perRound - served) * callNano;
    const usd = `0.00${String(1_000_000n - left).padStart(7, "0")}`;
    if (left < 1_000_000n)
      await cluster.operate(({ entries }) => entries.add({ account: id, kind: "credit", usd }));
    tell(at);
  }
  figures["races for money"] = races;
  figures["races that served fewer than they could"] = fewer;
}

/** Gateways miss so many changes that they read everything again, under load. */
async function runBehind(cluster: Cluster, { accounts }: Options, results: Results): Promise<void> {
  const { figures, problems } = results;
  const { key } = await cluster.openAccount("behind", "1000");
  const { key: ended, id } = await cluster.openAccount("ended", "1");
  await addMany(cluster, { accounts, keys: 2 * accounts });
  const [first] = cluster.gateways as [ClusterProcess];
  await first.stop();
  const startMs = performance.now();
  await first.start();
  figures["ms of a start with many keys"] = Math.round(performance.now() - startMs);
  const load = new Load(cluster, key, 6);
  for (const changes of [900, 1_500, 10_000]) {
    await Bun.sleep(1_000);
    load.longestMs = 0;
    if (changes === 10_000)
      await cluster.query("update keys set revoked_at_ms = 1 where account_id = $1", [id]);
    await addChanges(cluster, changes);
    const times = await untilRefused(
      cluster,
      changes === 10_000 ? ended : "sk-svc-unknown",
      async () => {},
    );
    if (changes === 10_000)
      figures["a key revoked among them was served for ms"] = Math.round(Math.max(...times));
    await Bun.sleep(10_000);
    figures[`longest call, ms, ${changes} changes behind`] = Math.round(load.longestMs);
  }
  await load.end();
  for (const name of load.refused.keys()) problems.push(`while behind: ${name}`);
}

async function judge(
  cluster: Cluster,
  served: readonly string[],
  { problems, figures }: Results,
): Promise<void> {
  const findings = await cluster.verify();
  for (const one of findings.problems)
    problems.push(`verify: ${one.kind} ${one.subject}: ${one.expected}, not ${one.found}`);
  figures["receipts"] = findings.receipts;
  const charged = await cluster.charged(served);
  // At the price, or at one of those that it was changed to for a moment.
  const found = charged.filter((nano) => nano !== undefined && nano - callNano < 20n).length;
  if (found !== served.length || new Set(served).size !== served.length)
    problems.push(`${served.length} replies have ${found} receipts`);
  for (const { name, log } of cluster.gateways)
    if (/unhandled/i.test(log)) problems.push(`${name} logged an unhandled rejection`);
}

function told({ problems, figures }: Results): string {
  const lines = Object.entries(figures).map(([name, value]) => `  ${name}: ${value}`);
  const verdict =
    problems.length === 0 ? "No problem was found." : `Problems:\n  ${problems.join("\n  ")}`;
  return `${lines.join("\n")}\n${verdict}\n`;
}

process.exit(await main(process.argv.slice(2)));
