import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startForgettingProxy } from "../setup/forgetting-proxy.ts";
import { type Called, Cluster, type ClusterProcess, callOnce } from "./cluster.ts";
import type { Replication } from "./standby.ts";

/** One fault of the database, and what callers saw of it. */
export interface FaultRow {
  readonly fault: string;
  /** Replies by status and code, while the fault lasted and until calls were served again. */
  readonly replies: Readonly<Record<string, number>>;
  readonly vendorCalls: number;
  /** Vendor calls that were not served, and how many of them began after the first refusal. */
  readonly unpaid: number;
  readonly unpaidAfterRefusal: number;
  readonly longestCallMs: number;
  /** From the end of the fault to the first second in which every call was served. */
  readonly recoveredMs: number;
  readonly probes: string;
  /** Connections that the proxy forgot: none where the fault did not happen. */
  readonly forgotten: number;
  readonly lost: number;
  readonly problems: readonly string[];
  /** Only after a failover: where the loss is found, and how much of it. */
  readonly found?: FoundLoss;
}

interface Scene {
  readonly cluster: Cluster;
  readonly key: string;
  readonly gateway: ClusterProcess;
  /** What `svc doctor` says of the standby while there is one. */
  standbyWarning?: string;
}

interface Fault {
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The database does not answer for so long that the platform logs it. */
  readonly isAway?: boolean;
  /** Does the damage; resolves when the database could be reached again. */
  readonly run: (scene: Scene) => Promise<void>;
  /** How many milliseconds a gateway may take to end afterwards. */
  readonly stops?: boolean;
  /** A disk of its own for the database, of so many megabytes. */
  readonly diskMb?: number;
  /** The database has a standby, and there are two gateways. */
  readonly replication?: Replication;
}

interface FoundLoss {
  readonly doctorBefore: string;
  readonly inLogs: number;
  readonly inMetrics: number;
  readonly inDatabase: number;
  readonly byVerify: number;
  readonly doctorAfter: string;
  /** Of calls that began after the failover. */
  readonly lostAfterwards: number;
}

const seconds = (count: number) => Bun.sleep(count * 1_000);
let asked = 0;
const withIdempotencyKey = () => ({ "idempotency-key": `fault-${process.pid}-${++asked}` });

export const faults: Readonly<Record<string, Fault>> = {
  "forget-feed": {
    async run({ cluster }) {
      cluster.proxy?.forgetOn('from "changes"');
      await cluster.openAccount(`feed-${++asked}`, "1");
    },
  },
  "forget-claims": {
    headers: withIdempotencyKey,
    async run({ cluster }) {
      for (let at = 0; at < 2; at++) {
        cluster.proxy?.stall();
        await seconds(1);
        cluster.proxy?.forget();
        cluster.proxy?.pass();
        await seconds(3);
      }
    },
  },
  "forget-commit": {
    run: async ({ cluster }) => cluster.proxy?.forgetAnswerTo("svc_commit"),
  },
  "forget-loans": {
    async run({ cluster, gateway }) {
      const { key } = await cluster.openAccount(`loans-${++asked}`, "1");
      cluster.proxy?.forgetOn("svc_lend(");
      const startedMs = performance.now();
      const { status, code } = await callOnce(gateway, key);
      const tookMs = Math.round(performance.now() - startedMs);
      process.stderr.write(`the call that borrows: ${status} ${code} after ${tookMs} ms\n`);
    },
  },
  "forget-reports": {
    async run({ cluster }) {
      cluster.proxy?.forgetOn("set reports_done");
      // As a report does before it is read.
      await cluster.query("update report_requests set wanted = wanted + 1 where id = 1");
    },
  },
  "forget-all": {
    run: async ({ cluster }) => cluster.proxy?.forget(),
  },
  trickle: {
    run: async ({ cluster }) => cluster.proxy?.trickle(1_000),
  },
  "stop-while-silent": {
    stops: true,
    run: async ({ cluster }) => cluster.proxy?.stall(),
  },
  stopped: {
    isAway: true,
    async run({ cluster }) {
      await cluster.stopDatabase();
      await seconds(10);
      await cluster.startDatabase();
    },
  },
  frozen: {
    isAway: true,
    async run({ cluster }) {
      cluster.signalDatabase("SIGSTOP");
      await seconds(15);
      cluster.signalDatabase("SIGCONT");
    },
  },
  "failover-async": { replication: "asynchronous", run: failOver },
  "failover-sync": { replication: "synchronous", run: failOver },
  "disk-full": {
    diskMb: 400,
    async run({ cluster }) {
      const filler = join(cluster.databaseFolder, "filler");
      const { bavail, bsize } = statfsSync(cluster.databaseFolder);
      const blocks = Math.ceil((bavail * bsize) / 65_536) + 16;
      await new Promise((resolve) =>
        spawn("dd", ["if=/dev/zero", `of=${filler}`, "bs=64k", `count=${blocks}`], {
          stdio: "ignore",
        }).once("close", resolve),
      );
      await seconds(12);
      rmSync(filler);
    },
  },
};

