/**
 * Our gateway as an operator would run it: `main.ts serve` with everything on, SQLite in a directory
 * of its own, one provider (the bench's upstream), one model, and many keys over several accounts.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, type Children, projectDir } from "./processes.ts";
import { publicModel, upstreamModel } from "./traffic.ts";

export type GatewayOptions = {
  readonly children: Children;
  /** Of the bench; removed by its owner. */
  readonly dir: string;
  readonly upstreamPort: number;
  readonly accounts: number;
  readonly keys: number;
  readonly env: Readonly<Record<string, string>>;
  readonly tell: (line: string) => void;
};

export type Gateway = {
  readonly child: Child;
  readonly port: number;
  readonly keys: readonly string[];
};

const listenTimeoutMs = 30_000;
const commandTimeoutMs = 20_000;
/** Keys are made by one command each; a slow machine then runs with fewer, and the report says so. */
const keysTimeoutMs = 60_000;

export function hasGateway(): boolean {
  return existsSync(join(projectDir, "src/main.ts"));
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { children, dir, upstreamPort, tell } = options;
  const port = freePort();
  const configPath = join(dir, "svc.yaml");
  writeFileSync(configPath, manifest(upstreamPort));
  const env = {
    ...options.env,
    SVC_PORT: String(port),
    SVC_PLATFORM_PORT: String(freePort()),
    SVC_DATA_DIR: join(dir, "data"),
    SVC_CONFIG: configPath,
    SVC_FIRST_KEY: "off",
  };
  const child = children.start({
    name: "gateway",
    args: ["src/main.ts", "serve"],
    env,
    talks: false,
  });
  try {
    await listening(child, port);
    tell(`making up to ${options.keys} keys over ${options.accounts} accounts`);
    return { child, port, keys: await makeKeys({ ...options, env }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\n${child.lastWords()}`, { cause: error });
  }
}

function manifest(upstreamPort: number): string {
  return `providers:
  bench: { kind: openai, base_url: "http://127.0.0.1:${upstreamPort}/v1", api_key: "literal", allow_private: true }
models:
  ${publicModel}:
    endpoint: chat
    owned_by: svc
    max_output_tokens: 8192
    price: { input: "0.30", output: "2.50" }
    routes: [ { provider: bench, model: ${upstreamModel}, weight: 1 } ]
`;
}

/** Free when asked; the gateway takes it a moment later, and a loss of that race ends the bench. */
function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

async function listening(child: Child, port: number): Promise<void> {
  const deadlineMs = performance.now() + listenTimeoutMs;
  while (performance.now() < deadlineMs) {
    if (child.ended) throw new Error("the gateway ended instead of listening");
    try {
      const probe = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      return void probe.end();
    } catch {
      // Refused: not there yet. Nothing of the gateway's tells the bench when it is.
      await Bun.sleep(50);
    }
  }
  throw new Error(`the gateway did not listen within ${listenTimeoutMs} ms`);
}

async function makeKeys(options: GatewayOptions): Promise<readonly string[]> {
  const deadlineMs = performance.now() + keysTimeoutMs;
  const accountIds: string[] = [];
  for (let index = 0; index < Math.min(options.accounts, options.keys); index++) {
    if (index > 0 && performance.now() > deadlineMs) break;
    const made = await command(["account", "create", `bench-${index}`], options);
    accountIds.push(field(made, "id"));
  }
  const keys: string[] = [];
  for (let index = 0; index < options.keys; index++) {
    if (index > 0 && performance.now() > deadlineMs) break;
    const account = accountIds[index % accountIds.length] ?? "";
    const made = await command(["key", "create", "--account", account], options);
    keys.push(field(made, "key"));
  }
  return keys;
}

async function command(args: readonly string[], { env }: GatewayOptions): Promise<unknown> {
  const run = Bun.spawn([process.execPath, "--no-env-file", "src/main.ts", ...args, "--json"], {
    cwd: projectDir,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: commandTimeoutMs,
  });
  // A command that outlived an interrupted bench would make the removed data directory again.
  const kill = () => run.kill("SIGKILL");
  process.prependOnceListener("exit", kill);
  const [output, complaint, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  process.off("exit", kill);
  if (code === 0) return JSON.parse(output);
  throw new Error(`svc ${args.join(" ")} ended with ${code}: ${complaint.trim()}`);
}

function field(value: unknown, name: string): string {
  const found: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof found === "string") return found;
  throw new Error(`a command of the gateway answered without "${name}"`);
}
