import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OfferView } from "../../src/platform/provider-operations.ts";
import type { ProviderView } from "../../src/platform/provider-views.ts";
import { createHome, type Finished, type Home } from "../child.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { willingVendor } from "../fake/willing-vendor.ts";
import { standardManifest } from "../harness.ts";
import { startOnTerminal } from "../terminal.ts";

setDefaultTimeout(60_000);

const secret = "sk-upstream-0123456789-very-secret";

let upstream: FakeUpstream;
let home: Home;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.reset();
  upstream.replyWith(willingVendor);
  home = createHome();
});
afterEach(() => home.remove());

const provider = (line: string, options?: Parameters<Home["svc"]>[1]) =>
  home.svc(["provider", ...line.split(" ")], options);
const list = () => home.json<readonly ProviderView[]>(["provider", "list"]);
const config = () => readFileSync(home.configPath, "utf8");
const own = (more = "") => `add mine --base-url ${upstream.baseUrl} --allow-private${more}`;

function succeeds({ code, stderr, stdout }: Finished): string {
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

/** Every file that the commands have left, as bytes. */
function filesBeside(): readonly string[] {
  const root = dirname(home.configPath);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

describe("provider add", () => {
  test("connects a vendor by the key in its usual variable, which the file names", async () => {
    const environment = { GROQ_API_KEY: secret };
    const said = succeeds(await provider("add groq --no-models", { environment }));
    expect(said).toContain("+ provider groq");
    expect(config()).toContain("groq:\n    vendor: groq\n    api_key: ${GROQ_API_KEY}\n");
    expect(await list()).toMatchObject([
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
    expect(upstream.requests).toEqual([]);
  });

  test("keeps a key that is handed over in the store, encrypted, and in no file or output", async () => {
    const outputs = [
      await provider(own(" --key-stdin --all-models"), { stdin: `${secret}\n` }),
      await provider("list"),
      await provider("list --json"),
      await provider("test mine"),
      await provider("test mine --json"),
      await home.svc(["export"]),
      await home.svc(["apply", home.configPath, "--json"]),
      await provider("add mine --models another --unlisted --json"),
    ];
    for (const { code, stdout, stderr } of outputs) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(secret);
    }
    expect(config()).toContain("api_key: <stored>");
    const files = filesBeside();
    expect(files.length).toBeGreaterThan(2);
    for (const bytes of files) expect(bytes).not.toContain(secret);
    // The store has it: the upstream gets it.
    expect(upstream.requests.length).toBeGreaterThan(4);
    for (const { headers } of upstream.requests)
      expect(headers["authorization"]).toBe(`Bearer ${secret}`);
    expect(await list()).toMatchObject([{ api_key: { from: "store", variable: null } }]);
  });

  test("serves what it offers, at once, in the server that runs", async () => {
    const server = await home.serve();
    const said = succeeds(await provider(`add ollama --base-url ${upstream.baseUrl} --all-models`));
    for (const id of ["big-chat", "small-embed", "loud-tts"])
      expect(said).toContain(`+ model ${id}`);
    expect(said).not.toContain("whisper");
    const { key } = await home.json<{ key: string }>(["key", "create", "--account", "default"]);
    const reply = await fetch(`${server.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "big-chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(reply.status).toBe(200);
    expect(await server.stop()).toBe(0);
    // The file is known to the store: the next start has nothing to apply.
    const again = await home.serve();
    expect(again.stdout()).not.toContain("applied");
  });

  test("takes the models that are named by the upstream's names, unlisted ones with a word", async () => {
    const view = await home.json<{ added: { id: string }[] }>([
      "provider",
      ...own(" --models big-chat,unlisted-chat --unlisted").split(" "),
    ]);
    expect(view.added.map(({ id }) => id)).toEqual(["big-chat", "unlisted-chat"]);
    expect(config()).toContain("- { provider: mine, model: unlisted-chat }");
  });

  test("without a wish connects it, and tells how its models are served", async () => {
    const said = succeeds(await provider(own()));
    expect(said).toContain("offers 3 models; none is served yet");
    expect(config()).not.toContain("models:");
    const more = succeeds(await provider("add mine --models big-chat"));
    expect(more).toContain("+ model big-chat");
    expect(more).toContain("not served until it has one");
    expect((await list()).map(({ models }) => models)).toEqual([
      [{ id: "big-chat", upstream: ["big-chat"] }],
    ]);
  });

  test("leaves what the operator wrote as it is, and a dry run everything", async () => {
    const before = `# mine\nproviders:\n  up:   { kind: openai, base_url: "https://up.example/v1" }   # first\n`;
    home.writeConfig(before);
    const said = succeeds(await provider(own(" --all-models --dry-run")));
    expect(said).toContain("+ provider mine");
    expect(said).toContain("Nothing was changed");
    expect(config()).toBe(before);
    expect(await list()).toEqual([]);
    succeeds(await provider(own(" --no-models")));
    expect(config().startsWith(before)).toBe(true);
    expect((await list()).map(({ name }) => name)).toEqual(["mine", "up"]);
    expect(readdirSync(dirname(home.configPath)).filter((name) => name.endsWith("tmp"))).toEqual(
      [],
    );
  });

  test("changes nothing when the file, the address or the provider is wrong", async () => {
    const cases: readonly (readonly [string, string, number, string])[] = [
      ["models: { m: { endpoint: video } }\n", own(" --no-models"), 2, "endpoint must be one of"],
      ["settings: { prot: 1 }\n", own(" --no-models"), 2, "prot"],
      ["", `add mine --base-url ${upstream.baseUrl}`, 2, "--allow-private"],
      ["", "add nobody", 2, "svc provider add --help"],
      ["", "add groq --no-models", 2, "set GROQ_API_KEY"],
      [
        "",
        "add mine --base-url http://127.0.0.1:1/v1 --allow-private --all-models",
        1,
        "Nothing listens",
      ],
      ["", own(" --models a --all-models"), 2, "exclude each other"],
      ["providers: { mine: { vendor: ollama } }\n", own(), 4, "already"],
    ];
    for (const [text, line, code, words] of cases) {
      home.writeConfig(text);
      const { code: got, stderr } = await provider(line);
      expect([line, got]).toEqual([line, code]);
      expect(stderr).toContain(words);
      expect(config()).toBe(text);
    }
    home.writeConfig("");
    expect(await list()).toEqual([]);
  });

  test("refuses a key that no header can carry", async () => {
    for (const stdin of ["", "two words", "two\nlines", "schlüssel"]) {
      const { code, stdout, stderr } = await provider(own(" --key-stdin --no-models"), { stdin });
      expect(code).toBe(2);
      if (stdin !== "") expect(stdout + stderr).not.toContain(stdin);
    }
    expect(config()).toBe("");
  });

  test("undoes nothing that commands have set since the file was applied", async () => {
    home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
    succeeds(await home.svc(["apply", home.configPath]));
    succeeds(await home.svc(["price", "set", "svc-3-flash", "--input", "7", "--output", "8"]));
    const before = config();
    const { code, stderr } = await provider(own(" --no-models"));
    expect(code).toBe(4);
    expect(stderr).toContain("model svc-3-flash: price.input");
    expect(config()).toBe(before);
    succeeds(await home.svc(["apply", home.configPath]));
    succeeds(await provider(own(" --no-models")));
  });

  test("takes no other provider out of force because the file does not have it", async () => {
    const other = join(dirname(home.configPath), "other.yaml");
    writeFileSync(other, 'providers: { kept: { kind: openai, base_url: "https://k.example" } }\n');
    succeeds(await home.svc(["apply", other]));
    const { code, stderr } = await provider(own(" --no-models"));
    expect(code).toBe(4);
    expect(stderr).toContain("kept would go too");
    expect((await list()).map(({ name }) => name)).toEqual(["kept"]);
  });

  test("lists the vendors that are known in its help", async () => {
    const said = succeeds(await provider("add --help"));
    for (const word of ["groq", "Azure OpenAI", "OPENROUTER_API_KEY", "http://127.0.0.1:11434/v1"])
      expect(said).toContain(word);
  });
});

test("what is routed already is not proposed once more under another name", async () => {
  succeeds(await provider(own(" --all-models")));
  const before = config();
  const { proposals } = (
    await home.json<{ offer: OfferView }>(["provider", "add", "mine", "--all-models"])
  ).offer;
  expect(proposals).toEqual([]);
  expect(config()).toBe(before);
});

describe("on a terminal", () => {
  const run = (line: string) =>
    startOnTerminal(["provider", ...line.split(" ")], {
      SVC_DATA_DIR: home.dataDir,
      SVC_CONFIG: home.configPath,
      SVC_ENGINE: "off",
    });

  test("asks for the key without showing it, and which models to serve", async () => {
    const terminal = run(`add mistral --base-url ${upstream.baseUrl} --allow-private`);
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
    expect(config()).toContain("api_key: <stored>");
    expect((await list())[0]?.models.map(({ id }) => id)).toEqual(["big-chat", "loud-tts"]);
    expect(upstream.requests[0]?.headers["authorization"]).toBe(`Bearer ${secret}`);
  });

  test("ctrl-c at a question changes nothing", async () => {
    const asked = run(`add mistral --base-url ${upstream.baseUrl} --allow-private`);
    await asked.waitFor("it is kept encrypted):");
    asked.type("abc\u0003");
    expect(await asked.exited).toBe(130);
    const chosen = run(`add ollama --base-url ${upstream.baseUrl}`);
    await chosen.waitFor("Serve which?");
    chosen.type("\u0003");
    expect(await chosen.exited).toBe(130);
    expect(config()).toBe("");
    expect(await list()).toEqual([]);
  });

  test("asks before a model loses its last route", async () => {
    succeeds(await provider(`add ollama --base-url ${upstream.baseUrl} --models big-chat`));
    for (const [answer, left] of [
      ["no", ["ollama"]],
      ["yes", []],
    ] as const) {
      const terminal = run("remove ollama");
      await terminal.waitFor("Remove it?");
      terminal.type(`${answer}\r`);
      await terminal.exited;
      expect((await list()).map(({ name }) => name)).toEqual([...left]);
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
    home.writeConfig(manifest);
    succeeds(await home.svc(["apply", home.configPath]));
  });

  test("goes ahead by itself where every model keeps a route", async () => {
    const said = succeeds(await provider("remove two"));
    expect(said).toContain("- provider two, and 1 route to it");
    expect(config()).toContain(
      'one: { kind: openai, base_url: "https://one.example/v1" }   # the first',
    );
    expect((await list()).map(({ name }) => name)).toEqual(["one"]);
  });

  test("tells the warnings that the change brings, and counts the others", async () => {
    home.writeConfig(
      manifest.replace('"https://two.example/v1"', '"https://two.example/v1", api_key: "${TWO}"'),
    );
    succeeds(await home.svc(["apply", home.configPath]));
    const said = succeeds(await provider("remove one --yes"));
    expect(said).not.toMatch(/TWO/);
    expect(said).toContain("2 older warnings: svc apply FILE --dry-run");
    expect(said.match(/model alone has no route/g)?.length).toBe(1);
  });

  test("wants a word where a model would not be served any more, and says which", async () => {
    const { code, stderr } = await provider("remove one");
    expect(code).toBe(4);
    expect(stderr).toContain("Without one nobody serves alone");
    expect(config()).toBe(manifest);
    const planned = succeeds(await provider("remove one --dry-run"));
    expect(planned).toContain("model alone has no route any more");
    expect(config()).toBe(manifest);
    const view = await home.json<Record<string, unknown>>(["provider", "remove", "one", "--yes"]);
    expect(view).toMatchObject({
      provider: "one",
      routes: 2,
      emptied: ["alone"],
      unserved: ["alone"],
      applied: true,
    });
    expect((await list()).map(({ name }) => name)).toEqual(["two"]);
    const models = await home.json<{ id: string; served: boolean }[]>(["model", "list"]);
    expect(models.map(({ id, served }) => [id, served])).toEqual([
      ["alone", false],
      ["both", true],
    ]);
  });

  test("of one that nobody knows, or that is not in the file, says so", async () => {
    expect((await provider("remove nobody")).code).toBe(3);
    home.writeConfig("");
    const { code, stderr } = await provider("remove one --yes");
    expect(code).toBe(4);
    expect(stderr).toContain("in force, but not in");
    expect((await list()).map(({ name }) => name)).toEqual(["one", "two"]);
  });
});

test("the data directory holds no file with a key that a failed adding was given", async () => {
  const line = "add mine --base-url http://127.0.0.1:1/v1 --allow-private --key-stdin --all-models";
  const { code, stdout, stderr } = await provider(line, { stdin: secret });
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain(secret);
  expect(existsSync(home.dataDir)).toBe(true);
  for (const bytes of filesBeside()) expect(bytes).not.toContain(secret);
});
