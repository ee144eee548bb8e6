import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { type LocalServer, startLocalServer } from "../../fake/local-server.ts";
import { refusal } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

let ollama: LocalServer;
const home = useHome();

beforeAll(() => {
  ollama = startLocalServer();
});
afterAll(() => ollama.stop());

const here = () => ({ OLLAMA_HOST: ollama.host });
const config = () => readFileSync(home.configPath, "utf8");
const init = (line = "", environment: Record<string, string> = here()) =>
  home.svc(`init ${line}`.trim(), { environment });
/** What it prints; warnings are on stderr. */
async function done(line: string): Promise<string> {
  const { code, stdout } = await init(line);
  expect(code).toBe(0);
  return stdout;
}

const exported = async () => (await home.svc("export")).stdout;
const served = async () =>
  (await home.json<{ id: string; served: boolean }[]>("model list"))
    .filter((model) => model.served)
    .map(({ id }) => id);

const providerText = () => `providers:
  ollama:
    vendor: ollama
    base_url: http://${ollama.host}/v1
    allow_private: true
`;
const chatText = `  llama3.2:3b:
    endpoint: chat
    price: { input: "0", output: "0" }
    routes:
      - { provider: ollama, model: llama3.2:3b }
`;

describe("without a terminal", () => {
  test("what was found is told, with the flags to go on with, and nothing is written", async () => {
    rmSync(home.dataDir, { recursive: true });
    const { code, stdout, stderr } = await init();
    expect(code).toBe(2);
    expect(stdout).toContain(`✓ ollama`);
    expect(stdout).toContain(`http://${ollama.host}`);
    expect(stderr).toContain("--yes");
    expect(config()).toBe("");
    expect(existsSync(home.dataDir)).toBe(false);
  });

  test("names of variables are told, never what is in them", async () => {
    const secret = "AIza-the-secret";
    const { code, stdout, stderr } = await init("--json", {
      GEMINI_API_KEY: secret,
      GITHUB_TOKEN: secret,
    });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(secret);
    const { found } = JSON.parse(stdout) as { found: { name: string; by_default: boolean }[] };
    expect(found).toContainEqual(
      expect.objectContaining({ name: "gemini", found_by: "GEMINI_API_KEY", by_default: true }),
    );
    expect(found).toContainEqual(expect.objectContaining({ name: "github", by_default: false }));
  });

  test("--yes puts it into the store, and once more changes nothing", async () => {
    const stdout = await done("--provider ollama --yes");
    expect(stdout).toContain("1 provider, 2 models");
    expect(stdout).toContain("svc provider test ollama");
    expect(config()).toBe("");
    expect(await served()).toEqual(["llama3.2:3b", "nomic-embed-text:latest"]);
    const before = await exported();
    const again = await init("--provider ollama --yes --json");
    expect(JSON.parse(again.stdout)).toMatchObject({
      file: null,
      written: false,
      applied: false,
      older_warnings: 0,
      providers: ["ollama"],
      added: [],
      kept: ["provider ollama"],
    });
    expect(await exported()).toBe(before);
  });

  test("a model that came later is added to what is there, which stays as it was", async () => {
    await init("--provider ollama --models llama3.2:3b --yes");
    const { stdout } = await init("--provider ollama --yes --json");
    expect(JSON.parse(stdout)).toMatchObject({
      added: ["model nomic-embed-text:latest"],
      added_list: [{ kind: "model", name: "nomic-embed-text:latest" }],
    });
    expect(await served()).toEqual(["llama3.2:3b", "nomic-embed-text:latest"]);
  });

  test("--print prints a file alone, which svc apply takes, and changes nothing", async () => {
    await home.ok("account create acme");
    const words = "--provider ollama --models llama3.2:3b --print";
    const stdout = await done(words);
    expect(stdout).toEndWith(`${providerText()}\nmodels:\n${chatText}`);
    expect(await served()).toEqual([]);
    home.writeConfig(stdout);
    expect((await home.svc("apply")).stdout).toContain("applied 2 changes.");
    expect(await served()).toEqual(["llama3.2:3b"]);
  });

  test("--dry-run shows what would be added, and changes nothing", async () => {
    await home.ok("account create acme");
    const stdout = await done("--provider ollama --dry-run");
    expect(stdout).toContain("1 provider, 2 models to add. Nothing was changed");
    const json = await init("--provider ollama --dry-run --json");
    const printed = await init("--provider ollama --print");
    expect(JSON.parse(json.stdout)).toMatchObject({ written: false, text: printed.stdout });
    expect(await served()).toEqual([]);
  });

  test("a vendor whose key is not here is connected by its usual variable, with a warning", async () => {
    const stdout = await done("--provider groq --models llama-3.3-70b-versatile --yes --markup 10");
    expect(stdout).toContain("GROQ_API_KEY is not set");
    const text = await exported();
    expect(text).toContain("api_key: ${GROQ_API_KEY}");
    // The vendor's list price and a tenth on top.
    expect(text).toMatch(/price:\n\s+input: "0\.649"\n\s+output: "0\.869"/);
    expect(text).toMatch(/cost:\n\s+input: "0\.59"\n\s+output: "0\.79"/);
  });

  test("a server that cannot list its models is told in plain words, and nothing is written", async () => {
    const broken = startLocalServer({ listStatus: 500 });
    const { code, stderr } = await init("--provider ollama --yes", {
      OLLAMA_HOST: broken.host,
    });
    await broken.stop();
    expect(code).toBe(1);
    expect(stderr).toContain("error: ollama failed with status 500.");
    expect(config()).toBe("");
  });

  test("a model that a server does not offer is refused, also where all others are here", async () => {
    await init("--provider ollama --yes");
    const before = await exported();
    expect(await init("--provider ollama --models nix --yes")).toMatchObject(
      refusal(2, "ollama does not offer nix"),
    );
    expect(await exported()).toBe(before);
  });

  test("why a vendor's models could not be listed is told", async () => {
    const keyless = await init("--provider anthropic --yes");
    expect(keyless.code).toBe(0);
    expect(keyless.stdout).toContain(
      "The models of anthropic could not be listed: ANTHROPIC_API_KEY is not set.",
    );
    const nobody = await init("--provider lmstudio --yes");
    expect([nobody.code, nobody.stderr]).toEqual([
      1,
      expect.stringContaining("refused the connection"),
    ]);
    expect(nobody.stderr).toContain("Start the server, or check the host and port in the address.");
    expect(nobody.stderr).not.toMatch(/svc\.yaml|base_url/);
    const named = await init("--provider lmstudio --models any-chat --yes");
    expect(named.code).toBe(0);
    expect(named.stdout).toContain(
      "The models of lmstudio could not be listed: http://127.0.0.1:1234/v1 refused",
    );
    expect(await exported()).toMatch(/- provider: lmstudio\n\s+model: any-chat/);
  });

  test("wrong flags are refused, with what would be right", async () => {
    const refusals: readonly (readonly [line: string, message: string])[] = [
      ["--provider nobody --yes", 'Unknown provider "nobody"'],
      ["--preset nothing --yes", "Choose google or local"],
      ["--preset nothing", "Choose google or local"],
      ["--preset google", "svc init --yes applies the preset google"],
      ["--provider ollama --markup much --yes", "percentage to add"],
      ["--provider ollama --models gpt-9 --yes", "ollama does not offer gpt-9"],
      ["--provider azure --yes", "AZURE_OPENAI_ENDPOINT"],
    ];
    for (const [words, message] of refusals) {
      expect(await init(words)).toMatchObject(refusal(2, message));
    }
    expect(config()).toBe("");
  });

  test("--preset local connects every server of this machine with all its models", async () => {
    const stdout = await done("--preset local --yes --json");
    expect(JSON.parse(stdout).providers).toContain("ollama");
    expect(await served()).toContain("llama3.2:3b");
  });
});

describe("beside a running server", () => {
  test("what is connected serves at once, and the gateway is not taken for a server to connect", async () => {
    const server = await home.serve(here());
    const { stdout } = await init("--json", { OLLAMA_HOST: new URL(server.origin).host });
    const { found } = JSON.parse(stdout) as { found: { found_by: string }[] };
    expect(found.map((one) => one.found_by)).not.toContain(server.origin);
    const done = await init("--provider ollama --yes");
    expect(done.stdout).toContain(`${server.baseUrl}/chat/completions`);
    expect(done.stdout).not.toContain("npm start");
    const list = await fetch(`${server.baseUrl}/models`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { data } = (await list.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(["llama3.2:3b", "nomic-embed-text:latest"]);
  });
});
