/** The TypeScript suites, run by Bun's test runner. Its JUnit report has the results. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckResult } from "./programs.ts";

const clientsFolder = join(import.meta.dir, "..");
const root = join(clientsFolder, "..", "..");

export interface TypeScriptClient {
  /** The name of its suite: the npm package, unless that is named apart. */
  readonly client: string;
  readonly packageName?: string;
  readonly file: string;
  /** The package that the client runs in. */
  readonly beside?: string;
}

export const typeScriptClients: readonly TypeScriptClient[] = [
  { client: "@ai-sdk/anthropic", file: "ai-sdk.test.ts", beside: "ai" },
  { client: "@ai-sdk/openai-compatible", file: "ai-sdk.test.ts", beside: "ai" },
  { client: "@anthropic-ai/sdk", file: "anthropic.test.ts" },
  { client: "@langchain/anthropic", file: "langchain.test.ts" },
  { client: "@ai-sdk/openai", file: "ai-sdk.test.ts", beside: "ai" },
  { client: "@langchain/openai", file: "langchain.test.ts" },
  {
    client: "@langchain/openai (Responses)",
    file: "langchain.test.ts",
    packageName: "@langchain/openai",
  },
  { client: "@llamaindex/openai", file: "llamaindex.test.ts" },
  { client: "@openai/agents", file: "responses.test.ts" },
  { client: "openai", file: "openai.test.ts" },
  { client: "openai (Responses)", file: "responses.test.ts", packageName: "openai" },
];

export function versionOf({ client, packageName = client, beside }: TypeScriptClient): string {
  const within = beside === undefined ? "" : ` in ${beside} ${installedVersion(beside)}`;
  return `${installedVersion(packageName)}${within}`;
}

function installedVersion(packageName: string): string {
  const path = join(root, "node_modules", packageName, "package.json");
  return String(JSON.parse(readFileSync(path, "utf8")).version);
}

export interface TestRun {
  readonly code: number;
  /** JUnit XML; empty if the runner wrote none. */
  readonly report: string;
  readonly output: string;
}

const longestRunMs = 600_000;

export async function runTestFiles(options: {
  readonly files: readonly string[];
  readonly folder?: string;
  readonly timeoutMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<TestRun> {
  const { files, folder = clientsFolder, timeoutMs = 60_000 } = options;
  const reportFolder = mkdtempSync(join(tmpdir(), "svc-clients-"));
  const path = join(reportFolder, "junit.xml");
  try {
    const reporter = ["--reporter=junit", `--reporter-outfile=${path}`];
    // As in `npm test`: each file in a process of its own.
    const words = ["test", "--parallel=2", `--timeout=${timeoutMs}`, ...reporter];
    const child = Bun.spawn(
      [process.execPath, ...words, ...files.map((file) => join(folder, file))],
      {
        cwd: folder,
        env: { ...process.env, SVC_SAVE_RESULTS: "1", ...options.environment },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        timeout: longestRunMs,
      },
    );
    const [code, ...texts] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    const report = await Bun.file(path)
      .text()
      .catch(() => "");
    return { code, report, output: texts.join("") };
  } finally {
    rmSync(reportFolder, { recursive: true });
  }
}

/** What the runner calls a hook that failed. */
const hookName = "(unnamed)";
const loads = "the suite loads";

/**
 * The results of one suite. A suite that does not load, or whose `beforeAll` fails, reports none of
 * its checks: those that it had in an earlier run count as failed then.
 */
export function checksIn(options: {
  readonly report: string;
  readonly client: string;
  readonly earlier: readonly string[];
}): readonly CheckResult[] {
  const cases = testCases(options.report).filter(({ suite }) => suite === options.client);
  const results = new Map<string, CheckResult>();
  for (const { name, failure } of cases) {
    const check = name === hookName ? "the suite starts and stops" : name;
    const ok = failure === undefined;
    results.set(check, { check, ok, ...(ok ? {} : { error: failure }) });
  }
  if (cases.length === 0)
    results.set(loads, { check: loads, ok: false, error: "the file does not load" });
  const isWhole = cases.length > 0 && cases.every(({ name }) => name !== hookName);
  for (const check of isWhole ? [] : options.earlier)
    if (!results.has(check)) results.set(check, { check, ok: false, error: "no result" });
  return [...results.values()];
}

interface TestCase {
  readonly suite: string;
  readonly name: string;
  readonly failure?: string;
}

function testCases(report: string): readonly TestCase[] {
  return [...report.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, attributes = "", inside = ""]) => {
      const failure = failureIn(inside);
      return {
        suite: attributeOf(attributes, "classname"),
        name: attributeOf(attributes, "name"),
        ...(failure === undefined ? {} : { failure }),
      };
    },
  );
}

/** Undefined if the test passed. A skipped one did not. */
function failureIn(inside: string): string | undefined {
  if (inside.trim() === "") return undefined;
  const [, attributes = "", text = ""] = /<failure ([^>]*?)(?:\/>|>([^<]*))/.exec(inside) ?? [];
  const message = text === "" ? attributeOf(attributes, "message") : unescaped(text);
  return message === "" ? "skipped" : message.trim();
}

function attributeOf(attributes: string, name: string): string {
  const [, value = ""] = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes) ?? [];
  return unescaped(value);
}

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&amp;": "&",
  "&#10;": "\n",
};

const unescaped = (text: string) =>
  text.replaceAll(/&[^;]+;/g, (found) => entities[found] ?? found);
