/** What `svc provider` asks on a terminal. */

import { describe, expect, test } from "bun:test";
import { chatAnswers, chatStreams, operatorErrors } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { succeeds } from "../../setup/outcomes.ts";
import { useProviderHome } from "../../setup/provider-home.ts";
import { startOnTerminal } from "../../setup/terminal.ts";

const secret = "sk-upstream-0123456789-very-secret";
const badKey = "sk-bad-0123456789-wxyz";

const stage = useProviderHome();

/** The environment of a command that shares the data directory. */
const own = () => ({
  SVC_DATA_DIR: stage.home.dataDir,
  SVC_CONFIG: stage.home.configPath,
  SVC_ENGINE: "off",
});

describe("svc provider", () => {
  const run = (line: string) => startOnTerminal(["provider", ...line.split(" ")], own());

  test("asks for the key without showing it, and which models to serve", async () => {
    const terminal = run(`add mistral --base-url ${stage.upstream.baseUrl} --allow-private`);
    await terminal.waitFor("(stored encrypted)");
    // The wrong letter is taken back.
    terminal.type(`${secret}x\u007f\r`);
    await terminal.waitFor("Which ones do you want to serve?");
    // The first, and the one below the second.
    terminal.type(" \u001b[B\u001b[B ");
    terminal.type("\r");
    expect(await terminal.exited).toBe(0);
    const screen = terminal.shown();
    expect(screen).toContain("Mistral AI offers 3 models");
    expect(screen).toContain("+ model big-chat");
    expect(screen).not.toContain(secret.slice(0, 8));
    expect((await stage.list())[0]?.models.map(({ id }) => id)).toEqual(["big-chat", "loud-tts"]);
    expect(stage.upstream.requests[0]?.headers["authorization"]).toBe(`Bearer ${secret}`);
  });

  test("ctrl-c at a question changes nothing", async () => {
    const asked = run(`add mistral --base-url ${stage.upstream.baseUrl} --allow-private`);
    await asked.waitFor("(stored encrypted)");
    asked.type("abc\u0003");
    expect(await asked.exited).toBe(130);
    const chosen = run(`add ollama --base-url ${stage.upstream.baseUrl}`);
    await chosen.waitFor("Which ones do you want to serve?");
    chosen.type("\u0003");
    expect(await chosen.exited).toBe(130);
    expect(await stage.list()).toEqual([]);
  });

  test("asks before a model loses its last route", async () => {
    succeeds(
      await stage.provider(`add ollama --base-url ${stage.upstream.baseUrl} --models big-chat`),
    );
    for (const [answer, left] of [
      ["n", ["ollama"]],
      ["y", []],
    ] as const) {
      const terminal = run("remove ollama");
      await terminal.waitFor("Remove it?");
      terminal.type(answer);
      await terminal.exited;
      expect((await stage.list()).map(({ name }) => name)).toEqual([...left]);
    }
  });
});

test("svc provider update asks for the key on a terminal, masked", async () => {
  succeeds(await stage.provider(`add ${stage.own(" --no-models")}`));
  const terminal = startOnTerminal(["provider", "update", "mine", "--key-stdin"], own());
  await terminal.waitFor("API key for mine");
  terminal.type(`${secret}\r`);
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown()).not.toContain(secret.slice(0, 8));
  expect((await stage.list())[0]?.api_key).toMatchObject({ from: "store" });
});

test("a rejected key is saved anyway by someone who says so in a terminal, and by nobody else", async () => {
  stage.upstream.replyWith((request) =>
    String(request.headers["authorization"]).includes(badKey)
      ? operatorErrors.badKey()
      : willingVendor(request),
  );
  const answered = async (answer: string) => {
    const terminal = startOnTerminal(
      ["provider", "add", ...stage.own(" --key-env MINE_API_KEY").split(" ")],
      { ...own(), MINE_API_KEY: badKey },
    );
    await terminal.waitFor("mine rejected the key (401");
    await terminal.waitFor("Save anyway?");
    terminal.type(answer);
    return { code: await terminal.exited, shown: terminal.shown() };
  };
  const refused = await answered("n");
  expect(refused.code).toBe(1);
  expect(refused.shown).toContain("Nothing was changed.");
  expect(await stage.list()).toEqual([]);
  const saved = await answered("y");
  expect([saved.code, saved.shown]).toEqual([0, expect.stringContaining("added mine")]);
  expect(await stage.list()).toMatchObject([
    { name: "mine", models: [], status: "failing", keys: [{ status: "failing" }] },
  ]);
});

test("a vendor that hangs does not hide the call before it, which is told at once", async () => {
  const gate = Promise.withResolvers<void>();
  stage.upstream.replyWith(({ body }) =>
    body.toString().includes('"stream":true')
      ? [{ until: gate.promise }, { send: chatStreams.openai().bytes }]
      : chatAnswers.plain(),
  );
  await stage.apply(`providers:
  p: { kind: openai, base_url: "${stage.upstream.baseUrl}", allow_private: true }
models:
  m: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: p, model: big-1 }] }
`);
  const terminal = startOnTerminal(["provider", "test", "p"], own());
  await terminal.waitFor("ok      chat            big-1");
  await terminal.waitFor("testing streamed chat   big-1");
  expect(terminal.shown()).not.toContain("ok      streamed chat");
  gate.resolve();
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown()).toContain("ok      streamed chat   big-1");
});
