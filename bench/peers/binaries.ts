/** Peers whose program is given by its path, each as its documentation recommends for production. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, listening } from "../load/ports.ts";
import { models } from "../load/traffic.ts";
import {
  type Contender,
  publicModels,
  type StartOptions,
  someKey,
  upstreamModels,
} from "./contender.ts";

export type BinaryOptions = StartOptions & { readonly path: string };

const startTimeoutMs = 30_000;

export async function startAisix(options: BinaryOptions): Promise<Contender> {
  const { path, children, upstreamPort } = options;
  const dir = folder(options, "aisix");
  const port = freePort();
  writeFileSync(
    join(dir, "config.yaml"),
    `resources_file: "${dir}/resources.yaml"
proxy: { addr: "127.0.0.1:${port}" }
admin: { addr: "127.0.0.1:${freePort()}", admin_keys: ["bench"] }
observability: { metrics: { prometheus: { addr: "127.0.0.1:${freePort()}" } } }
shutdown: { min_drain_secs: 0 }
`,
  );
  const model = ({ public: name, upstream }: { public: string; upstream: string }) =>
    `  - { display_name: ${name}, provider: openai, model_name: ${upstream}, provider_key: bench }\n`;
  writeFileSync(
    join(dir, "resources.yaml"),
    `_format_version: "1"
provider_keys:
  - { display_name: bench, provider: openai, adapter: openai, api_base: "http://127.0.0.1:${upstreamPort}/v1", api_key: upstream }
models:
${Object.values(models).map(model).join("")}api_keys:
  - { display_name: bench, key_env: BENCH_KEY, allowed_models: ["*"] }
`,
  );
  const args = ["--config", join(dir, "config.yaml")];
  const env = { BENCH_KEY: someKey, HOME: dir };
  const proxy = children.start({
    name: "aisix",
    command: path,
    args,
    env,
    cwd: dir,
    talks: false,
  });
  await listening({ child: proxy, port, timeoutMs: startTimeoutMs });
  return {
    name: "aisix",
    title: "aisix",
    version: versionOf([path, "--version"]),
    does: "one key, metrics, access log; no limits, no money",
    port,
    proxy,
    keys: [someKey],
    models: publicModels,
    replyModel: publicModels.chat,
    isPeer: true,
  };
}

export async function startGomodel(options: BinaryOptions): Promise<Contender> {
  const { path, children, upstreamPort } = options;
  const dir = folder(options, "gomodel");
  const port = freePort();
  const env = {
    HOME: dir,
    PORT: String(port),
    GOMODEL_MASTER_KEY: someKey,
    GOMODEL_CACHE_DIR: dir,
    SQLITE_PATH: join(dir, "gomodel.db"),
    // Its list of models and prices would be fetched from the internet; here, it gets none.
    MODEL_LIST_URL: `http://127.0.0.1:${upstreamPort}/models`,
    OPENAI_API_KEY: "upstream",
    OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    OPENAI_MODELS: Object.values(upstreamModels).join(","),
    CONFIGURED_PROVIDER_MODELS_MODE: "allowlist",
    LOG_LEVEL: "warn",
  };
  const proxy = children.start({
    name: "gomodel",
    command: path,
    args: [],
    env,
    cwd: dir,
    talks: false,
  });
  await listening({ child: proxy, port, timeoutMs: startTimeoutMs });
  return {
    name: "gomodel",
    title: "GoModel",
    version: versionOf([path, "-version"]),
    does: "master key, usage in SQLite in batches; no audit log, no limits, no model names of its own",
    port,
    proxy,
    keys: [someKey],
    models: upstreamModels,
    replyModel: upstreamModels.chat,
    isPeer: true,
  };
}

export async function startBifrost(options: BinaryOptions): Promise<Contender> {
  const { path, children, upstreamPort } = options;
  const dir = folder(options, "bifrost");
  const port = freePort();
  const prices = join(dir, "prices.json");
  writeFileSync(prices, "{}");
  const configuration = {
    client: { enable_logging: false },
    config_store: { enabled: false },
    logs_store: { enabled: false },
    // Its lists of prices and models would be fetched from the internet.
    framework: {
      pricing: { pricing_url: `file://${prices}`, model_parameters_url: `file://${prices}` },
    },
    providers: {
      openai: {
        keys: [{ name: "bench", value: "upstream", weight: 1, models: ["*"] }],
        network_config: {
          base_url: `http://127.0.0.1:${upstreamPort}`,
          allow_private_network: true,
        },
      },
    },
  };
  writeFileSync(join(dir, "config.json"), JSON.stringify(configuration));
  const proxy = children.start({
    name: "bifrost",
    command: path,
    args: ["-host", "127.0.0.1", "-port", String(port), "-app-dir", dir, "-log-level", "warn"],
    env: { HOME: dir, GOGC: "200" },
    cwd: dir,
    talks: false,
  });
  await listening({ child: proxy, port, timeoutMs: startTimeoutMs });
  return {
    name: "bifrost",
    title: "Bifrost",
    version: await bifrostVersion(port),
    does: "routes by the model's name; no keys of its own, no log, no limits, no money",
    port,
    proxy,
    keys: [someKey],
    models: {
      chat: `openai/${upstreamModels.chat}`,
      embeddings: `openai/${upstreamModels.embeddings}`,
      speech: `openai/${upstreamModels.speech}`,
    },
    replyModel: upstreamModels.chat,
    isPeer: true,
  };
}

/** It has no flag for it. */
async function bifrostVersion(port: number): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/version`, {
    signal: AbortSignal.timeout(10_000),
  });
  const version: unknown = reply.ok ? await reply.json() : undefined;
  return typeof version === "string" ? version.replace(/^v/, "") : "unknown";
}

function folder({ dir }: StartOptions, name: string): string {
  const path = join(dir, name);
  mkdirSync(path);
  return path;
}

/** The first line of what it prints, without its own name and how it was built. */
function versionOf(command: string[]): string {
  const { stdout, stderr } = Bun.spawnSync(command, { timeout: 10_000 });
  const [line = ""] = `${stdout.toString()}\n${stderr.toString()}`.trim().split("\n");
  const version = line
    .replace(/^[a-z]+ (version )?/i, "")
    .replace(/\(.*/, "")
    .trim();
  return version.slice(0, 40) || "unknown";
}
