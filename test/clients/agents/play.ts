import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { JsonObject } from "../../../src/call/chat.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import type { TestGateway } from "../../setup/harness.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { type Agent, type AgentReport, agentsFolder, type Scenario, type Start } from "./agent.ts";
import {
  compactedConversationOf,
  conversationOf,
  noteBefore,
  type Turn,
  task,
} from "./conversation.ts";

/** What became of one run of an agent. */
export interface Played {
  readonly turns: readonly Turn[];
  readonly code: number;
  /** What it printed, for the message of a check that fails. */
  readonly output: string;
  readonly report: () => AgentReport;
  /** The file after the run. */
  readonly note: string;
  /** What the vendor was sent, without what it refused. */
  readonly requests: readonly RecordedRequest[];
  readonly refused: readonly RecordedRequest[];
  readonly payer: Payer;
}

const longestRunMs = 50_000;
const main = resolve(import.meta.dir, "../../../src/main.ts");

/** Runs the agent on the task, in a folder that goes away with the run. */
export async function play(options: {
  readonly agent: Agent;
  readonly scenario: Scenario;
  readonly gateway: TestGateway;
}): Promise<Played> {
  const { agent, scenario, gateway } = options;
  // Agents name files by their real paths.
  const root = realpathSync(mkdtempSync(join(tmpdir(), "svc-agent-")));
  try {
    const folder = join(root, "work");
    const home = join(root, "home");
    const note = join(folder, "note.txt");
    mkdirSync(folder);
    writeFileSync(note, noteBefore);
    const tools = agent.tools(scenario.model);
    const { full } = scenario;
    const isCounted = full === "counted";
    const steps =
      full === undefined
        ? conversationOf(tools, note)
        : compactedConversationOf(tools, { note, isCounted });
    const payer = await openPayer(gateway);
    const refused = serveTurns({ gateway, scenario, steps });
    await connect({ agent, scenario, gateway, home });
    const begin = { key: payer.key, prompt: task, isResumed: false, home };
    let [code, stdout, stderr] = await run({ start: agent.start(begin), folder, home });
    if (typeof full === "function" && agent.endsWhenRefused === true) {
      if (code === 0) throw new Error(`the session went on by itself: ${stdout}`);
      const again = agent.start({ ...begin, prompt: "Go on.", isResumed: true });
      [code, stdout, stderr] = await run({ start: again, folder, home });
    }
    return {
      turns: steps.filter((step) => step !== "refusal"),
      code,
      output: `${stdout.slice(-4_000)}\n${stderr.slice(-2_000)}`,
      report: () => agent.read(stdout),
      note: readFileSync(note, "utf8"),
      requests: gateway.upstream.requests.filter((request) => !refused.includes(request)),
      refused,
      payer,
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function run(options: {
  readonly start: Start;
  readonly folder: string;
  readonly home: string;
}): Promise<[code: number, stdout: string, stderr: string]> {
  const { start, folder, home } = options;
  const [program, ...rest] = start.words;
  const child = Bun.spawn([programPath(program), ...rest], {
    cwd: folder,
    // Nothing of the machine's own settings (proxies, keys, sessions) has a say in what is checked.
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...start.environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: longestRunMs,
  });
  return Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
}

/** The n-th request that brings tools gets the n-th turn; one too many gets the last again. */
function serveTurns(options: {
  readonly gateway: TestGateway;
  readonly scenario: Scenario;
  readonly steps: readonly (Turn | "refusal")[];
}): readonly RecordedRequest[] {
  const { gateway, scenario, steps } = options;
  const refused: RecordedRequest[] = [];
  let next = 0;
  gateway.upstream.replyWith((request) => {
    const refusal = scenario.vendor.refuse?.(request);
    if (refusal !== undefined) {
      refused.push(request);
      return refusal;
    }
    const step = steps[Math.min(next++, steps.length - 1)];
    if (step === undefined) throw new Error("the conversation has no turns");
    if (step !== "refusal") return scenario.vendor.toStream(step);
    if (typeof scenario.full !== "function") throw new Error("the scenario has no refusal");
    return scenario.full();
  });
  return refused;
}

function programPath(name: string): string {
  const folder = process.env[agentsFolder];
  if (folder === undefined)
    throw new Error(`${agentsFolder} is not set: npm run test:clients -- --only agents sets it.`);
  return join(folder, "node_modules", ".bin", name);
}

/** Writes the agent's settings as people do: the real command, beside the running gateway. */
async function connect(options: {
  readonly agent: Agent;
  readonly scenario: Scenario;
  readonly gateway: TestGateway;
  readonly home: string;
}): Promise<void> {
  const { agent, scenario, gateway, home } = options;
  const { tool, file } = agent.connect;
  mkdirSync(home, { recursive: true });
  const words = ["connect", tool, "--model", scenario.model, "--write", "--yes"];
  const child = Bun.spawn([process.execPath, main, ...words, "--file", join(home, file)], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      SVC_DATA_DIR: gateway.dataDir,
      SVC_CONFIG: join(gateway.dataDir, "svc.yaml"),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code !== 0) throw new Error(`svc ${words.join(" ")} ended with ${code}: ${stdout}${stderr}`);
}

/** The JSON of a request; of none, an empty object. */
export const bodyOf = (request: RecordedRequest | undefined) => (request?.json ?? {}) as JsonObject;
