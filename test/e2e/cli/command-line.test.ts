import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { chatAnswers } from "../../fake/recordings.ts";
import { thrownBy } from "../../replies/refusal.ts";
import { type ChildServer, createHome, type Home } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { type Refused, refusesAll } from "../../setup/outcomes.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

const unlimited = { rpm: null, tpm: null, concurrency: null, budget: null };
const chat = { messages: [{ role: "user" as const, content: "Hi" }] };

const upstream = await useFakeUpstream();
beforeAll(async () => {
  upstream.replyWith(chatAnswers.plain());
});

const manifest = () => standardManifest.replaceAll("UPSTREAM", upstream.baseUrl);
const clientOf = ({ baseUrl }: ChildServer, apiKey: string) =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

describe("without a server", () => {
  let home: Home;
  beforeAll(async () => {
    home = createHome();
    home.writeConfig(manifest());
    await home.ok(["apply", home.configPath]);
    await home.ok("account create taken");
  });
  afterAll(() => home.remove());

  test("JSON has the fields that scripts rely on", async () => {
    const account = await home.json<Record<string, unknown>>("account create acme");
    expect(account).toMatchObject({ name: "acme", balance_usd: "0.00", limits: unlimited });
    const key = await home.json<Record<string, unknown>>(
      "key create --account acme --name ci --models svc-3-flash --expires 2999-01-31",
    );
    const { key: secret, warnings, ...view } = key;
    expect(warnings).toEqual([]);
    expect(secret).toMatch(/^sk-svc-\w{46}$/);
    expect(view).toMatchObject({
      account: account["id"],
      name: "ci",
      hint: expect.stringMatching(/^sk-svc-…\w{4}$/),
      models: ["svc-3-flash"],
      created_by: "command line",
      expires_at: "2999-01-31T00:00:00Z",
      limits: unlimited,
    });
    expect(await home.json<unknown>("key list --account acme")).toEqual([
      { ...view, account_name: "acme" },
    ]);
    const unsure = await home.json<Record<string, unknown>>(
      "key create --account acme --models nope",
    );
    expect(unsure["warnings"]).toEqual([
      expect.stringContaining('Model "nope" does not exist yet'),
    ]);
    await home.svc(["key", "revoke", String(unsure["id"])]);
    expect(await home.json<unknown>("account show acme")).toMatchObject({
      ...account,
      keys: 1,
      key_list: [view, { status: "revoked" }],
    });
    expect(await home.json<unknown>("account list")).toEqual([
      expect.objectContaining({ name: "taken" }),
      { ...account, keys: 1 },
    ]);
  });

  test("JSON of models is that of the catalog", async () => {
    const models = await home.json<readonly Record<string, unknown>[]>("model list");
    expect(models.find(({ id }) => id === "svc-3-flash")).toMatchObject({
      // The variable of the provider's key has no value here.
      state: "failing",
      price: { input: "0.30", cached_input: "0.03", output: "2.50" },
      routes: ["fake/upstream-chat"],
      source: { kind: "file", file: "svc.yaml" },
    });
  });

  test("exit codes tell usage, values, absence and conflict apart", async () => {
    const cases: readonly Refused[] = [
      ["key nonsense", 2, 'Unknown command "key nonsense"'],
      ["nonsense", 2, "Try: svc --help"],
      ["acount list", 2, 'Unknown command "acount list". Did you mean "svc account list"?'],
      ["acount", 2, 'Unknown command "acount". Did you mean "svc account"?'],
      ["model rout add", 2, 'Did you mean "svc model route add"?'],
      ["account show takn", 3, 'Unknown account "takn". Did you mean "taken"?'],
      ["model retire svc-3-flush", 3, 'Did you mean "svc-3-flash"?'],
      ["provider test fak", 3, 'Did you mean "fake"?'],
      [
        "model route add svc-3-flash fak m",
        3,
        'Provider "fak" does not exist. Did you mean "fake"?',
      ],
      ["model route add svc-3-flash fake m --priority 0", 2, "a whole number from 1 to 100"],
      ["account create ''", 2, "1 to 100 letters"],
      [
        "report margin --by day",
        2,
        'error: --by: Must be model, account or provider, not "day".\n',
      ],
      ["completion tcsh-like", 2, "Choose bash, zsh or fish."],
      ["key create --account taken --expires yesterday", 2, "a day such as"],
      ["key create --account taken --expires 2999-02-30", 2, "a day such as"],
      ["key create --account taken --models ,", 2, "--models: Models must be a list"],
      ["key create --account none", 3, 'Unknown account "none".\nTry: svc account list\n'],
      ["account show none", 3, 'Unknown account "none".\nTry: svc account list\n'],
      ["key revoke key_none", 3, 'Unknown key "key_none".\nTry: svc key list\n'],
      ["model retire none", 3, 'Unknown model "none".\nTry: svc model list\n'],
      ["apply /none/svc.yaml", 3, "File /none/svc.yaml does not exist."],
      ["account create taken", 4, 'Account "taken" already exists'],
      ["model retire svc-3-flash", 4, "Deprecate it first.\nTry: svc model deprecate svc-3-flash"],
    ];
    const run = (line: string) =>
      home.svc(line.split(" ").map((word) => (word === "''" ? "" : word)));
    await refusesAll(run, cases);
  });

  test("a model without a route is added with the command that adds one", async () => {
    const { stdout } = await home.svc("model add bare");
    expect(stdout).toContain(
      "! Not served: bare has no route. Add one: svc model route add bare PROVIDER MODEL\n",
    );
  });

  test("wrong words are followed by the usage, on lines of their own", async () => {
    const { stderr } = await home.svc("key revoke");
    expect(stderr).toBe(
      "error: KEY is missing.\nUsage: svc key revoke KEY [--json]\nTry: svc key revoke --help\n",
    );
  });

  test("with --json a failing command prints the problem's fields", async () => {
    const cases: readonly (readonly [words: string, code: number, error: object])[] = [
      [
        "model retire org--llama-3 --json",
        3,
        { code: "not_found", message: 'Unknown model "org--llama-3".', command: "model list" },
      ],
      [
        "bogus --json",
        2,
        { code: "invalid", message: 'Unknown command "bogus".', command: "--help" },
      ],
      [
        "export --json",
        2,
        { code: "invalid", message: 'Unknown flag "--json".', command: "export --help" },
      ],
      [
        "account --json",
        2,
        {
          code: "invalid",
          message: expect.stringContaining('"svc account" needs a command: create, list,'),
          command: "account --help",
        },
      ],
      [
        "key create --account taken --rpm 0 --json",
        2,
        { code: "invalid", message: expect.stringContaining("whole number"), field: "rpm" },
      ],
      [
        "key create --json",
        2,
        {
          code: "invalid",
          message: "--account is required.",
          field: "account",
          command: "key create --help",
        },
      ],
    ];
    for (const [words, code, error] of cases) {
      const result = await home.svc(words);
      expect([words, result.code, result.stdout]).toEqual([words, code, ""]);
      expect(JSON.parse(result.stderr)).toEqual({ error });
    }
  });
});

