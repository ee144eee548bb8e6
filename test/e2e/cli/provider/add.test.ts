import { describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonReply } from "../../../fake/recordings.ts";
import { refusal, succeeds } from "../../../setup/outcomes.ts";
import { useProviderHome } from "../../../setup/provider-home.ts";

const stage = useProviderHome();

const add = (line: string, environment: Record<string, string> = {}) =>
  stage.home.svc(["provider", "add", ...line.split(" ")], { environment });

describe("models that are named", () => {
  test("are looked up in the list, and a slip is told with what was meant; nothing is written", async () => {
    const { code, stderr } = await add(stage.own(" --models big-chta,nothing-like-it"));
    expect(code).toBe(2);
    expect(stderr).toContain("mine does not offer big-chta. Did you mean big-chat?");
    expect(stderr).toContain("mine does not offer nothing-like-it. It offers big-chat,");
    expect(await stage.list()).toEqual([]);
  });

  test("are looked up also where all that is listed is served already", async () => {
    succeeds(await add(stage.own(" --all-models")));
    const before = await stage.exported();
    expect(await add("mine --models big-chta")).toMatchObject(refusal(2, "Did you mean big-chat?"));
    expect(await stage.exported()).toBe(before);
    succeeds(await add("mine --models big-chat"));
    expect(await stage.exported()).toBe(before);
  });

  test("have their routes again when a provider that was removed comes back, at their price", async () => {
    succeeds(await add(stage.own(" --models big-chat")));
    const price = ["--input", "3", "--output", "4"];
    succeeds(await stage.home.svc(["price", "set", "big-chat", ...price]));
    const served = () =>
      stage.home.json<{ id: string; routes: string[]; price: unknown }[]>("model list");
    const before = await served();
    for (const way of ["", " --unlisted"]) {
      succeeds(await stage.provider("remove mine --yes"));
      expect((await served())[0]?.routes).toEqual([]);
      const said = succeeds(await add(stage.own(` --models big-chat${way}`)));
      expect(said).toContain("model big-chat: It had no route. Its price is unchanged.");
      expect(await served()).toEqual(before);
    }
  });

  test("are taken at the operator's word where there is no list, which is told", async () => {
    stage.upstream.replyWith(() => jsonReply({ status: 500, body: { error: { message: "no" } } }));
    const said = succeeds(await add(stage.own(" --models any-chat --no-test")));
    expect(said).toContain("The models of mine could not be listed. mine failed with status 500");
    expect(await stage.exported()).toMatch(/- provider: mine\n\s+model: any-chat/);
  });
});

describe("what is wrong", () => {
  test("is told by the flags of the command, with no line of a file that was not written", async () => {
    const refused = await add(`mine --base-url ${stage.upstream.baseUrl} --no-models`);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("is a private or loopback address");
    expect(refused.stderr).not.toMatch(/line \d|svc\.yaml|providers\./);
  });

  test("names an option that is missing in a whole sentence", async () => {
    expect(await add("bedrock --no-models", { AWS_BEARER_TOKEN_BEDROCK: "k" })).toMatchObject(
      refusal(2, "error: --option region=…: Option region is missing (for example us-east-1)."),
    );
    const json = await add("bedrock --no-models --json", { AWS_BEARER_TOKEN_BEDROCK: "k" });
    expect(JSON.parse(json.stderr).error).toMatchObject({
      code: "invalid",
      field: "options.region",
    });
  });
});

describe("warnings", () => {
  const old = `providers:
  other: { kind: openai, base_url: "https://other.example/v1", api_key: "\${B_KEY}" }
models:
  bare: { endpoint: chat, routes: [ { provider: other, model: m } ] }
`;

  test("are those of the change alone", async () => {
    await stage.apply(old);
    const said = succeeds(await add(stage.own(" --models big-chat")));
    expect(said).not.toMatch(/B_KEY|model bare/);
  });

  test("come in place of a word of success where nothing listens", async () => {
    const said = succeeds(await add("ollama --base-url http://127.0.0.1:1/v1 --no-test"));
    expect(said).toContain("http://127.0.0.1:1/v1 refused the connection");
    expect(said).not.toContain("connected");
  });
});

describe("--dry-run", () => {
  test("shows the YAML of what would be added", async () => {
    await stage.home.ok("account create acme");
    const said = succeeds(await add(stage.own(" --models big-chat --dry-run")));
    expect(said).toContain(
      `providers:\n  mine:\n    kind: openai\n    base_url: ${stage.upstream.baseUrl}\n    allow_private: true\n`,
    );
    expect(said).toContain("    routes:\n      - { provider: mine, model: big-chat }\n");
    expect(await stage.list()).toEqual([]);
  });
});

describe("prices", () => {
  const priced = async (line: string, environment: Record<string, string>) => {
    const view = await stage.home.json<{ added: { price: Record<string, string> | null }[] }>(
      ["provider", "add", ...line.split(" "), "--unlisted", "--dry-run"],
      { environment },
    );
    return view.added[0]?.price;
  };

  test("are the vendor's also behind a company's own address", async () => {
    const at = `--base-url ${stage.upstream.baseUrl} --allow-private`;
    expect(
      await priced(`openai ${at} --models gpt-4o-mini`, { OPENAI_API_KEY: "k-1234" }),
    ).toMatchObject({ input: "0.15", output: "0.60" });
    expect(
      await priced(`anthropic ${at} --models claude-sonnet-4-0`, { ANTHROPIC_API_KEY: "k-1234" }),
    ).toMatchObject({ input: "3.00", output: "15.00" });
  });
});

describe("a config file that SVC_CONFIG names and that is not there", () => {
  const lacking = () => join(dirname(stage.home.configPath), "new", "mine.yaml");
  const environment = () => ({ SVC_CONFIG: lacking() });

  test("is not needed by commands, which write none", async () => {
    succeeds(await add(stage.own(" --models big-chat"), environment()));
    expect((await stage.list()).map(({ name }) => name)).toEqual(["mine"]);
    expect(existsSync(lacking())).toBe(false);
  });

  test("is refused by serve, and by an apply of it", async () => {
    rmSync(stage.home.dataDir, { recursive: true });
    const serve = await stage.home.svc("serve", { environment: environment() });
    // A start with a wrong name has not made a store.
    expect(existsSync(stage.home.dataDir)).toBe(false);
    expect([serve.code, serve.stderr.includes(`${lacking()} (SVC_CONFIG) does not exist`)]).toEqual(
      [2, true],
    );
    const apply = await stage.home.svc("apply", { environment: environment() });
    expect([apply.code, apply.stderr.includes(lacking())]).toEqual([3, true]);
  });
});

test("a file that is no YAML is told by its place, and its lines are never shown", async () => {
  stage.home.writeConfig("providers:\n  a: { api_key: sk-written-out, base_url: [ }\n");
  for (const words of [
    ["provider", "add", "ollama", "--no-models"],
    ["init", "--provider", "ollama", "--yes"],
    ["import", "litellm", stage.home.configPath],
    ["serve"],
  ]) {
    const { code, stdout, stderr } = await stage.home.svc(words);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/line 2, column \d+: /)]);
    expect(stdout + stderr).not.toContain("sk-written-out");
  }
});
