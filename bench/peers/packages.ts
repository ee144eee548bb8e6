/**
 * Peers that are packages: installed once into a cache folder, at a pinned version, each with the
 * settings that its documentation recommends for production.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, homedir } from "node:os";
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

const litellmVersion = "1.106.2";
const portkeyVersion = "1.15.2";

const installTimeoutMs = 15 * 60_000;
/** LiteLLM imports for a while. */
const startTimeoutMs = 300_000;

export type PackageOptions = StartOptions & { readonly tell: (line: string) => void };

export async function startLitellm(options: PackageOptions): Promise<Contender> {
  const { children, dir, upstreamPort } = options;
  const folder = await installed({
    name: `litellm-${litellmVersion}`,
    tell: options.tell,
    commands: (target) => [
      ["python3", "-m", "venv", target],
      [join(target, "bin/pip"), "install", "--quiet", `litellm[proxy]==${litellmVersion}`],
    ],
  });
  const port = freePort();
  const configPath = join(dir, "litellm.yaml");
  // It accepts only keys that begin like this.
  const key = `sk-${someKey}`.slice(0, someKey.length);
  const model = ({ public: name, upstream }: { public: string; upstream: string }) => `
  - model_name: ${name}
    litellm_params: { model: openai/${upstream}, api_base: "http://127.0.0.1:${upstreamPort}/v1", api_key: upstream }`;
  writeFileSync(
    configPath,
    `model_list:${Object.values(models).map(model).join("")}
general_settings: { master_key: ${key} }
litellm_settings: { set_verbose: false, request_timeout: 600 }
`,
  );
  const workers = cpus().length;
  const proxy = children.start({
    name: "litellm",
    command: join(folder, "bin/litellm"),
    args: `--config ${configPath} --host 127.0.0.1 --port ${port} --num_workers ${workers}`.split(
      " ",
    ),
    env: {
      HOME: dir,
      LITELLM_MODE: "PRODUCTION",
      LITELLM_LOG: "ERROR",
      // Its list of prices would be fetched from the internet.
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
    },
    cwd: dir,
    talks: false,
  });
  await listening({ child: proxy, port, timeoutMs: startTimeoutMs });
  return {
    name: "litellm",
    title: "LiteLLM",
    version: litellmVersion,
    does: `master key, ${workers} workers; no database, so no keys of its own, limits or money`,
    port,
    proxy,
    keys: [key],
    models: publicModels,
    replyModel: publicModels.chat,
    isPeer: true,
  };
}

export async function startPortkey(options: PackageOptions): Promise<Contender> {
  const { children, dir, upstreamPort } = options;
  const folder = await installed({
    name: `portkey-${portkeyVersion}`,
    tell: options.tell,
    commands: (target) => [
      ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", target].concat(
        `@portkey-ai/gateway@${portkeyVersion}`,
      ),
    ],
  });
  const port = freePort();
  const node = Bun.which("node");
  if (node === null) throw new Error("Portkey needs node, which is not installed.");
  const proxy = children.start({
    name: "portkey",
    command: node,
    args: [
      join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js"),
      `--port=${port}`,
      "--headless",
    ],
    env: { HOME: dir, NODE_ENV: "production" },
    cwd: dir,
    talks: false,
  });
  await listening({ child: proxy, port, timeoutMs: startTimeoutMs });
  return {
    name: "portkey",
    title: "Portkey",
    version: portkeyVersion,
    does: "routes by headers; no keys of its own, limits or money",
    port,
    proxy,
    keys: [someKey],
    models: upstreamModels,
    replyModel: upstreamModels.chat,
    headers: [
      "x-portkey-provider: openai",
      `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`,
    ],
    isPeer: true,
  };
}

/** The folder of a package, installed before or now. A failed installation leaves nothing behind. */
async function installed(options: {
  readonly name: string;
  readonly tell: (line: string) => void;
  readonly commands: (target: string) => readonly (readonly string[])[];
}): Promise<string> {
  const { name, tell, commands } = options;
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const target = join(cache, "svc-gateway-bench", name);
  const mark = join(target, "installed");
  if (existsSync(mark)) return target;
  tell(`installing ${name}`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const command of commands(target)) {
    const child = Bun.spawn([...command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      timeout: installTimeoutMs,
    });
    const errors = await new Response(child.stderr).text();
    if ((await child.exited) === 0) continue;
    rmSync(target, { recursive: true, force: true });
    throw new Error(
      `${name} cannot be installed; --without leaves it out.\n${errors.slice(-1_000)}`,
    );
  }
  writeFileSync(mark, "");
  return target;
}
