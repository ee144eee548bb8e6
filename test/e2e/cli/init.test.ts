import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type LocalServer, startLocalServer } from "../../fake/local-server.ts";
import { createHome, type Home } from "../../setup/child.ts";
import { startOnTerminal } from "../../setup/terminal.ts";

let ollama: LocalServer;
let home: Home;

beforeAll(() => {
  ollama = startLocalServer();
});
afterAll(() => ollama.stop());
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

const here = () => ({ OLLAMA_HOST: ollama.host });
const config = () => readFileSync(home.configPath, "utf8");
const init = (words: readonly string[], environment: Record<string, string> = here()) =>
  home.svc(["init", ...words], { environment });

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
    const { code, stdout, stderr } = await init([]);
    expect(code).toBe(2);
    expect(stdout).toContain(`✓ ollama`);
    expect(stdout).toContain(`http://${ollama.host}`);
    expect(stderr).toContain("--yes");
    expect(config()).toBe("");
    expect(existsSync(home.dataDir)).toBe(false);
  });

  test("names of variables are told, never what is in them", async () => {
    const secret = "AIza-the-secret";
    const { code, stdout, stderr } = await init(["--json"], {
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

  test("--yes writes the file and puts it in force, and once more changes nothing", async () => {
    const { code, stdout } = await init(["--provider", "ollama", "--yes"]);
    expect(code).toBe(0);
    expect(stdout).toContain("1 provider, 2 models");
    expect(stdout).toContain("./svc provider test ollama");
    expect(config()).toContain(providerText());
    expect(config()).toContain(chatText);
    const models = await home.json<{ id: string; served: boolean }[]>(["model", "list"]);
    expect(models.map(({ id, served }) => [id, served])).toEqual([
      ["llama3.2:3b", true],
      ["nomic-embed-text:latest", true],
    ]);
    const before = config();
    const again = await init(["--provider", "ollama", "--yes", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      written: false,
      added: [],
      kept: ["provider ollama"],
    });
    expect(config()).toBe(before);
  });

  test("a model that came later is added to what is there, which stays as it was", async () => {
    await init(["--provider", "ollama", "--models", "llama3.2:3b", "--yes"]);
    home.writeConfig(`# mine\n${config()}`);
    const { stdout } = await init(["--provider", "ollama", "--yes", "--json"]);
    expect(JSON.parse(stdout).added).toEqual(["model nomic-embed-text:latest"]);
    expect(config()).toStartWith("# mine\n");
    expect(config()).toContain(chatText);
  });

  test("--force replaces the file and what is in force, under the same names", async () => {
    await init(["--preset", "google", "--yes"]);
    await init(["--provider", "ollama", "--yes"]);
    expect(config()).toContain(chatText);
    const words = ["--provider", "ollama", "--models", "llama3.2:3b", "--yes", "--force"];
    expect((await init(words)).code).toBe(0);
    expect(config()).not.toContain("google");
    expect(config()).toEndWith(`${providerText()}\nmodels:\n${chatText}`);
    const models = await home.json<{ id: string; routes: string[] }[]>(["model", "list"]);
    const routes = models.find(({ id }) => id === "llama3.2:3b")?.routes;
    expect(routes).toEqual(["ollama/llama3.2:3b"]);
  });

  test("--dry-run prints the file alone, and writes none", async () => {
    const { code, stdout } = await init([
      "--provider",
      "ollama",
      "--models",
      "llama3.2:3b",
      "--dry-run",
    ]);
    expect(code).toBe(0);
    expect(stdout).toEndWith(`${providerText()}\nmodels:\n${chatText}`);
    expect(config()).toBe("");
  });

  test("--file writes another file, which is not put in force", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-init-"));
    const file = join(folder, "new", "other.yaml");
    const { code, stdout } = await init(["--provider", "ollama", "--yes", "--file", file]);
    expect(code).toBe(0);
    expect(stdout).toContain(`./svc apply ${file}`);
    expect(readFileSync(file, "utf8")).toContain(chatText);
    expect(readdirSync(dirname(file))).toEqual(["other.yaml"]);
    expect(config()).toBe("");
    expect(await home.json<unknown[]>(["model", "list"])).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test("a vendor whose key is not here is written by its usual variable, with a warning", async () => {
    const { code, stdout } = await init([
      "--provider",
      "groq",
      "--models",
      "llama-3.3-70b-versatile",
      "--yes",
      "--markup",
      "10",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("GROQ_API_KEY is not set");
    expect(config()).toContain("api_key: ${GROQ_API_KEY}");
    // The vendor's list price and a tenth on top.
    expect(config()).toContain('price: { input: "0.649", output: "0.869" }');
    expect(config()).toContain('cost: { input: "0.59", output: "0.79" }');
  });

  test("a server that cannot list its models is told in plain words, and nothing is written", async () => {
    const broken = startLocalServer({ listStatus: 500 });
    const { code, stderr } = await init(["--provider", "ollama", "--yes"], {
      OLLAMA_HOST: broken.host,
    });
    await broken.stop();
    expect(code).toBe(1);
    expect(stderr).toContain("error: ollama itself failed (it answered 500).");
    expect(config()).toBe("");
  });

  test("a file that SVC_CONFIG names and that is not there is made", async () => {
    rmSync(home.configPath);
    const { code } = await init(["--provider", "ollama", "--yes"]);
    expect(code).toBe(0);
    expect(config()).toContain(chatText);
  });

  test("a server that is in force keeps its name where the file is gone", async () => {
    await init(["--provider", "ollama", "--yes"]);
    rmSync(home.configPath);
    const { stdout } = await init(["--provider", "ollama", "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ providers: ["ollama"], added: [] });
    expect(config()).toContain("ollama:");
    expect(config()).not.toContain("ollama-2");
  });

  test("a model that a server does not offer is refused, also where all others are here", async () => {
    await init(["--provider", "ollama", "--yes"]);
    const before = config();
    const { code, stderr } = await init(["--provider", "ollama", "--models", "nix", "--yes"]);
    expect([code, stderr.includes("ollama does not offer nix")]).toEqual([2, true]);
    expect(config()).toBe(before);
  });

  test("why a vendor's models could not be listed is told", async () => {
    const keyless = await init(["--provider", "anthropic", "--yes"]);
    expect(keyless.code).toBe(0);
    expect(keyless.stdout).toContain(
      "The models of anthropic could not be listed: ANTHROPIC_API_KEY is not set here.",
    );
    const nobody = await init(["--provider", "lmstudio", "--yes"]);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("Nothing listens")]);
    expect(nobody.stderr).toContain("Start the server, or check host and port of the address.");
    expect(nobody.stderr).not.toMatch(/svc\.yaml|base_url/);
    const named = await init(["--provider", "lmstudio", "--models", "any-chat", "--yes"]);
    expect(named.code).toBe(0);
    expect(named.stdout).toContain("The models of lmstudio could not be listed: Nothing listens");
    expect(config()).toContain("- { provider: lmstudio, model: any-chat }");
  });

  test("the help has no example that empties the file which it writes", async () => {
    const { stdout } = await init(["--help"]);
    expect(stdout).toContain("--dry-run >");
    expect(stdout).not.toContain("> svc.yaml");
  });

  test("wrong flags are refused, with what would be right", async () => {
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [["--provider", "nobody", "--yes"], "--provider nobody is not known"],
      [["--preset", "nothing", "--yes"], "there are: google, local"],
      [["--preset", "nothing"], "there are: google, local"],
      [["--preset", "google"], "svc init --yes writes the preset google unasked"],
      [["--provider", "ollama", "--markup", "much", "--yes"], "--markup must be percent"],
      [["--provider", "ollama", "--models", "gpt-9", "--yes"], "ollama does not offer gpt-9"],
      [["--provider", "azure", "--yes"], "AZURE_OPENAI_ENDPOINT"],
    ];
    for (const [words, message] of refusals) {
      const { code, stderr } = await init(words);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(config()).toBe("");
  });

  test("--preset local connects every server of this machine with all its models", async () => {
    const { code, stdout } = await init(["--preset", "local", "--yes", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).providers).toContain("ollama");
    expect(config()).toContain(chatText);
  });
});

describe("beside a running server", () => {
  test("what is connected serves at once, and the gateway is not taken for a server to connect", async () => {
    const server = await home.serve(here());
    const { stdout } = await init(["--json"], { OLLAMA_HOST: new URL(server.origin).host });
    const { found } = JSON.parse(stdout) as { found: { found_by: string }[] };
    expect(found.map((one) => one.found_by)).not.toContain(server.origin);
    const done = await init(["--provider", "ollama", "--yes"]);
    expect(done.stdout).toContain(`${server.baseUrl}/chat/completions`);
    expect(done.stdout).not.toContain("npm start");
    const list = await fetch(`${server.baseUrl}/models`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { data } = (await list.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(["llama3.2:3b", "nomic-embed-text:latest"]);
  });
});

describe("on a terminal", () => {
  const open = (words: readonly string[] = []) =>
    startOnTerminal(["init", ...words], {
      PATH: process.env["PATH"] ?? "",
      HOME: dirname(home.configPath),
      SVC_PORT: "0",
      SVC_PLATFORM_PORT: "0",
      SVC_DATA_DIR: home.dataDir,
      SVC_CONFIG: home.configPath,
      SVC_ENGINE: "off",
      ...here(),
    });

  test("asks which to connect and which models to take, shows the file, asks again and writes", async () => {
    const terminal = open();
    await terminal.waitFor("✓ ollama");
    await terminal.waitFor("Connect which?");
    terminal.type("nobody\n");
    await terminal.waitFor('"nobody" is none of them');
    terminal.type("ollama\n");
    await terminal.waitFor("Ollama offers 2 models");
    await terminal.waitFor("1  llama3.2:3b              chat        free");
    await terminal.waitFor("Take which?");
    terminal.type("1\n");
    await terminal.waitFor("- { provider: ollama, model: llama3.2:3b }");
    await terminal.waitFor("Write it? [yes]");
    expect(config()).toBe("");
    terminal.type("\n");
    await terminal.waitFor("1 provider, 1 model");
    await terminal.waitFor("npm start");
    expect(await terminal.exited).toBe(0);
    expect(config()).toContain(chatText);
    expect(config()).not.toContain("nomic");
  });

  test("shows what would change in a file that is there", async () => {
    home.writeConfig("# mine\nsettings: { log_level: warn }\n");
    const terminal = open(["--provider", "ollama", "--models", "llama3.2:3b"]);
    await terminal.waitFor("+ providers:");
    await terminal.waitFor("Write it?");
    expect(terminal.shown()).not.toContain("# mine");
    terminal.type("no\n");
    await terminal.waitFor("Nothing was written.");
    expect(await terminal.exited).toBe(0);
    expect(config()).toBe("# mine\nsettings: { log_level: warn }\n");
  });

  test("a preset asks for the markup, and leaves its remarks in the file", async () => {
    const terminal = open(["--preset", "google"]);
    await terminal.waitFor("Percent on top of the vendors' prices? [0]");
    terminal.type("a lot\n");
    await terminal.waitFor("such as 20");
    terminal.type("20 %\n");
    await terminal.waitFor("Write it?");
    terminal.type("y\n");
    await terminal.waitFor("GEMINI_API_KEY is not set");
    expect(await terminal.exited).toBe(0);
    expect(config()).toContain('price: { input: "0.60", cached_input: "0.06", output: "3.60" }');
    expect(config()).toContain("# check against the vendor's list");
  });

  test("ctrl-c leaves nothing behind, and says so", async () => {
    const terminal = open();
    await terminal.waitFor("Connect which?");
    terminal.type("all\n");
    await terminal.waitFor("Take which?");
    terminal.type("\u0003");
    await terminal.waitFor("Stopped: nothing was written.");
    expect(await terminal.exited).toBe(130);
    expect(config()).toBe("");
    const files = readdirSync(dirname(home.configPath));
    expect(files.filter((name) => name.startsWith("svc.yaml"))).toEqual(["svc.yaml"]);
  });

  test("the end of the input ends it too", async () => {
    const terminal = open();
    await terminal.waitFor("Connect which?");
    terminal.type("\u0004");
    await terminal.waitFor("Stopped: nothing was written.");
    expect(await terminal.exited).toBe(1);
    expect(config()).toBe("");
  });
});
