/**
 * The bench of the embedded engine: how long a person waits after `npm start` on a fresh clone, and
 * what the models do from then on. It fails when a reply was wrong, never because it was slow.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, homedir, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectDir } from "../load/processes.ts";
import { Progress } from "../load/progress.ts";
import type { Gateway } from "./calls.ts";
import { copyCheckout } from "./clone.ts";
import {
  measureChat,
  measureIdle,
  measureMedia,
  measureSpeech,
  measureTexts,
  part,
  weighModel,
  weighServers,
} from "./parts.ts";
import { asJson, asText, type Figure, type Machine, type Part } from "./report.ts";
import { EngineServer } from "./server.ts";
import { measureSizes, measureStart } from "./start.ts";

const help = `bun bench/engine/run.ts [options]

Measures the embedded engine on this machine. See bench/README.md. It takes five to ten minutes,
downloads what a fresh clone downloads, and needs about 2 GB in the temporary folder.

  --quick   without the fresh clone: this checkout, and the weights in your own cache
  --json    results as JSON, with the figures of every round
  --help    show this help
`;

/** Long enough to work through a part, short enough to wait for. */
const idleS = 15;

const dir = mkdtempSync(join(tmpdir(), "svc-bench-engine-"));
const servers: EngineServer[] = [];
process.on("exit", () => {
  for (const server of servers) server.kill();
  removeFolder();
});
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
for (const [signal, code] of Object.entries(exitCodes)) {
  process.on(signal, () => process.exit(code));
}

try {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) process.stdout.write(help);
  else await bench(values);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}
process.exit();

async function bench(options: { readonly quick: boolean; readonly json: boolean }): Promise<void> {
  const machine = describeMachine();
  const progress = new Progress();
  progress.expect(options.quick ? 24 : 32);
  const tell = (line: string) => {
    progress.step(line);
    progress.tell(line);
  };
  const parts = options.quick ? await benchCheckout(tell) : await benchClone(tell);
  progress.end();
  process.stdout.write(`${(options.json ? asJson : asText)(machine, parts)}\n`);
  if (parts.every(({ problems }) => problems.length === 0)) return;
  process.exitCode = 1;
  process.stderr.write(`\nwhat the gateway said last:\n${servers.at(-1)?.lastWords() ?? ""}\n`);
}

type Tell = (line: string) => void;

async function benchClone(tell: Tell): Promise<readonly Part[]> {
  const clone = join(dir, "clone");
  const cacheDir = join(dir, "cache");
  copyCheckout(projectDir, clone);
  const options = { command: ["npm", "start"], cwd: clone, dataDir: join(dir, "data") };
  tell("npm start in a fresh clone");
  const cold = startServer({ ...options, env: { SVC_CACHE_DIR: cacheDir } });
  const title = "npm start on a fresh clone, no weights; npm's cache as it was";
  const first = await measureStart({ server: cold, title, cacheDir, isCold: true, tell });
  await cold.stop();
  tell("npm start once more");
  const env = { SVC_CACHE_DIR: cacheDir, SVC_ENGINE_IDLE_S: String(idleS) };
  const warm = startServer({ ...options, env });
  const second = await measureStart({
    server: warm,
    title: "npm start once more",
    cacheDir,
    knownKey: first.gateway.key,
    isCold: false,
    tell,
  });
  const sizes = measureSizes(clone, cacheDir);
  const rest = await benchModels({ server: warm, gateway: second.gateway, tell });
  return [first.part, second.part, sizes, ...rest];
}

async function benchCheckout(tell: Tell): Promise<readonly Part[]> {
  const cacheDir = process.env["SVC_CACHE_DIR"] || join(homedir(), ".cache", "svc-gateway");
  tell("starting this checkout");
  const server = startServer({
    command: [process.execPath, "--no-env-file", "src/main.ts", "serve"],
    cwd: projectDir,
    dataDir: join(dir, "data"),
    env: { SVC_CACHE_DIR: cacheDir, SVC_ENGINE_IDLE_S: String(idleS) },
  });
  const title = "svc serve in this checkout, with the weights of your own cache";
  const { gateway, part: start } = await measureStart({
    server,
    title,
    cacheDir,
    isCold: false,
    tell,
  });
  const rest = await benchModels({ server, gateway, tell });
  return [start, measureSizes(projectDir, cacheDir), ...rest];
}

type Models = { readonly server: EngineServer; readonly gateway: Gateway; readonly tell: Tell };

async function benchModels(options: Models): Promise<readonly Part[]> {
  const { server, tell } = options;
  const weights: Figure[] = [];
  // At once: an idle model is gone soon.
  const weighed = (model: string) => async (): Promise<readonly Figure[]> => {
    weights.push(...(await weighModel(server, model)));
    return [];
  };
  const chat = await part("Chat (svc-3-flash)", [() => measureChat(options), weighed("chat")]);
  const embeddings = await part("Embeddings (svc-embedding-2, multimodal-embedding-1)", [
    () => measureTexts(options),
    weighed("text"),
    () => measureMedia(options),
    weighed("image"),
  ]);
  const speech = await part("Speech (svc-2.5-flash-tts, svc-2.5-pro-tts)", [
    () => measureSpeech(options),
    weighed("speech"),
  ]);
  tell("memory");
  const memory = await part("Memory (RSS), each model just after its part", [
    async () => [...(await weighServers(server)), ...weights],
    () => measureIdle(server, idleS + 15),
  ]);
  return [chat, embeddings, speech, memory];
}

function startServer(
  options: Omit<ConstructorParameters<typeof EngineServer>[0], "logPath">,
): EngineServer {
  const config = join(dir, "svc.yaml");
  writeFileSync(config, "");
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const server = new EngineServer({
    ...options,
    // The operator's own models and settings have no place in a bench.
    env: { ...options.env, SVC_CONFIG: config },
    logPath: join(dir, `server-${servers.length}.log`),
  });
  servers.push(server);
  return server;
}

function describeMachine(): Machine {
  const processors = cpus();
  return {
    processors: processors.length,
    model: processors[0]?.model ?? "unknown",
    platform: `${process.platform} ${process.arch}`,
    bun: Bun.version,
    loadAverage: loadavg(),
  };
}

/** A process that was killed a moment ago may still be writing. */
function removeFolder(): void {
  for (let tries = 0; tries < 20; tries++) {
    try {
      return rmSync(dir, { recursive: true, force: true });
    } catch {
      Bun.sleepSync(100);
    }
  }
  process.stderr.write(`bench: ${dir} could not be removed\n`);
}
