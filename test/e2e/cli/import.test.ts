import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chatAnswers } from "../../fake/recordings.ts";
import { startFakeUpstream } from "../../fake/upstream.ts";
import { succeeds } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

const whole = join(import.meta.dir, "../../fixtures/litellm/whole.yaml");
const literal = "sk-vendor-literal-5d21ab";
const environment = { AZURE_US_BASE: "https://acme-us.openai.azure.com" };

interface Imported {
  readonly file: null;
  readonly older_warnings: number;
  readonly added: readonly string[];
  readonly added_list: readonly object[];
  readonly kept: readonly string[];
  readonly notes: readonly { readonly line: number; readonly note: string }[];
  readonly differences: readonly { readonly action: string; readonly name: string }[];
  readonly applied: boolean;
  readonly yaml?: string;
}

const home = useHome();

const importing = (words: readonly string[], stdin?: string) =>
  home.svc(["import", "litellm", ...words], {
    environment,
    ...(stdin === undefined ? {} : { stdin }),
  });
const config = () => readFileSync(home.configPath, "utf8");
const exported = async () => (await home.svc("export")).stdout;
const small = (params: string) =>
  `model_list:\n  - model_name: m\n    litellm_params: { model: openai/gpt-4o, ${params} }\n`;

/** Every byte of the data directory and of the config file's folder. */
function bytesOnDisk(): string {
  const read = (folder: string) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((item) => item.isFile())
      .map(({ name }) => readFileSync(join(folder, name)).toString("latin1"));
  return [...read(home.dataDir), ...read(dirname(home.configPath))].join("\n");
}

describe("svc import litellm", () => {
  test("adds the models to the store, and writes no file", async () => {
    const stdout = succeeds(await importing([whole]));
    expect(stdout).toContain("+ model gpt-4o\n");
    expect(stdout).toContain(
      "! line 1: proxy settings are not imported: litellm_settings.drop_params, litellm_settings.num_retries",
    );
    expect(config()).toBe("");
    const models =
      await home.json<readonly { id: string; source: { kind: string } }[]>("model list");
    expect(models.length).toBe(13);
    expect(models.every(({ source }) => source.kind === "store")).toBe(true);
    expect(await exported()).toMatch(/input: "0\.15"/);
  });

  test("adds nothing the second time", async () => {
    await importing([whole]);
    const before = await exported();
    const again = await home.json<Imported>(["import", "litellm", whole], { environment });
    expect([again.added, again.applied, await exported()]).toEqual([[], false, before]);
    expect(again.kept).toContain("provider azure-acme-eu");
  });

  test("shows what is new with --dry-run, and changes nothing", async () => {
    const before = `providers:
  openai: { vendor: openai, api_key: ${literal} }
models:
  m: { endpoint: chat, routes: [ { provider: openai, model: other } ] }
`;
    await home.svc("apply -", { stdin: before });
    const text = small("api_key: os.environ/K").concat(
      small("api_key: os.environ/K").replace("model_list:\n", "").replace("name: m", "name: n"),
    );
    const plain = await importing(["-", "--keep-keys", "--dry-run"], text);
    const json = await importing(["-", "--keep-keys", "--dry-run", "--json"], text);
    for (const { code, stdout, stderr } of [plain, json]) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(literal);
    }
    const view: Imported = JSON.parse(json.stdout);
    expect(view).toMatchObject({ file: null, older_warnings: 0, applied: false });
    expect(view.added).toEqual(["provider openai-k", "route m → openai-k/gpt-4o", "model n"]);
    expect(view.added_list[1]).toEqual({
      kind: "route",
      name: "m",
      provider: "openai-k",
      model: "gpt-4o",
    });
    expect(view.yaml).toStartWith("providers:\n  openai-k:\n");
    expect(view.yaml).toContain("  m:\n    routes:\n      - { provider: openai-k, model: gpt-4o");
    expect(plain.stdout).toContain("+ route m → openai-k/gpt-4o\n");
    expect(await exported()).not.toContain("openai-k");
  });

  test("prints a file that can be applied with --print, and changes nothing", async () => {
    await home.ok("account create acme");
    const { code, stdout, stderr } = await importing([whole, "--print"]);
    expect(code).toBe(0);
    expect(await home.json<readonly unknown[]>("model list")).toEqual([]);
    expect(stderr).toContain("! line 64: gemini-flash: not imported: temperature\n");
    home.writeConfig(stdout);
    const applied = await home.svc("apply --json");
    expect(JSON.parse(applied.stdout).differences).toHaveLength(25);
  });

  test("serves what it imported, through a server that runs", async () => {
    await using upstream = await startFakeUpstream();
    upstream.replyWith(chatAnswers.plain());
    const server = await home.serve({ OWN_KEY: "vendor-secret" });
    const text = small(
      `api_base: "${upstream.baseUrl}", api_key: os.environ/OWN_KEY, input_cost_per_token: 0, output_cost_per_token: 0`,
    );
    expect((await importing(["-"], text)).code).toBe(0);
    const messages = [{ role: "user", content: "Hi" }];
    const reply = await server.post("/chat/completions", { model: "m", messages });
    expect(reply.status).toBe(200);
    expect(upstream.requests.at(-1)?.headers["authorization"]).toBe("Bearer vendor-secret");
    expect(upstream.requests.at(-1)?.json).toMatchObject({ model: "gpt-4o" });
  });
});

describe("keys in plain text in the LiteLLM config", () => {
  const text = small(`api_key: ${literal}, input_cost_per_token: 0, output_cost_per_token: 0`);

  test("are refused with their line, and neither printed nor written", async () => {
    const { code, stdout, stderr } = await importing(["-"], text);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("standard input: line 3: api_key is in plain text");
    expect(stderr).not.toContain(literal);
    expect(config()).toBe("");
  });

  test("are sealed with --keep-keys: no file holds them and nothing prints them", async () => {
    for (const words of [
      ["-", "--keep-keys", "--dry-run"],
      ["-", "--keep-keys", "--json"],
    ]) {
      const { code, stdout, stderr } = await importing(words, text);
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(literal);
    }
    expect(bytesOnDisk()).not.toContain(literal);
    // It is there: the export can be applied again.
    const stdin = await exported();
    expect(stdin).toContain("api_key: <stored>");
    expect((await home.svc("apply -", { stdin })).stdout).toContain("Nothing to change.");
  });
});

test("says which line is wrong, and writes nothing", async () => {
  const wrong = small("api_key: os.environ/K, input_cost_per_token: cheap");
  const path = join(dirname(home.configPath), "litellm.yaml");
  writeFileSync(path, wrong);
  const { code, stderr } = await importing([path]);
  expect([code, stderr, config()]).toEqual([
    2,
    `error: ${path}: line 3: input_cost_per_token must be an amount in USD, such as 1.5e-07\n`,
    "",
  ]);
  expect((await importing(["/does/not/exist.yaml"])).code).toBe(3);
});

test("a file of another person does not control the terminal", async () => {
  const text =
    'model_list:\n  - { model_name: "\\e[2K*", litellm_params: { model: "openai/\\e]0;x*" } }\n';
  for (const words of [["--dry-run"], ["--print"]]) {
    const { stdout, stderr } = await importing([...words, "-"], text);
    expect(stdout + stderr).toContain("is a wildcard");
    expect(stdout + stderr).not.toContain("\x1b");
  }
});
