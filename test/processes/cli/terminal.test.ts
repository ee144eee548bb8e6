/** What commands ask and show on a terminal. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LocalServer, startLocalServer } from "../../fake/local-server.ts";
import { startOnTerminal } from "../../setup/terminal.ts";
import { useHome } from "../../setup/use-home.ts";

let ollama: LocalServer;
const home = useHome();

beforeAll(() => {
  ollama = startLocalServer();
});
afterAll(() => ollama.stop());

/** The environment of a command that shares the data directory. */
const own = () => ({
  SVC_DATA_DIR: home.dataDir,
  SVC_CONFIG: home.configPath,
  SVC_ENGINE: "off",
});

const config = () => readFileSync(home.configPath, "utf8");
const exported = async () => (await home.svc("export")).stdout;
const served = async () =>
  (await home.json<{ id: string; served: boolean }[]>("model list"))
    .filter((model) => model.served)
    .map(({ id }) => id);

describe("svc init", () => {
  const open = (words: readonly string[] = []) =>
    startOnTerminal(["init", ...words], {
      ...own(),
      PATH: process.env["PATH"] ?? "",
      HOME: dirname(home.configPath),
      OLLAMA_HOST: ollama.host,
    });

  test("asks which to connect and which models to take, shows it, asks again and adds it", async () => {
    const terminal = open();
    await terminal.waitFor("Which providers do you want to connect?");
    await terminal.waitFor("ollama  Ollama");
    terminal.type("\r");
    await terminal.waitFor("Ollama offers 2 models. Which ones do you want to serve?");
    // Both are chosen to begin with; the second is taken away.
    terminal.type("\u001b[B ");
    terminal.type("\r");
    await terminal.waitFor("+ model llama3.2:3b");
    await terminal.waitFor("Add these?");
    expect(await served()).toEqual([]);
    terminal.type("y");
    await terminal.waitFor("1 provider, 1 model");
    await terminal.waitFor("npm start");
    expect(await terminal.exited).toBe(0);
    expect(await served()).toEqual(["llama3.2:3b"]);
    expect(config()).toBe("");
  });

  test("changes nothing at a no", async () => {
    const terminal = open(["--provider", "ollama", "--models", "llama3.2:3b"]);
    await terminal.waitFor("Add these?");
    terminal.type("n");
    await terminal.waitFor("Nothing was changed.");
    expect(await terminal.exited).toBe(0);
    expect(await served()).toEqual([]);
  });

  test("a preset asks for the markup, again where the answer is none", async () => {
    const terminal = open(["--preset", "google"]);
    await terminal.waitFor("Markup on the vendors' prices, in percent");
    terminal.type("a lot\r");
    await terminal.waitFor("such as 20");
    terminal.type("\u0015");
    terminal.type("20 %\r");
    await terminal.waitFor("Add these?");
    terminal.type("y");
    await terminal.waitFor("GEMINI_API_KEY is not set");
    expect(await terminal.exited).toBe(0);
    expect(await exported()).toMatch(/price:\n\s+input: "0\.60"/);
  });

  test("ctrl-c leaves nothing behind, and says so", async () => {
    const terminal = open();
    await terminal.waitFor("Which providers do you want to connect?");
    terminal.type("\r");
    await terminal.waitFor("Which ones do you want to serve?");
    terminal.type("\u0003");
    await terminal.waitFor("Stopped. Nothing was changed.");
    expect(await terminal.exited).toBe(130);
    expect(await served()).toEqual([]);
  });
});

const elsewhere = ["--url", "https://models.example", "--model", "svc-3-flash"];

test("svc connect --write asks first, and no is the usual answer", async () => {
  const root = dirname(home.configPath);
  const folder = join(root, ".codex");
  const path = join(folder, "config.toml");
  mkdirSync(folder);
  writeFileSync(path, "a = 1\n");
  const start = () =>
    startOnTerminal(["connect", "codex", ...elsewhere, "--write"], { ...own(), HOME: root });
  const declined = start();
  await declined.waitFor("Write this file?");
  expect(declined.shown()).toContain('+ model = "svc-3-flash"');
  declined.type("\r");
  expect(await declined.exited).toBe(1);
  expect(declined.shown()).toContain("Nothing was changed.");
  expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["a = 1\n", ["config.toml"]]);
  const agreed = start();
  await agreed.waitFor("Write this file?");
  agreed.type("y");
  expect(await agreed.exited).toBe(0);
  expect(readFileSync(path, "utf8")).toContain("models.example");
});

test("output is colored at a terminal, and plain with NO_COLOR, on a dumb one and in a pipe", async () => {
  const escape = "\u001b";
  const listed = async (environment: Record<string, string>) => {
    const terminal = startOnTerminal(["account", "list"], { ...own(), ...environment });
    await terminal.exited;
    return terminal.shown();
  };
  await home.json("account create acme");
  expect(await listed({ NO_COLOR: "", TERM: "xterm-256color" })).toContain(escape);
  for (const plain of [{ NO_COLOR: "1" }, { NO_COLOR: "", TERM: "dumb" }]) {
    const text = await listed(plain);
    expect(text).toContain("acme");
    expect(text).not.toContain(escape);
  }
  for (const words of [["--help"], ["account", "list"], ["config"], ["nonsense"]]) {
    const { stdout, stderr } = await home.svc(words, { environment: { TERM: "xterm" } });
    expect(stdout + stderr).not.toContain(escape);
  }
});

test("a wait for a model that is loading is one line, and a model's words cannot drive it", async () => {
  let asked = 0;
  const error = (message: string) => ({
    error: { message, type: "server_error", param: null, code: "model_loading" },
  });
  const spoken = { choices: [{ index: 0, delta: { content: "\u001b[2J\tA\u0007" } }] };
  using gateway = Bun.serve({
    port: 0,
    fetch: () =>
      ++asked < 3
        ? Response.json(error(`step ${asked}`), { status: 503, headers: { "retry-after-ms": "1" } })
        : new Response(`data: ${JSON.stringify(spoken)}\n\ndata: [DONE]\n\n`),
  });
  const words = `chat Hi --model m --key k --url ${gateway.url.href}`.split(" ");
  const terminal = startOnTerminal(words, own());
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown()).toBe("\r\rstep 1\r      \rstep 2\r      \r[2J\tA\r\n");
});
