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
    // Its lists of models and prices would be fetched from the internet.
    MODEL_LIST_URL: "",
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

function folder({ dir }: StartOptions, name: string): string {
  const path = join(dir, name);
  mkdirSync(path);
  return path;
}

function versionOf(command: string[]): string {
  const { stdout, stderr } = Bun.spawnSync(command, { timeout: 10_000 });
  const text = `${stdout.toString()}\n${stderr.toString()}`.trim();
  return /v?(\d+\.\d+\.\d+\S*)/.exec(text)?.[1] ?? text.split("\n")[0]?.slice(0, 60) ?? "unknown";
}
