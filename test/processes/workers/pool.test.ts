import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type PoolOptions, WorkerPool } from "../../../src/app/workers/pool.ts";
import { createLog } from "../../../src/base/log.ts";
import { readMetrics } from "../../replies/metrics-text.ts";

const toyWorker = join(import.meta.dir, "toy-worker.ts");
const toySupervisor = join(import.meta.dir, "toy-supervisor.ts");
const own = { process: "toy", text: "" };

let pool: WorkerPool | undefined;
afterEach(async () => {
  await pool?.stop();
  pool = undefined;
});

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return port ?? 0;
}

/** Lines of a log, and who waits for one. */
class Lines {
  readonly all: string[] = [];
  readonly #waiting = new Set<() => void>();

  add(line: string): void {
    this.all.push(line);
    for (const look of this.#waiting) look();
  }

  until(text: string, times = 1): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (this.all.filter((line) => line.includes(text)).length < times) return;
      this.#waiting.delete(look);
      resolve();
    };
    this.#waiting.add(look);
    look();
    return promise;
  }
}

async function startPool(count: number, options: Partial<PoolOptions> = {}) {
  const port = await freePort();
  const lines = new Lines();
  pool = new WorkerPool({
    count,
    command: (worker) => [process.execPath, toyWorker, String(worker), String(port)],
    nameOf: (worker) => `toy/${worker}`,
    environment: process.env,
    graceMs: 5_000,
    log: createLog({ level: "info", pretty: false, write: (line) => lines.add(line) }),
    onLog: () => {},
    askEngine: async () => undefined,
    pauses: { firstMs: 1, longestMs: 4, healthyMs: 60_000 },
    ...options,
  });
  await pool.start();
  const ask = async (path = "/") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { keepalive: false });
    return (await response.json()) as { readonly worker: number; readonly pid: number };
  };
  /** The process of every worker. */
  const pids = async () => {
    const found = new Map<number, number>();
    while (found.size < count) {
      const { worker, pid } = await ask();
      found.set(worker, pid);
    }
    return found;
  };
  return { pool, port, lines, ask, pids };
}

/** Requests of all workers, those before a restart included. */
const countOf = async (running: WorkerPool) =>
  readMetrics(await running.metricsText(own)).only("svc_requests_total").value;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(pids: Iterable<number>): Promise<void> {
  for (const pid of pids) while (isAlive(pid)) await Bun.sleep(5);
}

test("workers share one port, and each is asked", async () => {
  const { pids } = await startPool(3);
  expect(new Set((await pids()).values()).size).toBe(3);
});

test("a worker that dies is started again, whatever ended it, and the log says which", async () => {
  const { lines, pids } = await startPool(2);
  const before = await pids();
  const first = before.get(1) ?? 0;
  process.kill(first, "SIGKILL");
  await lines.until("worker is back");
  const line = JSON.parse(lines.all.find((one) => one.includes("worker exited")) ?? "{}");
  expect(line).toMatchObject({ level: "error", worker: "toy/1", code: "SIGKILL", in_ms: 0 });
  const after = await pids();
  expect(after.get(1)).not.toBe(first);
  expect(after.get(2)).toBe(before.get(2) ?? 0);
});

test("one that dies again and again is started with growing, bounded pauses", async () => {
  const { lines, ask } = await startPool(1);
  for (let times = 1; times <= 5; times++) {
    await ask("/die").catch(() => {});
    await lines.until("worker is back", times);
  }
  const pauses = lines.all
    .filter((line) => line.includes("worker exited"))
    .map((line) => JSON.parse(line));
  expect(pauses.map(({ in_ms }) => in_ms)).toEqual([0, 1, 2, 4, 4]);
  expect(pauses[0].code).toBe(7);
});

test("a worker that was healthy for long is restarted at once", async () => {
  const { lines, ask } = await startPool(1, {
    pauses: { firstMs: 60_000, longestMs: 60_000, healthyMs: -1 },
  });
  for (const times of [1, 2, 3]) {
    await ask("/die").catch(() => {});
    await lines.until("worker is back", times);
  }
  expect(lines.all.filter((line) => line.includes('"in_ms":0')).length).toBe(3);
});

test("a worker that ends before it listens ends the start", async () => {
  const command = () => [process.execPath, "-e", "process.exit(3)"];
  const failed = await startPool(1, { command }).catch((error: unknown) => error);
  expect(String(failed)).toContain("Worker toy/1 ended with 3 before it listened");
});

test("a stop lets requests in flight finish, and leaves no process", async () => {
  const { pool: running, ask, pids } = await startPool(2);
  const all = await pids();
  const before = await countOf(running);
  const waiting = Promise.all(Array.from({ length: 4 }, () => ask("/until-stop")));
  while ((await countOf(running)) < before + 4) await Bun.sleep(5);
  await running.stop();
  expect((await waiting).length).toBe(4);
  await untilGone(all.values());
});

test("no counter falls when a worker ends and is started again", async () => {
  const { pool: running, lines, ask, pids } = await startPool(2);
  const all = await pids();
  for (let times = 0; times < 20; times++) await ask();
  const before = await countOf(running);
  expect(before).toBeGreaterThanOrEqual(22);
  process.kill(all.get(1) ?? 0, "SIGTERM");
  await lines.until("worker is back");
  expect(await countOf(running)).toBe(before);
  await ask();
  expect(await countOf(running)).toBe(before + 1);
});

test("the engine belongs to the supervisor: workers wait for it, or pass on why it is not ready", async () => {
  const refusal = {
    code: "model_loading",
    message: "Half of it is here.",
    retryAfterMs: 2_000,
  } as const;
  const answers = [refusal, undefined] as const;
  let asked = 0;
  const { port } = await startPool(1, {
    askEngine: async (model) => (model === "chat" ? answers[asked++] : undefined),
  });
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/engine`)).json();
  expect(await ask()).toEqual(refusal);
  expect(await ask()).toEqual({ isReady: true });
});

test("workers end by themselves when their supervisor is killed", async () => {
  const port = await freePort();
  const supervisor = Bun.spawn([process.execPath, toySupervisor, String(port)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = supervisor.stdout.getReader();
  let text = "";
  while (!text.includes("started"))
    text += new TextDecoder().decode((await reader.read()).value ?? new Uint8Array());
  const pids = new Set<number>();
  while (pids.size < 3) {
    const response = await fetch(`http://127.0.0.1:${port}/`, { keepalive: false });
    pids.add(((await response.json()) as { pid: number }).pid);
  }
  supervisor.kill("SIGKILL");
  await supervisor.exited;
  await untilGone(pids);
});