describe("beside a running server", () => {
  test("keys, models and providers change in it at once, and its key never shows again", async () => {
    await using home = createHome();
    home.writeConfig(manifest());
    await home.json("account create before");
    await home.json("account credit before 5");
    const early = await home.json<{ key: string }>("key create --account before");
    const server = await home.serve({ FAKE_KEY: "x" });
    const create = (key: string, model = "svc-3-flash") =>
      clientOf(server, key).chat.completions.create({ ...chat, model });
    expect((await create(early.key)).object).toBe("chat.completion");

    const late = await home.json<{ id: string; key: string }>(
      "key create --account before --name late",
    );
    expect((await create(late.key)).object).toBe("chat.completion");
    expect((await home.svc("key list")).stdout).not.toContain(late.key);
    await home.ok(["key", "revoke", late.id]);
    expect(await thrownBy(create(late.key))).toMatchObject({ status: 401 });
    const keys = await home.json<readonly { id: string; status: string }[]>("key list");
    expect(keys.find(({ id }) => id === late.id)?.status).toBe("revoked");

    const deprecate = "model deprecate svc-2-flash --retires 2999-01-31 --replacement svc-3-flash";
    expect((await home.svc(deprecate.split(" "))).stdout).toContain("deprecated svc-2-flash");
    const shown = await clientOf(server, early.key).models.retrieve("svc-2-flash");
    expect(shown).toMatchObject({ deprecated: true, replacement: "svc-3-flash" });
    await home.ok("model retire svc-2-flash");
    expect(await thrownBy(create(early.key, "svc-2-flash"))).toMatchObject({
      status: 403,
      code: "model_retired",
    });

    const priced = manifest().replace("unpriced: {", "unpriced: { price: { input: 0, output: 0 },");
    const applied = await home.svc("apply -", { stdin: priced });
    expect(applied.stdout).toContain("~ model unpriced");
    expect((await create(early.key, "unpriced")).object).toBe("chat.completion");
    expect(await server.stop()).toBe(0);
  });
});
