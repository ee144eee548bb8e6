import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What one client did against the gateway. `npm run test:clients` saves the results in
 * `results.json` and writes `docs/compatibility.md` from them. Nobody edits either by hand.
 */
export interface ClientResult {
  readonly client: string;
  readonly version: string;
  readonly language: "TypeScript" | "Python" | "Go" | "agent";
  readonly checks: Readonly<Record<string, "passed" | "failed">>;
}

const resultsPath = join(import.meta.dir, "results.json");
const pagePath = join(import.meta.dir, "..", "..", "docs", "compatibility.md");

export function saveResult(result: ClientResult): void {
  const others = readResults().filter(({ client }) => client !== result.client);
  const results = [...others, result].toSorted(
    (a, b) => languages.indexOf(a.language) - languages.indexOf(b.language) || compare(a, b),
  );
  writeFileSync(resultsPath, `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(pagePath, toPage(results));
}

export function readResults(): readonly ClientResult[] {
  return existsSync(resultsPath) ? JSON.parse(readFileSync(resultsPath, "utf8")) : [];
}

const languages: readonly ClientResult["language"][] = ["TypeScript", "Python", "Go", "agent"];
const compare = (a: ClientResult, b: ClientResult) => (a.client < b.client ? -1 : 1);

export function toPage(results: readonly ClientResult[]): string {
  const rows = results.map(({ client, version, language, checks }) => {
    const all = Object.values(checks);
    const passed = all.filter((outcome) => outcome === "passed").length;
    const result =
      passed === all.length ? `all ${passed} passed` : `**${passed} of ${all.length}**`;
    return `| ${client} | ${version} | ${language} | ${result} |`;
  });
  const lists = results.map(({ client, checks }) => {
    const lines = Object.entries(checks).map(
      ([what, outcome]) => `- ${outcome === "passed" ? "" : "**failed:** "}${what}`,
    );
    return `## ${client}\n\n${lines.join("\n")}\n`;
  });
  return `# Tested clients

Each client ran against a real gateway. It was given a base URL and a key; if a check needs another
setting, its name says so. The gateway's upstream played recorded replies of vendors and of the
embedded models. Only the checks that start with "embedded models:" ran the models themselves.

Agents ran headless on a task: read a file, edit it, run a command. Their settings were written by
\`svc connect\`. The upstream played a recorded conversation with tool calls.

\`npm run test:clients\` runs all clients and writes this page, failed checks included. CI
runs the TypeScript clients too.

| client | version | language | result |
|---|---|---|---|
${rows.join("\n")}

${lists.join("\n")}`;
}
