import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OfferView } from "../../../../src/platform/providers/operations.ts";
import { standardManifest } from "../../../setup/harness.ts";
import { succeeds, useProviderHome } from "../../../setup/provider-home.ts";
import { startOnTerminal } from "../../../setup/terminal.ts";

setDefaultTimeout(60_000);

const secret = "sk-upstream-0123456789-very-secret";

const stage = useProviderHome();

/** Every file that the commands have left, as bytes. */
function filesBeside(): readonly string[] {
  const root = dirname(stage.home.configPath);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

describe("provider add", () => {
  test("connects a vendor by the key in its usual variable, which the file names", async () => {
    const environment = { GROQ_API_KEY: secret };
    const said = succeeds(await stage.provider("add groq --no-models", { environment }));
    expect(said).toContain("+ provider groq");
    expect(stage.config()).toContain("groq:\n    vendor: groq\n    api_key: ${GROQ_API_KEY}\n");
    expect(await stage.list()).toMatchObject([
      {
        name: "groq",
        kind: "openai",
        vendor: "groq",
        base_url: "https://api.groq.com/openai/v1",
        api_key: { from: "variable", variable: "GROQ_API_KEY", is_set: false },
        models: [],
        targets: null,
      },
    ]);
    expect(stage.upstream.requests).toEqual([]);
  });

  test("keeps a key that is handed over in the store, encrypted, and in no file or output", async () => {
    const outputs = [
      await stage.provider(`add ${stage.own(" --key-stdin --all-models")}`, {
        stdin: `${secret}\n`,
      }),
      await stage.provider("list"),
      await stage.provider("list --json"),
      await stage.provider("test mine"),
      await stage.provider("test mine --json"),
      await stage.home.svc(["export"]),
      await stage.home.svc(["apply", stage.home.configPath, "--json"]),
      await stage.provider("add mine --models another --unlisted --json"),
    ];
    for (const { code, stdout, stderr } of outputs) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(secret);
    }
    expect(stage.config()).toContain("api_key: <stored>");
    const files = filesBeside();
    expect(files.length).toBeGreaterThan(2);
    for (const bytes of files) expect(bytes).not.toContain(secret);
    // The store has it: the upstream gets it.
    expect(stage.upstream.requests.length).toBeGreaterThan(4);
    for (const { headers } of stage.upstream.requests)
      expect(headers["authorization"]).toBe(`Bearer ${secret}`);
    expect(await stage.list()).toMatchObject([{ api_key: { from: "store", variable: null } }]);
  });

  test("serves what it offers, at once, in the server that runs", async () => {
    const server = await stage.home.serve();
    const said = succeeds(
      await stage.provider(`add ollama --base-url ${stage.upstream.baseUrl} --all-models`),
    );
    for (const id of ["big-chat", "small-embed", "loud-tts"])
      expect(said).toContain(`+ model ${id}`);
    expect(said).not.toContain("whisper");
    const { key } = await stage.home.json<{ key: string }>([
      "key",
      "create",
      "--account",
      "default",
    ]);
    const reply = await fetch(`${server.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "big-chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(reply.status).toBe(200);
    expect(await server.stop()).toBe(0);
    // The file is known to the store: the next start has nothing to apply.
    const again = await stage.home.serve();
    expect(again.stdout()).not.toContain("applied");
  });

  test("takes the models that are named by the upstream's names, unlisted ones with a word", async () => {
    const view = await stage.home.json<{ added: { id: string }[] }>([
      "provider",
      "add",
      ...stage.own(" --models big-chat,unlisted-chat --unlisted").split(" "),
    ]);
    expect(view.added.map(({ id }) => id)).toEqual(["big-chat", "unlisted-chat"]);
    expect(stage.config()).toContain("- { provider: mine, model: unlisted-chat }");
  });

  test("without a wish connects it, and tells how its models are served", async () => {
    const said = succeeds(await stage.provider(`add ${stage.own()}`));
    expect(said).toContain("offers 3 models; none is served yet");
    expect(stage.config()).not.toContain("models:");
    const more = succeeds(await stage.provider("add mine --models big-chat"));
    expect(more).toContain("+ model big-chat");
    expect(more).toContain("not served until it has one");
    expect((await stage.list()).map(({ models }) => models)).toEqual([
      [{ id: "big-chat", upstream: ["big-chat"] }],
    ]);
  });

  test("leaves what the operator wrote as it is, and a dry run everything", async () => {
    const before = `# mine\nproviders:\n  up:   { kind: openai, base_url: "https://up.example/v1" }   # first\n`;
    stage.home.writeConfig(before);
    const said = succeeds(await stage.provider(`add ${stage.own(" --all-models --dry-run")}`));
    expect(said).toContain("+ provider mine");
    expect(said).toContain("Nothing was changed");
    expect(stage.config()).toBe(before);
    expect(await stage.list()).toEqual([]);
    succeeds(await stage.provider(`add ${stage.own(" --no-models")}`));
    expect(stage.config().startsWith(before)).toBe(true);
    expect((await stage.list()).map(({ name }) => name)).toEqual(["mine", "up"]);
    expect(
      readdirSync(dirname(stage.home.configPath)).filter((name) => name.endsWith("tmp")),
    ).toEqual([]);
  });

  test("changes nothing when the file, the address or the provider is wrong", async () => {
    const cases: readonly (readonly [string, string, number, string])[] = [
      [
        "models: { m: { endpoint: video } }\n",
        `add ${stage.own(" --no-models")}`,
        2,
        "endpoint must be one of",
      ],
      ["settings: { prot: 1 }\n", `add ${stage.own(" --no-models")}`, 2, "prot"],
      ["", `add mine --base-url ${stage.upstream.baseUrl}`, 2, "--allow-private"],
      ["", "add nobody", 2, "svc provider add --help"],
      ["", "add groq --no-models", 2, "set GROQ_API_KEY"],
      [
        "",
        "add mine --base-url http://127.0.0.1:1/v1 --allow-private --all-models",
        1,
        "Nothing listens",
      ],
      ["", `add ${stage.own(" --models a --all-models")}`, 2, "exclude each other"],
      ["providers: { mine: { vendor: ollama } }\n", `add ${stage.own()}`, 4, "already"],
    ];
    for (const [text, line, code, words] of cases) {
      stage.home.writeConfig(text);
      const { code: got, stderr } = await stage.provider(line);
      expect([line, got]).toEqual([line, code]);
      expect(stderr).toContain(words);
      expect(stage.config()).toBe(text);
    }
    stage.home.writeConfig("");
    expect(await stage.list()).toEqual([]);
  });

  test("refuses a key that no header can carry", async () => {
    for (const stdin of ["", "two words", "two\nlines", "schlüssel"]) {
      const { code, stdout, stderr } = await stage.provider(
        `add ${stage.own(" --key-stdin --no-models")}`,
        { stdin },
      );
      expect(code).toBe(2);
      if (stdin !== "") expect(stdout + stderr).not.toContain(stdin);
    }
    expect(stage.config()).toBe("");
  });

  test("undoes nothing that commands have set since the file was applied", async () => {
    stage.home.writeConfig(standardManifest.replaceAll("UPSTREAM", stage.upstream.baseUrl));
    succeeds(await stage.home.svc(["apply", stage.home.configPath]));
    succeeds(
      await stage.home.svc(["price", "set", "svc-3-flash", "--input", "7", "--output", "8"]),
    );
    const before = stage.config();
    const { code, stderr } = await stage.provider(`add ${stage.own(" --no-models")}`);
    expect(code).toBe(4);
    expect(stderr).toContain("model svc-3-flash: price.input");
    expect(stage.config()).toBe(before);
    succeeds(await stage.home.svc(["apply", stage.home.configPath]));
    succeeds(await stage.provider(`add ${stage.own(" --no-models")}`));
  });

  test("takes no other provider out of force because the file does not have it", async () => {
    const other = join(dirname(stage.home.configPath), "other.yaml");
    writeFileSync(other, 'providers: { kept: { kind: openai, base_url: "https://k.example" } }\n');
    succeeds(await stage.home.svc(["apply", other]));
    const { code, stderr } = await stage.provider(`add ${stage.own(" --no-models")}`);
    expect(code).toBe(4);
    expect(stderr).toContain("kept would go too");
    expect((await stage.list()).map(({ name }) => name)).toEqual(["kept"]);
  });

  test("lists the vendors that are known in its help", async () => {
    const said = succeeds(await stage.provider("add --help"));
    for (const word of ["groq", "Azure OpenAI", "OPENROUTER_API_KEY", "http://127.0.0.1:11434/v1"])
      expect(said).toContain(word);
  });
});

test("what is routed already is not proposed once more under another name", async () => {
  succeeds(await stage.provider(`add ${stage.own(" --all-models")}`));
  const before = stage.config();
  const { proposals } = (
    await stage.home.json<{ offer: OfferView }>(["provider", "add", "mine", "--all-models"])
  ).offer;
  expect(proposals).toEqual([]);
  expect(stage.config()).toBe(before);
});

describe("on a terminal", () => {
  const run = (line: string) =>
    startOnTerminal(["provider", ...line.split(" ")], {
      SVC_DATA_DIR: stage.home.dataDir,
      SVC_CONFIG: stage.home.configPath,
      SVC_ENGINE: "off",
    });

  test("asks for the key without showing it, and which models to serve", async () => {
    const terminal = run(`add mistral --base-url ${stage.upstream.baseUrl} --allow-private`);
    await terminal.waitFor("it is kept encrypted):");
    // The wrong letter is taken back.
    terminal.type(`${secret}x\u007f\r`);
    await terminal.waitFor("Serve which?");
    terminal.type("1,loud-tts\r");
    expect(await terminal.exited).toBe(0);
    const screen = terminal.shown();
    expect(screen).toContain("Mistral AI offers 3 models");
    expect(screen).toContain("+ model big-chat");
    expect(screen).not.toContain(secret.slice(0, 8));
    expect(stage.config()).toContain("api_key: <stored>");
    expect((await stage.list())[0]?.models.map(({ id }) => id)).toEqual(["big-chat", "loud-tts"]);
    expect(stage.upstream.requests[0]?.headers["authorization"]).toBe(`Bearer ${secret}`);
  });

  test("ctrl-c at a question changes nothing", async () => {
    const asked = run(`add mistral --base-url ${stage.upstream.baseUrl} --allow-private`);
    await asked.waitFor("it is kept encrypted):");
    asked.type("abc\u0003");
    expect(await asked.exited).toBe(130);
    const chosen = run(`add ollama --base-url ${stage.upstream.baseUrl}`);
    await chosen.waitFor("Serve which?");
    chosen.type("\u0003");
    expect(await chosen.exited).toBe(130);
    expect(stage.config()).toBe("");
    expect(await stage.list()).toEqual([]);
  });

  test("asks before a model loses its last route", async () => {
    succeeds(
      await stage.provider(`add ollama --base-url ${stage.upstream.baseUrl} --models big-chat`),
    );
    for (const [answer, left] of [
      ["no", ["ollama"]],
      ["yes", []],
    ] as const) {
      const terminal = run("remove ollama");
      await terminal.waitFor("Remove it?");
      terminal.type(`${answer}\r`);
      await terminal.exited;
      expect((await stage.list()).map(({ name }) => name)).toEqual([...left]);
    }
  });
});

describe("provider remove", () => {
  const manifest = `# mine
providers:
  one: { kind: openai, base_url: "https://one.example/v1" }   # the first
  two: { kind: openai, base_url: "https://two.example/v1" }
models:
  both: { endpoint: chat, price: { input: 1, output: 1 }, routes: [ { provider: one, model: a }, { provider: two, model: b } ] }
  alone:
    endpoint: chat
    price: { input: 1, output: 1 }
    routes:
      - { provider: one, model: a }   # only here
`;
  beforeEach(async () => {
    stage.home.writeConfig(manifest);
    succeeds(await stage.home.svc(["apply", stage.home.configPath]));
  });

  test("goes ahead by itself where every model keeps a route", async () => {
    const said = succeeds(await stage.provider("remove two"));
    expect(said).toContain("- provider two, and 1 route to it");
    expect(stage.config()).toContain(
      'one: { kind: openai, base_url: "https://one.example/v1" }   # the first',
    );
    expect((await stage.list()).map(({ name }) => name)).toEqual(["one"]);
  });

  test("tells the warnings that the change brings, and counts the others", async () => {
    stage.home.writeConfig(
      manifest.replace('"https://two.example/v1"', '"https://two.example/v1", api_key: "${TWO}"'),
    );
    succeeds(await stage.home.svc(["apply", stage.home.configPath]));
    const said = succeeds(await stage.provider("remove one --yes"));
    expect(said).not.toMatch(/TWO/);
    expect(said).toContain("2 older warnings: svc apply FILE --dry-run");
    expect(said.match(/model alone has no route/g)?.length).toBe(1);
  });

  test("wants a word where a model would not be served any more, and says which", async () => {
    const { code, stderr } = await stage.provider("remove one");
    expect(code).toBe(4);
    expect(stderr).toContain("Without one nobody serves alone");
    expect(stage.config()).toBe(manifest);
    const planned = succeeds(await stage.provider("remove one --dry-run"));
    expect(planned).toContain("model alone has no route any more");
    expect(stage.config()).toBe(manifest);
    const view = await stage.home.json<Record<string, unknown>>([
      "provider",
      "remove",
      "one",
      "--yes",
    ]);
    expect(view).toMatchObject({
      provider: "one",
      routes: 2,
      emptied: ["alone"],
      unserved: ["alone"],
      applied: true,
    });
    expect((await stage.list()).map(({ name }) => name)).toEqual(["two"]);
    const models = await stage.home.json<{ id: string; served: boolean }[]>(["model", "list"]);
    expect(models.map(({ id, served }) => [id, served])).toEqual([
      ["alone", false],
      ["both", true],
    ]);
  });

  test("of one that nobody knows, or that is not in the file, says so", async () => {
    expect((await stage.provider("remove nobody")).code).toBe(3);
    stage.home.writeConfig("");
    const { code, stderr } = await stage.provider("remove one --yes");
    expect(code).toBe(4);
    expect(stderr).toContain("in force, but not in");
    expect((await stage.list()).map(({ name }) => name)).toEqual(["one", "two"]);
  });
});

test("the data directory holds no file with a key that a failed adding was given", async () => {
  const line = "add mine --base-url http://127.0.0.1:1/v1 --allow-private --key-stdin --all-models";
  const { code, stdout, stderr } = await stage.provider(line, { stdin: secret });
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain(secret);
  expect(existsSync(stage.home.dataDir)).toBe(true);
  for (const bytes of filesBeside()) expect(bytes).not.toContain(secret);
});
