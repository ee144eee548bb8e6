import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { refusal, succeeds } from "../../../setup/outcomes.ts";
import { useProviderHome } from "../../../setup/provider-home.ts";

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
  test("connects a vendor by the key in its usual variable, which is stored by its name", async () => {
    const environment = { GROQ_API_KEY: secret };
    const said = succeeds(await stage.provider("add groq --no-models --no-test", { environment }));
    expect(said).toContain("+ provider groq");
    expect(await stage.exported()).toContain("api_key: ${GROQ_API_KEY}\n");
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
      await stage.home.svc("export"),
      await stage.provider("add mine --models another --unlisted --json"),
    ];
    for (const { code, stdout, stderr } of outputs) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(secret);
    }
    expect(await stage.exported()).toContain("api_key: <stored>");
    const files = filesBeside();
    expect(files.length).toBeGreaterThan(2);
    for (const bytes of files) expect(bytes).not.toContain(secret);
    // The store has it: the upstream gets it.
    expect(stage.upstream.requests.length).toBeGreaterThan(4);
    for (const { headers } of stage.upstream.requests)
      expect(headers["authorization"]).toBe(`Bearer ${secret}`);
    expect(await stage.list()).toMatchObject([{ api_key: { from: "store", variable: null } }]);
  });

  test("without a wish connects it, and tells how its models are served", async () => {
    const said = succeeds(await stage.provider(`add ${stage.own()}`));
    expect(said).toContain("offers 3 models. None is served yet");
    expect((await stage.list())[0]?.models).toEqual([]);
    const more = succeeds(await stage.provider("add mine --models big-chat"));
    expect(more).toContain("+ model big-chat");
    expect(more).toContain("No list price found. Set a price to serve this model.");
    expect(more.match(/big-chat.*(no price|No list price)/g)?.length).toBe(1);
    expect((await stage.list()).map(({ models }) => models)).toEqual([
      [{ id: "big-chat", upstream: ["big-chat"] }],
    ]);
  });

  test("writes no file, and with a dry run nothing at all", async () => {
    await stage.home.ok("account create acme");
    const before = `# mine\nproviders:\n  up:   { kind: openai, base_url: "https://up.example/v1" }   # first\n`;
    stage.home.writeConfig(before);
    const said = succeeds(await stage.provider(`add ${stage.own(" --all-models --dry-run")}`));
    expect(said).toContain("+ provider mine");
    expect(said).toContain("Nothing was changed");
    expect(await stage.list()).toEqual([]);
    succeeds(await stage.provider(`add ${stage.own(" --no-models")}`));
    expect(readFileSync(stage.home.configPath, "utf8")).toBe(before);
    expect((await stage.list()).map(({ name }) => name)).toEqual(["mine"]);
  });

  test("changes nothing when the settings, the address or the provider is wrong", async () => {
    const cases: readonly (readonly [string, string, number, string])[] = [
      ["settings: { prot: 1 }\n", `add ${stage.own(" --no-models")}`, 2, "prot"],
      ["", `add mine --base-url ${stage.upstream.baseUrl}`, 2, "private or loopback"],
      ["", "add nobody", 2, 'Unknown vendor "nobody"'],
      ["", "add opnai", 2, 'Unknown vendor "opnai". Did you mean "openai"?'],
      ["", "test engine", 2, 'Provider "engine" serves the embedded models and needs no test.'],
      ["", "add groq --no-models", 2, "Set GROQ_API_KEY"],
      [
        "",
        "add mine --base-url http://127.0.0.1:1/v1 --allow-private --all-models",
        1,
        "refused the connection",
      ],
      ["", `add ${stage.own(" --models a --all-models")}`, 2, "Use only one of --models"],
      ["", `add ${stage.own(" --models dall-e-3")}`, 2, "dall-e-3 is not a chat"],
    ];
    for (const [text, line, code, words] of cases) {
      stage.home.writeConfig(text);
      const { code: got, stderr } = await stage.provider(line);
      expect([line, got]).toEqual([line, code]);
      expect(stderr).toContain(words);
    }
    stage.home.writeConfig("");
    expect(await stage.list()).toEqual([]);
    succeeds(await stage.provider(`add ${stage.own(" --no-models")}`));
    expect(await stage.provider(`add ${stage.own()}`)).toMatchObject(refusal(4, "already exists"));
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
    expect(await stage.list()).toEqual([]);
  });

  test("lists the vendors that are known in its help", async () => {
    const said = succeeds(await stage.provider("add --help"));
    for (const word of ["groq", "Azure OpenAI", "OPENROUTER_API_KEY", "http://127.0.0.1:11434/v1"])
      expect(said).toContain(word);
  });
});

