import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { linesOf } from "../../../src/engine/lines.ts";
import type { ClientResult } from "../report.ts";
import { type InstalledPython, type PythonSet, pythonFolder, pythonSets } from "./install.ts";
import { goFolder } from "./machine.ts";

export const choices = [
  "python",
  "anthropic",
  "openai-agents",
  "langchain",
  "langchain-anthropic",
  "llamaindex",
  "go",
  "go-anthropic",
  "go-openai",
] as const;
export type Choice = (typeof choices)[number];

/** One client's program: what it is, and the checks that its sources define. */
export interface Program {
  readonly client: string;
  readonly version: string;
  readonly language: ClientResult["language"];
  readonly expected: readonly string[];
}

/** One file of checks for each, except the first: its checks are in every file that is no client. */
const pythonClients = {
  python: { client: "openai-python", pin: "openai", file: "openai_client.py" },
  anthropic: { client: "anthropic", pin: "anthropic", file: "anthropic_client.py" },
  "openai-agents": {
    client: "openai-agents",
    pin: "openai-agents",
    file: "openai_agents_client.py",
  },
  langchain: { client: "langchain-openai", pin: "langchain-openai", file: "langchain_client.py" },
  "langchain-anthropic": {
    client: "langchain-anthropic",
    pin: "langchain-anthropic",
    file: "langchain_anthropic_client.py",
  },
  llamaindex: {
    client: "llama-index-llms-openai-like",
    pin: "llama-index-llms-openai-like",
    file: "llamaindex_client.py",
  },
} as const;

/** In one program. The first has its checks in every file that is not another's. */
const goClients: Readonly<Record<GoChoice, GoClient>> = {
  go: { client: "openai-go", module: "openai-go/v3" },
  "go-anthropic": {
    client: "anthropic-sdk-go",
    module: "anthropic-sdk-go",
    file: "anthropic.go",
  },
  "go-openai": { client: "go-openai", module: "sashabaranov/go-openai", file: "go_openai.go" },
};

interface GoClient {
  readonly client: string;
  readonly module: string;
  readonly file?: string;
}

type GoChoice = "go" | "go-anthropic" | "go-openai";
type PythonChoice = Exclude<Choice, GoChoice>;

export const isGo = (choice: Choice): choice is GoChoice => choice in goClients;

/**
 * The names come from the sources, not from the program's own output: a program that dies, or a
 * file that nobody runs, leaves checks without a result.
 */
export function describeProgram(choice: Choice): Program {
  return isGo(choice) ? describeGo(choice) : describePython(choice);
}

function describeGo(choice: GoChoice): Program {
  const { client, module, file } = goClients[choice];
  const own = Object.values(goClients).map((one) => one.file);
  const isOwn = (path: string) =>
    file === undefined ? !own.some((name) => isFile(path, name)) : isFile(path, file);
  const pins = readFileSync(join(goFolder, "go.mod"), "utf8");
  return {
    client,
    version: found(new RegExp(`${module} v(\\S+)`), pins),
    language: "Go",
    expected: namesIn({
      paths: filesOf(goFolder, ".go").filter(isOwn),
      pattern: /^\t\{"([^"]+)", \w+\},$/gm,
    }),
  };
}

const isFile = (path: string, name: string | undefined) => basename(path) === name;

function describePython(choice: PythonChoice): Program {
  const { client, pin, file } = pythonClients[choice];
  const pins = readFileSync(join(pythonFolder, pythonSets[setOf(choice)]), "utf8");
  const isOwn = (path: string) =>
    choice === "python" ? !path.endsWith("_client.py") : isFile(path, file);
  return {
    client,
    version: found(new RegExp(`^${pin}==(\\S+)`, "m"), pins),
    language: "Python",
    expected: namesIn({
      paths: filesOf(pythonFolder, ".py").filter(isOwn),
      pattern: /^@check\(\s*"([^"]+)"\s*\)/gm,
    }),
  };
}

/** The environment that a Python client runs in. */
export const setOf = (choice: PythonChoice): PythonSet =>
  choice === "llamaindex" ? "llamaindex" : "python";

export interface CheckResult {
  readonly check: string;
  readonly ok: boolean;
  readonly error?: string;
}

/** How to start a client's program. */
export interface Start {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export type Installed = Partial<Record<PythonSet, InstalledPython>> & { readonly go?: string };

export function startOf(choice: Choice, installed: Installed): Start {
  if (isGo(choice)) return { words: [installed.go ?? "", choice], environment: {} };
  const python = installed[setOf(choice)];
  return {
    words: [python?.command ?? "", join(pythonFolder, pythonClients[choice].file)],
    environment: {
      TIKTOKEN_CACHE_DIR: python?.tokenTableFolder ?? "",
      // Compiled files belong beside the clients, not into the checkout.
      PYTHONPYCACHEPREFIX: python?.cacheFolder ?? "",
    },
  };
}

const longestRunMs = 600_000;

/** Runs the program to its end; every expected check has a result, said or not. */
export async function runProgram(options: {
  readonly program: Program;
  readonly start: Start;
  readonly environment: Readonly<Record<string, string>>;
  readonly onResult: (result: CheckResult) => void;
}): Promise<readonly CheckResult[]> {
  const { program, start, onResult } = options;
  const child = Bun.spawn([...start.words], {
    // Nothing of the machine's own settings (proxies, keys, tracing) has a say in what is checked.
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      ...options.environment,
      ...start.environment,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: longestRunMs,
  });
  const results = new Map<string, CheckResult>();
  const keep = (result: CheckResult) => {
    results.set(result.check, result);
    onResult(result);
  };
  const complaints = new Response(child.stderr).text();
  for await (const line of linesOf(child.stdout)) {
    const result = toResult(line);
    if (result !== undefined) keep(judged(result, { program, results }));
  }
  const code = await child.exited;
  const last = (await complaints).trim().split("\n").slice(-8).join("\n");
  const ending = `the program ended with ${code}\n${last}`.trim();
  for (const check of program.expected)
    if (!results.has(check)) keep({ check, ok: false, error: `no result; ${ending}` });
  if (code !== 0 && [...results.values()].every(({ ok }) => ok))
    keep({ check: "the program ends well", ok: false, error: ending });
  return [...results.values()];
}

/** A result for a check that no source names, or a second one, is a fault of the program. */
function judged(
  result: CheckResult,
  { program, results }: { program: Program; results: ReadonlyMap<string, CheckResult> },
): CheckResult {
  if (!program.expected.includes(result.check))
    return { ...result, ok: false, error: "no source of the program defines this check" };
  if (results.has(result.check)) return { ...result, ok: false, error: "it reported twice" };
  return result;
}

function toResult(line: string): CheckResult | undefined {
  try {
    const { check, ok, error } = JSON.parse(line);
    if (typeof check !== "string" || typeof ok !== "boolean") return undefined;
    return { check, ok, ...(error === undefined ? {} : { error: String(error) }) };
  } catch {
    return undefined;
  }
}

function filesOf(folder: string, ending: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

function namesIn(options: { readonly paths: readonly string[]; readonly pattern: RegExp }) {
  const names = options.paths.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(options.pattern)].map(([, name]) => name ?? ""),
  );
  if (names.length < 5) throw new Error(`few checks in ${options.paths.join(", ")}: ${names}`);
  return names;
}

function found(pattern: RegExp, text: string): string {
  const [, version] = pattern.exec(text) ?? [];
  if (version === undefined) throw new Error(`nothing is pinned by ${pattern}`);
  return version;
}
