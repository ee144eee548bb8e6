/** Starts everyone who takes part. A peer that does not start is left out, and the run goes on. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { prepareStock } from "../gateway/gateway.ts";
import type { LoadResult } from "../load/job.ts";
import { type Child, projectDir, proxyEnv } from "../load/processes.ts";
import type { Progress } from "../load/progress.ts";
import { startAisix, startBifrost, startGomodel } from "./binaries.ts";
import {
  type Contender,
  direct,
  type StartOptions,
  startBare,
  startOurs,
  startPlainNginx,
} from "./contender.ts";
import type { Options } from "./options.ts";
import { startLitellm, startPortkey } from "./packages.ts";
import { jobOf, workloadsOf } from "./workloads.ts";

const firstReplyMs = 30_000;

export async function startAll(
  options: Options,
  { start, generator, progress }: { start: StartOptions; generator: Child; progress: Progress },
): Promise<readonly Contender[]> {
  const { names, paths, accounts, keys } = options;
  const tell = (line: string) => progress.tell(line);
  const contenders: Contender[] = [direct(start.upstreamPort)];
  const add = async (starting: Promise<Contender | undefined>) => {
    const contender = await starting;
    if (contender !== undefined) contenders.push(contender);
  };
  if (names.includes("svc")) {
    const stock = await prepareStock({ ...start, accounts, keys, env: proxyEnv, tell });
    const ours = { ...start, stock, version: versionHere() };
    await add(startOurs(ours));
    const memoryDir = makeMemoryDir();
    if (memoryDir !== undefined) await add(startOurs({ ...ours, memoryDir }));
  }
  if (names.includes("bare")) await add(startBare(start));
  if (names.includes("nginx")) await add(startPlainNginx(start));
  const { aisix, gomodel, bifrost } = paths;
  const peers = {
    ...(aisix === undefined ? {} : { aisix: () => startAisix({ ...start, path: aisix }) }),
    ...(gomodel === undefined ? {} : { gomodel: () => startGomodel({ ...start, path: gomodel }) }),
    ...(bifrost === undefined ? {} : { bifrost: () => startBifrost({ ...start, path: bifrost }) }),
    litellm: () => startLitellm({ ...start, tell }),
    portkey: () => startPortkey({ ...start, tell }),
  };
  for (const [name, startPeer] of Object.entries(peers))
    if (names.some((one) => one === name)) await add(startedPeer({ name, startPeer, generator }));
  return contenders;
}

/** Undefined, with a line that says why, where it does not start or does not answer. */
async function startedPeer(options: {
  readonly name: string;
  readonly startPeer: () => Promise<Contender>;
  readonly generator: Child;
}): Promise<Contender | undefined> {
  const { name, startPeer, generator } = options;
  try {
    const contender = await startPeer();
    await firstReply(contender, generator);
    return contender;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${name} is left out: ${reason}\n`);
    return undefined;
  }
}

/** Some servers listen before they know their models. */
async function firstReply(contender: Contender, generator: Child): Promise<void> {
  const [workload] = workloadsOf({ isQuick: true });
  if (workload === undefined) return;
  const once = { connections: 1, requests: 1, durationMs: undefined, timeoutMs: 10_000 };
  const job = { ...jobOf({ workload, contender }), ...once };
  const deadlineMs = performance.now() + firstReplyMs;
  while (true) {
    const { replies, firstFailure } = (await generator.ask(job, 20_000)) as LoadResult;
    if (replies === 1) return;
    if (performance.now() > deadlineMs || contender.proxy?.ended === true)
      throw new Error(`no right reply to a chat: ${firstFailure}\n${contender.proxy?.lastWords()}`);
    await Bun.sleep(500);
  }
}

/** A folder in memory, where Linux has one. */
function makeMemoryDir(): string | undefined {
  if (!existsSync("/dev/shm")) return undefined;
  const memoryDir = mkdtempSync("/dev/shm/svc-bench-");
  process.on("exit", () => rmSync(memoryDir, { recursive: true, force: true }));
  return memoryDir;
}

function versionHere(): string {
  const { stdout } = Bun.spawnSync(["git", "rev-parse", "--short", "HEAD"], {
    cwd: projectDir,
  });
  return stdout.toString().trim() || "unknown";
}