describe("provider remove", () => {
  const manifest = `providers:
  one: { kind: openai, base_url: "https://one.example/v1" }
  two: { kind: openai, base_url: "https://two.example/v1" }
models:
  both: { endpoint: chat, price: { input: 1, output: 1 }, routes: [ { provider: one, model: a }, { provider: two, model: b } ] }
  alone: { endpoint: chat, price: { input: 1, output: 1 }, routes: [ { provider: one, model: a } ] }
`;
  test("wants a word where a model would not be served any more, and says which", async () => {
    succeeds(await stage.home.svc("apply -", { stdin: manifest }));
    const before = await stage.exported();
    expect(await stage.provider("remove one")).toMatchObject(refusal(4, "Only one serves alone"));
    const planned = succeeds(await stage.provider("remove one --dry-run"));
    expect(planned).toContain("model alone has no routes left");
    expect(await stage.exported()).toBe(before);
    const view = await stage.home.json<Record<string, unknown>>("provider remove one --yes");
    expect(view).toMatchObject({
      provider: "one",
      file: null,
      routes: 2,
      emptied: ["alone"],
      unserved: ["alone"],
      differences: [{ action: "remove", kind: "provider", name: "one", fields: [] }],
      warnings: ["model alone has no route: it is not listed and cannot be called"],
      older_warnings: 0,
      applied: true,
    });
    expect((await stage.list()).map(({ name }) => name)).toEqual(["two"]);
  });

  test("of one that nobody knows, or that a file defines, is refused", async () => {
    expect((await stage.provider("remove nobody")).code).toBe(3);
    stage.home.writeConfig(manifest);
    succeeds(await stage.home.svc("apply"));
    expect(await stage.provider("remove one --yes")).toMatchObject(
      refusal(4, "Provider one is defined in svc.yaml."),
    );
  });
});

describe("provider update", () => {
  test("changes what it names, and keeps the rest", async () => {
    succeeds(
      await stage.provider(`add ${stage.own(" --key-stdin --no-models")}`, { stdin: secret }),
    );
    const other = `${stage.upstream.baseUrl}/other`;
    succeeds(await stage.provider(`update mine --base-url ${other} --option image_urls=true`));
    expect(await stage.list()).toMatchObject([
      { base_url: other, allow_private: true, options: { image_urls: "true" } },
    ]);
    succeeds(await stage.provider("update mine --option image_urls="));
    expect((await stage.list())[0]?.options).toEqual({});
    expect((await stage.list())[0]?.api_key).toMatchObject({ from: "store" });
    expect(succeeds(await stage.provider("update mine --key-env NEW_KEY"))).toContain("is not set");
    succeeds(await stage.provider("update mine --remove-key"));
    expect((await stage.list())[0]?.api_key).toBeNull();
    expect((await stage.provider("update mine")).code).toBe(2);
    expect(await stage.provider("update mine --refuse-private")).toMatchObject(
      refusal(2, "private"),
    );
  });
});

test("the data directory holds no file with a key that a failed adding was given", async () => {
  const line = "add mine --base-url http://127.0.0.1:1/v1 --allow-private --key-stdin --all-models";
  const { code, stdout, stderr } = await stage.provider(line, { stdin: secret });
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain(secret);
  const files = readdirSync(stage.home.dataDir).map((name) =>
    readFileSync(join(stage.home.dataDir, name)),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(files.some((bytes) => bytes.includes(secret))).toBe(false);
  for (const bytes of filesBeside()) expect(bytes).not.toContain(secret);
});