const callers = 12;

async function failOver(scene: Scene): Promise<void> {
  scene.standbyWarning = await examine(scene.gateway, /standby/);
  await scene.cluster.failOver(3_000);
}

/** The findings of `svc doctor` that match, other than those in order. */
async function examine(gateway: ClusterProcess, wanted: RegExp): Promise<string> {
  const { checks } = JSON.parse(await gateway.run(["doctor", "--json"])) as {
    readonly checks: readonly { readonly state: string; readonly finding: string }[];
  };
  const found = checks.filter(({ state, finding }) => state !== "ok" && wanted.test(finding));
  return found.map(({ state, finding }) => `${state}: ${finding}`).join(" ");
}

async function findLoss(
  { cluster, standbyWarning, gateway }: Scene,
  lostAfterwards: number,
): Promise<FoundLoss> {
  let inLogs = 0;
  let inMetrics = 0;
  for (const one of cluster.gateways) {
    for (const [, count] of one.log.matchAll(/"receipts":(\d+)/g)) inLogs += Number(count);
    const text = await fetch(`${one.metricsOrigin}/metrics`).then((reply) => reply.text());
    inMetrics += Number(/^svc_lost_receipts_total (\d+)/m.exec(text)?.[1] ?? 0);
  }
  const [row] = await cluster.query<{ value: string }>(
    "select value from meta where key = 'lost_tails'",
  );
  const tails: readonly { readonly receipts?: number }[] = JSON.parse(row?.value ?? "[]");
  const { problems } = await cluster.verify();
  return {
    doctorBefore: standbyWarning ?? "",
    inLogs,
    inMetrics,
    inDatabase: tails.reduce((sum, { receipts = 0 }) => sum + receipts, 0),
    byVerify: problems.filter(({ kind }) => kind === "lost-receipts").length,
    lostAfterwards,
    doctorAfter: await examine(gateway, /missing/),
  };
}

/** One gateway on a database behind a proxy, under load. */
export async function runFault(name: string): Promise<FaultRow> {
  const fault = faults[name];
  if (fault === undefined)
    throw new Error(`--only must be one of ${Object.keys(faults).join(", ")}, not ${name}.`);
  const disk = fault.diskMb === undefined ? undefined : mountDisk(fault.diskMb);
  const cluster = await Cluster.start({
    gateways: fault.replication === undefined ? 1 : 2,
    ...(fault.replication && { replication: fault.replication }),
    through: (url) => startForgettingProxy(url),
    ...(disk === undefined ? {} : { databaseIn: disk }),
    environment: { SVC_OFFLINE_S: "60", SVC_GRACE_S: "4", SVC_LOG_LEVEL: "info" },
  });
  try {
    const [gateway] = cluster.gateways as [ClusterProcess];
    const { key } = await cluster.openAccount("faults", "1000");
    return await measure({ name, fault, scene: { cluster, key, gateway } });
  } finally {
    await cluster.stop();
    if (disk !== undefined) execFileSync("umount", ["-l", disk]);
  }
}

async function measure(of: {
  readonly name: string;
  readonly fault: Fault;
  readonly scene: Scene;
}): Promise<FaultRow> {
  const { fault, scene } = of;
  const { cluster, gateway, key } = scene;
  const calls: { readonly called: Called; readonly atMs: number; readonly tookMs: number }[] = [];
  const state: { isOver: boolean; unpaidAtRefusal?: number } = { isOver: false };
  const load = Array.from({ length: callers }, async (_, at) => {
    const target = cluster.gateways[at % cluster.gateways.length] ?? gateway;
    while (!state.isOver) {
      const atMs = performance.now();
      const called = await callOnce(target, key, fault.headers?.());
      calls.push({ called, atMs, tookMs: performance.now() - atMs });
      if (called.status !== 200) state.unpaidAtRefusal ??= unpaidOf(cluster, calls);
      await Bun.sleep(called.status === 200 ? 5 : 50);
    }
  });
  const probes = watchProbes(gateway);
  await seconds(2);
  const vendorBefore = cluster.upstream.requests.length;
  const faultMs = performance.now();
  await fault.run(scene);
  const endedMs = performance.now();
  if (fault.stops === true) await gateway.stop();
  const stoppedMs = performance.now() - endedMs;
  if (fault.stops !== true) await seconds(15);
  state.isOver = true;
  if (fault.stops === true) {
    cluster.proxy?.pass();
    await gateway.start();
  }
  await Promise.all(load);
  const bad = calls.filter(({ called, atMs }) => called.status !== 200 && atMs >= faultMs);
  const lastBad = Math.max(endedMs, ...bad.map(({ atMs, tookMs }) => atMs + tookMs));
  const slow = calls.filter(({ atMs, tookMs }) => atMs >= faultMs && tookMs > 1_000);
  const lastSlow = Math.max(endedMs, ...slow.map(({ atMs, tookMs }) => atMs + tookMs));
  return toRow({
    ...of,
    ...state,
    calls,
    faultMs,
    endedMs,
    recoveredMs: fault.stops === true ? stoppedMs : Math.max(lastBad, lastSlow) - endedMs,
    vendorBefore,
    probes: probes.stop(),
  });
}

