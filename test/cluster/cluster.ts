import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { openStore, withLedger, withStore } from "../../src/app/store.ts";
import { newId } from "../../src/base/ids.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { type LedgerFindings, verifyLedger } from "../../src/ledger/verify/verify.ts";
import type { Operations } from "../../src/platform/operations.ts";
import { embeddingsReply } from "../fake/recordings.ts";
import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../fake/upstream.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";
import type { ForgettingProxy } from "../setup/forgetting-proxy.ts";
import { freePort } from "../setup/platform-home.ts";
import { createFolder, type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { type Replication, StandbyPair } from "./standby.ts";

/** Costs exactly its hold: one image. */
export const model = "images";
export const callNano = 100_000n;
export const callUsd = "0.0001";
const png = `data:image/png;base64,${Buffer.from(fixtureBytes("tiny.png")).toString("base64")}`;

const manifest = (baseUrl: string, usd = callUsd) => `
providers:
  fake: { kind: openai, base_url: "${baseUrl}", api_key: k, allow_private: true }
models:
  ${model}: { endpoint: embeddings, input: media, price: { image: "${usd}", video_second: 0 }, routes: [{ provider: fake, model: upstream-media }] }
`;

/** It is stopped without a warning: what it has confirmed must be on the disk. */
const durable = { fsync: "on", synchronous_commit: "on", full_page_writes: "on" };

const main = resolve(import.meta.dir, "../../src/main.ts");

/** One gateway or the platform, as a process of its own with a data directory of its own. */
export class ClusterProcess {
  readonly name: string;
  readonly origin: string;
  readonly metricsOrigin: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #role: string;
  #child: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
  #log = "";

  constructor(options: {
    readonly name: string;
    readonly role: string;
    readonly port: string;
    readonly environment: Readonly<Record<string, string>>;
  }) {
    this.name = options.name;
    this.origin = `http://127.0.0.1:${options.port}`;
    this.metricsOrigin = `http://127.0.0.1:${options.environment["SVC_METRICS_PORT"]}`;
    this.#role = options.role;
    this.#environment = options.environment;
  }

  get log(): string {
    return this.#log;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get exited(): Promise<number> {
    return this.#child?.exited ?? Promise.resolve(0);
  }

  get isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when it takes calls. */
  async start(): Promise<void> {
    const child = Bun.spawn([process.execPath, "--no-env-file", main, this.#role], {
      env: { ...process.env, ...this.#environment },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    this.#child = child;
    void this.#read(child.stderr);
    const path = this.#role === "gateway" ? "/readyz" : "/healthz";
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${this.name} ended: ${this.#log}`);
      const reply = await fetch(`${this.origin}${path}`).catch(() => undefined);
      if (reply?.ok === true) return;
      await Bun.sleep(50);
    }
  }

  /** What a command prints that runs as this process does. */
  async run(words: readonly string[]): Promise<string> {
    const child = Bun.spawn([process.execPath, "--no-env-file", main, ...words], {
      env: { ...process.env, ...this.#environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    return new Response(child.stdout).text();
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const bytes of stream) this.#log += new TextDecoder().decode(bytes);
  }

  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }

  async stop(): Promise<number> {
    this.#child?.kill("SIGTERM");
    return (await this.#child?.exited) ?? 0;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(name);
  }
}

export interface ClusterOptions {
  readonly gateways: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** What stands between the gateways and the database; commands go straight to it. */
  readonly through?: (url: string) => Promise<ForgettingProxy>;
  /** Where the database has its files. */
  readonly databaseIn?: string;
  /** The database has a standby. */
  readonly replication?: Replication;
}

/** Gateways and a platform on one real PostgreSQL, in front of one fake vendor. */
export class Cluster {
  readonly gateways: readonly ClusterProcess[];
  readonly platform: ClusterProcess;
  readonly upstream: FakeUpstream;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #postgres: PostgresServer;
  readonly #pair: StandbyPair | undefined;
  readonly proxy: ForgettingProxy | undefined;

  private constructor(options: {
    readonly folder: string;
    readonly postgres: PostgresServer;
    readonly pair: StandbyPair | undefined;
    readonly upstream: FakeUpstream;
    readonly gateways: number;
    readonly environment: Readonly<Record<string, string>>;
    readonly proxy: ForgettingProxy | undefined;
  }) {
    const { folder, postgres, upstream, gateways, environment, proxy } = options;
    this.proxy = proxy;
    this.#folder = folder;
    this.#postgres = postgres;
    this.#pair = options.pair;
    this.#environment = environment;
    this.upstream = upstream;
    const open = (name: string, role: "gateway" | "platform") => {
      const port = freePort();
      return new ClusterProcess({
        name,
        role,
        port,
        environment: {
          ...environment,
          ...(proxy === undefined ? {} : { SVC_DATABASE_URL: proxy.url }),
          SVC_NODE: name,
          SVC_DATA_DIR: join(folder, name),
          [role === "gateway" ? "SVC_PORT" : "SVC_PLATFORM_PORT"]: port,
          SVC_METRICS_PORT: freePort(),
        },
      });
    };
    this.gateways = Array.from({ length: gateways }, (_, at) => open(`node-${at + 1}`, "gateway"));
    this.platform = open("platform", "platform");
  }

  static async start({
    gateways,
    environment = {},
    through,
    databaseIn,
    replication,
  }: ClusterOptions): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), "svc-cluster-"));
    const pair = replication && (await StandbyPair.start({ replication, settings: durable }));
    const postgres =
      pair?.primary ??
      (await startPostgres({ folder: createFolder(databaseIn), settings: durable }));
    const proxy = await through?.(postgres.url);
    const upstream = await startFakeUpstream();
    upstream.replyWith(oneVectorEach);
    writeFileSync(join(folder, "svc.yaml"), manifest(upstream.baseUrl));
    const cluster = new Cluster({
      folder,
      postgres,
      pair,
      upstream,
      gateways,
      proxy,
      environment: {
        SVC_DATABASE_URL: postgres.url,
        SVC_SECRET: "a secret that all machines of a cluster share",
        SVC_CONFIG: join(folder, "svc.yaml"),
        SVC_ENGINE: "off",
        SVC_FIRST_KEY: "off",
        SVC_LOG_LEVEL: "warn",
        SVC_OFFLINE_S: "1",
        SVC_MAX_CALL_S: "3",
        SVC_GRACE_S: "1",
        ...environment,
      },
    });
    await cluster.setPrice(callNano);
    await Promise.all([...cluster.gateways, cluster.platform].map((one) => one.start()));
    return cluster;
  }

  /** As a command does: straight to the database. */
  operate<T>(run: (operations: Operations) => Promise<T>): Promise<T> {
    return withStore(this.#configuration(), run, { createsStore: true });
  }

  verify(): Promise<LedgerFindings> {
    return withLedger(this.#configuration(), (reader) => verifyLedger(reader));
  }

  /** Of each of these requests, what its receipt charged; undefined where there is none. */
  charged(ids: readonly string[]): Promise<readonly (bigint | undefined)[]> {
    return withLedger(this.#configuration(), async (reader) => {
      const charged: (bigint | undefined)[] = [];
      for (const id of ids) {
        const receipt = await reader.receipt(id);
        charged.push(receipt?.outcome === "ok" ? receipt.charged : undefined);
      }
      return charged;
    });
  }

  /** Applies the file; returns when all gateways have it. */
  async setPrice(nano: bigint): Promise<void> {
    const text = manifest(this.upstream.baseUrl, `0.${String(nano).padStart(9, "0")}`);
    await this.operate((operations) =>
      operations.manifest.apply({ text, file: "svc.yaml", dryRun: false, isOwnFile: true }),
    );
  }

  #configuration() {
    return loadConfiguration({
      ...this.#environment,
      SVC_DATABASE_URL: this.#postgres.url,
      SVC_DATA_DIR: join(this.#folder, "commands"),
    });
  }

  /** With its own money and key. */
  async openAccount(name: string, usd: string): Promise<{ readonly key: string; id: string }> {
    return this.operate(async ({ accounts, keys, entries }) => {
      const { id } = await accounts.create({ name });
      await entries.add({ account: id, kind: "credit", usd });
      const { key } = await keys.create({ account: id, name: "k" });
      return { key, id };
    });
  }

  /** Straight in the database: a command would return only when the gateways have heard of it. */
  async revokeWithoutWaiting(id: string): Promise<void> {
    const opened = await openStore(this.#configuration(), { kind: "command" });
    const audit = {
      id: newId("audit"),
      atMs: Date.now(),
      actor: { kind: "command" as const, id: "", name: "test" },
      accountId: undefined,
      action: "key.revoke",
      subject: id,
      detail: {},
      address: "",
    };
    await opened.store.keys.revoke(id, Date.now(), audit);
    await opened.close();
  }

  /** Straight to the database, past all that gateways and commands know. */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = new Client({ connectionString: this.#postgres.url });
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  async restartDatabase(): Promise<void> {
    await this.stopDatabase();
    await this.startDatabase();
  }

  async stopDatabase(): Promise<void> {
    await this.#postgres.stop();
  }

  async startDatabase(): Promise<void> {
    const { folder, port } = this.#postgres;
    this.#postgres = await startPostgres({ folder, port, settings: durable });
  }

  /** The standby is behind by this long when the primary is lost, and takes over. */
  async failOver(behindMs: number): Promise<void> {
    const pair = this.#pair;
    if (pair === undefined) throw new Error("This cluster has no standby.");
    pair.cut();
    await Bun.sleep(behindMs);
    this.signalDatabase("SIGKILL");
    await pair.promote();
    this.#postgres = pair.standby;
    this.proxy?.retarget(pair.standby.url);
  }

  get databaseFolder(): string {
    return this.#postgres.folder;
  }

  /** To all its processes. */
  signalDatabase(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    for (const pid of serverProcesses(this.#postgres.folder)) process.kill(pid, signal);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.gateways, this.platform].map((one) => one.kill()));
    await this.proxy?.close();
    await this.#postgres.stop();
    await this.#pair?.stop();
    await this.upstream.stop();
    for (const folder of [this.#folder, this.#postgres.folder])
      rmSync(folder, { recursive: true, force: true });
  }
}

/** The postmaster, and what it has started. */
function serverProcesses(folder: string): readonly number[] {
  const [first] = readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n");
  const postmaster = Number(first);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
  return [postmaster, ...children.trim().split(" ").filter(Boolean).map(Number)];
}

function oneVectorEach(request: RecordedRequest) {
  // `svc doctor` asks for the list of models.
  if (request.body.length === 0) return embeddingsReply({ vectors: [] });
  const { input } = request.json as { readonly input: unknown };
  const count = Array.isArray(input) ? input.length : 1;
  return embeddingsReply({ vectors: Array.from({ length: count }, () => [0.5]) });
}

export interface Called {
  /** 0: no reply came. */
  readonly status: number;
  readonly requestId: string;
  readonly code: string;
  readonly retryAfter: string | null;
}

/** One call that costs `callNano`; to its last byte. */
export async function callOnce(
  { origin }: Pick<ClusterProcess, "origin">,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Called> {
  try {
    const response = await fetch(`${origin}/v1/embeddings`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ model, input: [png] }),
    });
    const body = (await response.json()) as { readonly error?: { readonly code: string } };
    return {
      status: response.status,
      requestId: response.headers.get("x-request-id") ?? "",
      code: body.error?.code ?? "",
      retryAfter: response.headers.get("retry-after"),
    };
  } catch {
    return { status: 0, requestId: "", code: "", retryAfter: null };
  }
}
