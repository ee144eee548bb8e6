import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { devDependencies } from "../../package.json";
import { checkNames } from "./agents/agent.ts";
import { agents } from "./agents/agents.ts";
import { type ClientResult, readResults, toPage } from "./report.ts";
import { agentVersion } from "./runner/install.ts";
import { choices, describeProgram } from "./runner/programs.ts";
import { typeScriptClients } from "./runner/typescript.ts";

const read = (path: string) => readFileSync(join(import.meta.dir, path), "utf8");
const results = readResults();
const versionOf = (client: string) => results.find((result) => result.client === client)?.version;

test("docs/compatibility.md is the page of the saved results, word for word", () => {
  expect(read("../../docs/compatibility.md")).toBe(toPage(results));
});

test("the results are those of every client that test:clients runs", () => {
  const programs = choices.map((choice) => describeProgram(choice));
  const clients = [...typeScriptClients, ...programs, ...agents].map(({ client }) => client);
  expect(results.map(({ client }) => client).toSorted()).toEqual(clients.toSorted());
  // Each TypeScript suite compares its own list of checks.
  for (const { client, expected } of programs) {
    const saved = results.find((result) => result.client === client);
    expect(Object.keys(saved?.checks ?? {}).toSorted()).toEqual(expected.toSorted());
  }
  for (const agent of agents) {
    const saved = results.find((result) => result.client === agent.client);
    expect(Object.keys(saved?.checks ?? {})).toEqual([...checkNames(agent)]);
  }
});

test("each result has the version that is pinned", () => {
  const pinned = (line: RegExp, file: string) => line.exec(read(file))?.[1] ?? "not pinned";
  expect(versionOf("openai")).toBe(devDependencies.openai);
  expect(versionOf("@ai-sdk/openai-compatible")).toBe(
    `${devDependencies["@ai-sdk/openai-compatible"]} in ai ${devDependencies.ai}`,
  );
  expect(versionOf("@langchain/openai")).toBe(devDependencies["@langchain/openai"]);
  expect(versionOf("@llamaindex/openai")).toBe(devDependencies["@llamaindex/openai"]);
  const python = "python/requirements.txt";
  expect(versionOf("openai-python")).toBe(pinned(/^openai==(\S+)/m, python));
  for (const client of ["anthropic", "langchain-anthropic", "langchain-openai", "openai-agents"])
    expect(versionOf(client)).toBe(pinned(new RegExp(`^${client}==(\\S+)`, "m"), python));
  const like = "llama-index-llms-openai-like";
  expect(versionOf(like)).toBe(
    pinned(new RegExp(`^${like}==(\\S+)`, "m"), "python/llamaindex-requirements.txt"),
  );
  expect(versionOf("openai-go")).toBe(pinned(/openai-go\/v\d+ v(\S+)/, "go/go.mod"));
  for (const client of ["anthropic-sdk-go", "go-openai"])
    expect(versionOf(client)).toBe(pinned(new RegExp(`/${client} v(\\S+)`), "go/go.mod"));
});

test("each agent's result has the version that is pinned", () => {
  for (const { client } of agents) expect(versionOf(client)).toBe(agentVersion(client));
});

test("a failed check shows in the table and in the list", () => {
  const result: ClientResult = {
    client: "a",
    version: "1.0.0",
    language: "Go",
    checks: { chats: "passed", streams: "failed" },
  };
  const page = toPage([result]);
  expect(page).toContain("| a | 1.0.0 | Go | **1 of 2** |");
  expect(page).toContain("- chats\n- **failed:** streams");
});