const unpaidOf = ({ upstream }: Cluster, calls: readonly { readonly called: Called }[]) =>
  upstream.requests.length - calls.filter(({ called }) => called.status === 200).length;

async function toRow(of: {
  readonly name: string;
  readonly fault: Fault;
  readonly scene: Scene;
  readonly calls: readonly { called: Called; atMs: number; tookMs: number }[];
  readonly faultMs: number;
  readonly endedMs: number;
  readonly recoveredMs: number;
  readonly vendorBefore: number;
  readonly unpaidAtRefusal?: number;
  readonly probes: string;
}): Promise<FaultRow> {
  const { name, fault, scene, calls, faultMs, endedMs, recoveredMs, vendorBefore, probes } = of;
  const { cluster } = scene;
  const during = calls.filter(({ atMs, tookMs }) => atMs + tookMs >= faultMs);
  const replies: Record<string, number> = {};
  for (const { called } of during) {
    const { status, code, retryAfter } = called;
    const after = status === 503 && retryAfter === null ? " without Retry-After" : "";
    const reply = `${status} ${code}${after}`.trim();
    replies[reply] = (replies[reply] ?? 0) + 1;
  }
  const served = calls.filter(({ called }) => called.status === 200);
  const ids = served.map(({ called }) => called.requestId);
  const unpaid = unpaidOf(cluster, calls);
  const charged = await cluster.charged(ids);
  const findings = await cluster.verify();
  const isFailover = faults[name]?.replication !== undefined;
  const lostAfterwards = served.filter(
    ({ atMs }, at) => atMs >= endedMs && charged[at] === undefined,
  ).length;
  return {
    fault: name,
    replies,
    vendorCalls: cluster.upstream.requests.length - vendorBefore,
    unpaid,
    unpaidAfterRefusal: Math.max(0, unpaid - (of.unpaidAtRefusal ?? unpaid)),
    longestCallMs: Math.round(Math.max(0, ...during.map(({ tookMs }) => tookMs))),
    recoveredMs: Math.round(recoveredMs),
    probes,
    forgotten: cluster.proxy?.forgotten ?? 0,
    lost: charged.filter((nano) => nano === undefined).length + ids.length - new Set(ids).size,
    problems: [
      ...findings.problems.map(
        ({ kind, subject, expected, found }) => `${kind} ${subject}: ${expected}, not ${found}`,
      ),
      ...(fault.isAway === true ? unsaid(cluster.platform) : []),
    ],
    ...(isFailover && { found: await findLoss(scene, lostAfterwards) }),
  };
}

/** Which of its lines about the database the platform did not log. */
const unsaid = ({ log }: ClusterProcess) =>
  ["cannot reach the database", "can reach the database again"]
    .filter((line) => !log.includes(line))
    .map((line) => `the platform did not log: ${line}`);

/** Asked as an orchestrator does: whether it ever seemed dead, and how long an answer took. */
function watchProbes({ origin }: ClusterProcess): { stop(): string } {
  let longestMs = 0;
  let dead = 0;
  let unready = 0;
  const timer = setInterval(async () => {
    const startedMs = performance.now();
    const ask = (path: string) =>
      fetch(`${origin}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    const [alive, ready] = await Promise.all([ask("/healthz"), ask("/readyz")]);
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    if (alive !== 200) dead++;
    if (ready !== 200) unready++;
  }, 250);
  return {
    stop() {
      clearInterval(timer);
      return `healthz not 200: ${dead}, readyz not 200: ${unready}, longest ${Math.round(longestMs)} ms`;
    },
  };
}

/** As root alone. */
function mountDisk(sizeMb: number): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMb}m,mode=0777`, "tmpfs", folder]);
  return folder;
}
