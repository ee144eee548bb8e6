/** A server that takes part, and the servers that need no installation. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { type Stock, startGateway } from "../gateway/gateway.ts";
import { findNginx, startNginx } from "../load/nginx.ts";
import { type Child, type Children, proxyEnv } from "../load/processes.ts";
import { type ModelKind, models } from "../load/traffic.ts";

export type Contender = {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** What it does for a call in this run. */
  readonly does: string;
  readonly port: number;
  /** Absent for the direct way, which has no proxy to weigh. */
  readonly proxy: Child | undefined;
  readonly keys: readonly string[];
  readonly models: Readonly<Record<ModelKind, string>>;
  /** What chat replies name as their model. */
  readonly replyModel: string;
  /** Whole header lines that every request needs. */
  readonly headers?: readonly string[];
  /** A wrong reply of this one ends the bench; one of a peer is a result. */
  readonly isPeer: boolean;
  /** Takes part in these workloads only. */
  readonly onlyIn?: readonly string[];
};

export type StartOptions = {
  readonly children: Children;
  /** Of the bench; removed when it ends. */
  readonly dir: string;
  readonly upstreamPort: number;
};

export const publicModels: Contender["models"] = {
  chat: models.chat.public,
  embeddings: models.embeddings.public,
  speech: models.speech.public,
};
export const upstreamModels: Contender["models"] = {
  chat: models.chat.upstream,
  embeddings: models.embeddings.upstream,
  speech: models.speech.upstream,
};

/** As long as our keys are, so that all servers read as many bytes. */
export const someKey = "bench-key".padEnd(48, "x");

/** The generator and the upstream with nothing between them. */
export function direct(upstreamPort: number): Contender {
  return {
    name: "direct",
    title: "direct",
    version: "",
    does: "no proxy: the floor of every latency",
    port: upstreamPort,
    proxy: undefined,
    keys: [someKey],
    models: upstreamModels,
    replyModel: upstreamModels.chat,
    isPeer: false,
  };
}

export async function startBare({ children, upstreamPort }: StartOptions): Promise<Contender> {
  const args = ["bench/load/bare-proxy.ts", String(upstreamPort)];
  const proxy = children.start({ name: "bare proxy", args, env: proxyEnv, talks: true });
  return {
    name: "bare",
    title: "bare Bun proxy",
    version: Bun.version,
    does: "parses and rewrites JSON, nothing else",
    port: await proxy.ready(),
    proxy,
    keys: [someKey],
    models: publicModels,
    replyModel: publicModels.chat,
    isPeer: false,
  };
}

/** Undefined where nginx is not installed. */
export async function startPlainNginx(options: StartOptions): Promise<Contender | undefined> {
  const command = findNginx();
  if (command === undefined) return undefined;
  const { child, port, version } = await startNginx({ ...options, command });
  return {
    name: "nginx",
    title: "nginx",
    version,
    does: "passes bytes on, one worker per core, no access log; does not read JSON",
    port,
    proxy: child,
    keys: [someKey],
    models: upstreamModels,
    replyModel: upstreamModels.chat,
    isPeer: false,
  };
}

export type OursOptions = StartOptions & {
  readonly stock: Stock;
  readonly version: string;
  /** A folder in memory: nothing is synced to a disk. */
  readonly memoryDir?: string;
};

export async function startOurs(options: OursOptions): Promise<Contender> {
  const { children, dir, stock, version, memoryDir } = options;
  const name = memoryDir === undefined ? "svc" : "svc-memory";
  const dataDir = join(memoryDir ?? dir, name);
  cpSync(stock.dataDir, dataDir, { recursive: true });
  const { configPath, keys } = stock;
  const { child, port } = await startGateway({
    children,
    name,
    dataDir,
    configPath,
    env: proxyEnv,
  });
  return {
    name,
    title: memoryDir === undefined ? "svc gateway" : "svc gateway, store in memory",
    version,
    does:
      memoryDir === undefined
        ? "keys, limits, validation, hold and charge, a receipt on disk before the reply ends"
        : "the same, with its database on tmpfs: the time without the disk's",
    port,
    proxy: child,
    keys,
    models: publicModels,
    replyModel: publicModels.chat,
    isPeer: false,
    ...(memoryDir === undefined ? {} : { onlyIn: ["single", "first-token"] }),
  };
}
