/**
 * Our gateway as an operator would run it: `main.ts serve` with everything on, SQLite in a directory
 * of its own, one provider (the bench's upstream), a model per endpoint, thousands of accounts and
 * keys. Those are made once, by a gateway that then stops; every gateway under test begins with a copy.
 */
import { Database } from "bun:sqlite";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectControl } from "../../src/platform/control-socket.ts";
import { freePort } from "../load/ports.ts";
import { type Child, type Children, projectDir } from "../load/processes.ts";
import { models } from "../load/traffic.ts";
import { firstAccount, makeStock } from "./stock.ts";

export type GatewayOptions = {
  readonly children: Children;
  readonly name: string;
  readonly dataDir: string;
  readonly configPath: string;
  readonly env: Readonly<Record<string, string>>;
  /** What `main.ts` is called with; default: `serve`. */
  readonly words?: readonly string[];
  /** A script of the bench that serves in place of `main.ts serve`. */
  readonly script?: string;
  /** The script answers questions. */
  readonly talks?: boolean;
  /** A checkout whose `main.ts` serves; without it, this one. */
  readonly root?: string | undefined;
};

export type Gateway = { readonly child: Child; readonly port: number };

export type Stock = {
  readonly dataDir: string;
  readonly configPath: string;
  readonly keys: readonly string[];
};

const listenTimeoutMs = 30_000;
const readyTimeoutMs = 60_000;

export function hasGateway(): boolean {
  return existsSync(join(projectDir, "src/main.ts"));
}

/** A data directory with all accounts and keys in it, whose gateway has stopped. */
export async function prepareStock(options: {
  readonly children: Children;
  /** Of the bench; removed by its owner. */
  readonly dir: string;
  readonly upstreamPort: number;
  readonly accounts: number;
  readonly keys: number;
  readonly env: Readonly<Record<string, string>>;
  readonly tell: (line: string) => void;
  readonly root?: string;
}): Promise<Stock> {
  const { children, dir, upstreamPort, accounts, keys, env, tell, root } = options;
  const configPath = join(dir, "svc.yaml");
  writeFileSync(configPath, manifest(upstreamPort));
  const dataDir = join(dir, "stock");
  const { child } = await startGateway({ children, name: "stock", dataDir, configPath, env, root });
  try {
    tell(`making ${accounts} accounts and ${keys} keys`);
    const made = await makeStock({ dataDir, accounts, keys, tell });
    await child.stop();
    return { dataDir, configPath, keys: made };
  } catch (error) {
    throw withLastWords(error, child);
  }
}

/** A data directory of its own with the same in it. */
export function copyStock({ dataDir }: Stock, name: string): string {
  const copy = join(dataDir, "..", name);
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { children, name, dataDir, configPath, script, talks = false, root = "" } = options;
  const { words = ["serve"] } = options;
  const port = freePort();
  const child = children.start({
    name,
    args: script === undefined ? [join(root, "src/main.ts"), ...words] : [script],
    env: {
      ...options.env,
      SVC_PORT: String(port),
      SVC_PLATFORM_PORT: String(freePort()),
      SVC_DATA_DIR: dataDir,
      SVC_CONFIG: configPath,
      SVC_FIRST_KEY: "off",
    },
    talks,
  });
  try {
    if (talks) await child.ready();
    // A gateway without a platform has no control socket.
    if (words[0] === "gateway") await whenReady(port);
    else await listening(child, dataDir);
    return { child, port };
  } catch (error) {
    throw withLastWords(error, child);
  }
}

/** Where the control socket answers, this is asked once as a rule: the socket opens last. */
export async function whenReady(port: number): Promise<void> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  while (performance.now() < deadlineMs) {
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (reply?.status === 200) return;
    await Bun.sleep(20);
  }
  throw new Error(`the gateway was not ready within ${readyTimeoutMs} ms`);
}

/** Makes a gateway write its sums by hour now, which it puts off for up to a minute. */
export async function writeSums(dataDir: string): Promise<void> {
  const control = await connectControl(dataDir);
  if (control === undefined) throw new Error("the gateway has no control socket");
  await control.operations.accounts.show({ account: firstAccount });
}

/** Of a gateway that has stopped: how many calls it has charged, and that did not end well. */
export function countReceipts(dataDir: string): { readonly ok: number; readonly other: number } {
  const database = new Database(join(dataDir, "svc.db"));
  try {
    const count = database.query<{ ok: number; other: number }, []>(
      "select count(*) filter (where outcome = 'ok' and charged > 0) as ok, count(*) filter (where outcome <> 'ok' or charged = 0) as other from receipts",
    );
    return count.get() ?? { ok: 0, other: 0 };
  } finally {
    database.close();
  }
}

export function manifest(upstreamPort: number): string {
  const { chat, embeddings, speech } = models;
  return `providers:
  bench: { kind: openai, base_url: "http://127.0.0.1:${upstreamPort}/v1", api_key: "literal", allow_private: true }
models:
  ${chat.public}:
    endpoint: chat
    owned_by: svc
    max_output_tokens: 8192
    price: { input: "0.30", output: "2.50" }
    routes: [ { provider: bench, model: ${chat.upstream}, weight: 1 } ]
  ${embeddings.public}:
    endpoint: embeddings
    input: text
    price: { input: "0.02" }
    routes: [ { provider: bench, model: ${embeddings.upstream} } ]
  ${speech.public}:
    endpoint: speech
    price: { input: "0.50", audio_output: "10" }
    routes: [ { provider: bench, model: ${speech.upstream}, voices: same } ]
`;
}

/** The control socket is the last that a gateway opens: who answers there serves calls, too. */
async function listening(child: Child, dataDir: string): Promise<void> {
  const deadlineMs = performance.now() + listenTimeoutMs;
  while (performance.now() < deadlineMs) {
    if (child.ended) throw new Error(`${child.name} ended instead of listening`);
    if ((await connectControl(dataDir)) !== undefined) return;
    // Nothing of the gateway's tells the bench when it is there.
    await Bun.sleep(50);
  }
  throw new Error(`${child.name} did not listen within ${listenTimeoutMs} ms`);
}

function withLastWords(error: unknown, child: Child): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`${reason}\n${child.lastWords()}`, { cause: error });
}
