/** Tools are pointed at the gateway, and nothing that people had in their files is lost. */

import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { tools } from "../../../src/cli/commands/connect/tools/tools.ts";
import type { KeyView } from "../../../src/platform/keys/schemas.ts";
import { standardManifest } from "../../setup/harness.ts";
import { refusal, succeeds } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

const home = useHome();
let root: string;
beforeEach(() => {
  root = join(home.dataDir, "..", "person");
  mkdirSync(root);
});

type Environment = Readonly<Record<string, string>>;
const elsewhere = "--url https://models.example --model svc-3-flash";
const connect = (line: string, environment: Environment = {}) =>
  home.svc(["connect", ...line.split(" ")], { environment: { HOME: root, ...environment } });
const keyList = () => home.json<readonly KeyView[]>("key list");

/** A catalog, and an account that pays. */
async function fill(): Promise<void> {
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", "http://127.0.0.1:9/v1"));
  const environment = { FAKE_KEY: "x" };
  await home.ok("apply", { environment });
  await home.svc("account create payer", { environment });
}

function put(name: string, text: string, mode = 0o644): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  return path;
}
const filesIn = (name: string) =>
  existsSync(join(root, name)) ? readdirSync(join(root, name)) : [];

describe("svc connect", () => {
  const docs = readFileSync(join(import.meta.dir, "../../../docs/connect.md"), "utf8");

  test.each(tools.map(({ name, title }) => [name, title]))(
    "%s prints what docs/connect.md shows",
    async (name, title) => {
      const stdout = succeeds(await connect(`${name} ${elsewhere}`));
      expect(docs).toContain(`\n## ${title}\n\n\`\`\`text\n${stdout}\`\`\`\n`);
      expect(filesIn("")).toEqual([]);
    },
  );

  test("lists the tools, each on a line", async () => {
    const { stdout } = await home.svc("connect");
    for (const { name, title } of tools)
      expect(stdout).toMatch(new RegExp(`^${name} +${title.replace(/[()]/g, "\\$&")} `, "m"));
    const list = await home.json<readonly { name: string }[]>("connect");
    expect(list.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  });

  test("suggests the tool that was meant, and says why one is not possible", async () => {
    const unknown = await connect("cloude-code");
    expect([unknown.code, unknown.stderr]).toEqual([
      3,
      'error: Unknown tool "cloude-code". Did you mean "claude-code"?\nTry: svc connect\n',
    ]);
    expect((await connect("claude")).stderr).toContain('Did you mean "claude-code"?');
    expect((await connect("gemini-cli")).stderr).toContain("only Google's own API");
  });

  test("takes the address from the settings, and the model from the catalog", async () => {
    await fill();
    const own = { SVC_PUBLIC_URL: "https://ai.example" };
    const { stdout } = await connect("codex --model svc-3-flash", own);
    expect(stdout).toContain('base_url = "https://ai.example/v1"');
    // By it, they compact a conversation before the vendor refuses it.
    expect(stdout).toContain("\nmodel_context_window = 1048576\n");
    expect((await connect("claude-code --model svc-3-flash", own)).stdout).toContain(
      '"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "1048576"',
    );
    expect((await connect("codex", own)).stdout).toMatch(/^model = "[\w.-]+"$/m);
    expect(await connect("codex --model svc-3-flush")).toMatchObject(refusal(3, "svc-3-flash"));
    expect(await connect("codex --model svc-embedding-2")).toMatchObject(
      refusal(2, "not a chat model"),
    );
    expect((await connect("codex --url https://models.example")).stderr).toContain("--model");
  });

  test("--json has all of it", async () => {
    const { stdout } = await connect(`aider ${elsewhere} --json`);
    expect(JSON.parse(stdout)).toMatchObject({
      tool: "aider",
      dialect: "chat",
      base_url: "https://models.example/v1",
      model: "svc-3-flash",
      file: { path: join(root, ".aider.conf.yml"), format: "yaml" },
      environment: { OPENAI_API_KEY: { variable: "SVC_API_KEY" } },
    });
  });

  test("a key in the environment is not shown, and stops no other command", async () => {
    const environment = { SVC_API_KEY: "sk-svc-never-shown-0123456789" };
    for (const line of [`claude-code ${elsewhere}`, `claude-code ${elsewhere} --json`])
      expect((await connect(line, environment)).stdout).not.toContain("never-shown");
    const config = await home.svc("config", { environment });
    expect([config.code, config.stdout.includes("never-shown")]).toEqual([0, false]);
  });

  test.each([
    ["codex --yes", "--yes: This requires --write."],
    ["claude-code --key", "--key: This requires --write."],
    ["codex --file x", "--file: This requires --write."],
    ["codex --write --yes --key", "does not take the key from a file"],
    ["claude-code --write --yes --key", "requires SVC_API_KEY"],
    ["claude-code --key sk-svc-on-the-command-line", "Unexpected argument: …"],
    ["claude-code --create-key", "--account"],
    ["claude-code --account default", "--account: This requires --create-key."],
    ["cursor --write --yes", "no file that svc can write"],
  ])("%s is refused", async (line, message) => {
    const { code, stderr } = await connect(`${line} ${elsewhere}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain("on-the-command-line");
    expect(filesIn("")).toEqual([]);
  });
});

describe("svc connect --write", () => {
  const write = (tool: string, more = "", environment: Environment = {}) =>
    connect(`${tool} ${elsewhere} --write --yes${more}`, environment);

  test("adds to a file, keeps the rest and what was there before, and changes nothing twice", async () => {
    const text = '{\n  "theme": "dark",\n  "env": {\n    "MINE": "1"\n  }\n}\n';
    const path = put(".claude/settings.json", text);
    chmodSync(path, 0o640);
    const { code, stdout } = await write("claude-code");
    expect([code, stdout]).toEqual([0, expect.stringContaining('+     "ANTHROPIC_BASE_URL"')]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      theme: "dark",
      apiKeyHelper: "printenv SVC_API_KEY",
      env: {
        MINE: "1",
        ANTHROPIC_BASE_URL: "https://models.example",
        ANTHROPIC_MODEL: "svc-3-flash",
        ANTHROPIC_DEFAULT_OPUS_MODEL: "svc-3-flash",
        ANTHROPIC_DEFAULT_SONNET_MODEL: "svc-3-flash",
        ANTHROPIC_DEFAULT_HAIKU_MODEL: "svc-3-flash",
      },
    });
    expect(statSync(path).mode & 0o777).toBe(0o640);
    const [backup = "", ...others] = filesIn(".claude").filter((name) => name !== "settings.json");
    expect(others).toEqual([]);
    expect(readFileSync(join(root, ".claude", backup), "utf8")).toBe(text);
    const again = await write("claude-code");
    expect(again.stdout).toContain("~/.claude/settings.json has these settings already.");
    expect(filesIn(".claude")).toHaveLength(2);
  });

  test.each([
    ["codex", ".codex/config.toml", 'approval_policy = "never"\n[tui]\na = 1\n', "approval_policy"],
    ["continue", ".continue/config.yaml", "name: me\nversion: 2.0.0\nschema: v1\n", "name: me"],
    ["aider", ".aider.conf.yml", "# mine\ndark-mode: true\n", "# mine\ndark-mode: true"],
    ["zed", ".config/zed/settings.json", '{\n  // mine\n  "vim_mode": true,\n}\n', "// mine"],
    ["opencode", ".config/opencode/opencode.jsonc", '{\n  // mine\n  "a": 1\n}\n', "// mine"],
    ["llm", ".config/io.datasette.llm/extra-openai-models.yaml", "- model_id: mine\n", "mine"],
  ])("%s: %s keeps what people wrote", async (tool, name, text, kept) => {
    const path = put(name, text);
    succeeds(await write(tool));
    const now = readFileSync(path, "utf8");
    expect(now).toContain(kept);
    expect(now).toContain("https://models.example/v1");
    expect(readdirSync(dirname(path))).toHaveLength(2);
  });

  test("creates a file that is not there, for its owner alone", async () => {
    expect((await write("codex")).stdout).toContain("wrote ~/.codex/config.toml");
    expect(filesIn(".codex")).toEqual(["config.toml"]);
    expect(statSync(join(root, ".codex/config.toml")).mode & 0o777).toBe(0o600);
    const file = join(root, "project/librechat.yaml");
    await write("librechat", ` --file ${file}`);
    expect(readFileSync(file, "utf8")).toContain("baseURL: https://models.example/v1");
  });

  test("a file that is not valid is reported and stays, and so does one that nobody agreed to", async () => {
    const invalid = put(".codex/config.toml", 'model = "a\n');
    const { code, stderr } = await write("codex");
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${invalid}: `)]);
    const valid = put(".claude/settings.json", "{}");
    expect(await connect(`claude-code ${elsewhere} --write`)).toMatchObject(refusal(2, "--yes"));
    expect([readFileSync(invalid, "utf8"), readFileSync(valid, "utf8")]).toEqual([
      'model = "a\n',
      "{}",
    ]);
    expect([filesIn(".codex"), filesIn(".claude")]).toEqual([["config.toml"], ["settings.json"]]);
  });

  test("a link stays a link", async () => {
    const real = put("dotfiles/config.toml", "a = 1\n");
    mkdirSync(join(root, ".codex"));
    symlinkSync(real, join(root, ".codex/config.toml"));
    await write("codex");
    expect(lstatSync(join(root, ".codex/config.toml")).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toStartWith("a = 1\n");
    expect(readFileSync(real, "utf8")).toContain("models.example");
  });

  test("a link to a file that does not exist yet stays a link, and the file is made", async () => {
    mkdirSync(join(root, ".codex"));
    symlinkSync("../dotfiles/codex/config.toml", join(root, ".codex/config.toml"));
    await write("codex");
    expect(lstatSync(join(root, ".codex/config.toml")).isSymbolicLink()).toBe(true);
    const text = readFileSync(join(root, "dotfiles/codex/config.toml"), "utf8");
    expect(text).toContain("models.example");
  });

  test("--key writes the key into a file that only its owner can read, and shows it nowhere", async () => {
    const key = "sk-svc-written-0123456789";
    const path = put(
      ".claude/settings.json",
      '{"env": {"ANTHROPIC_API_KEY": "sk-ant-0123456789"}}',
    );
    for (const flags of [" --key", " --key --json"]) {
      const stdout = succeeds(await write("claude-code", flags, { SVC_API_KEY: key }));
      expect(stdout).not.toContain(key);
      expect(stdout).not.toContain("sk-ant-0123456789");
      if (flags === " --key") expect(stdout).toContain("! The file also has env.ANTHROPIC_API_KEY");
    }
    const { env } = JSON.parse(readFileSync(path, "utf8"));
    expect(env).toMatchObject({
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_API_KEY: "sk-ant-0123456789",
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("--create-key creates one for the tool, which only its file or one line has", async () => {
    await fill();
    const own = "--model svc-3-flash --create-key --account payer";
    const written = await connect(`opencode ${own} --write --yes`);
    expect([written.code, written.stdout.includes("sk-svc-0")]).toEqual([0, false]);
    const text = readFileSync(join(root, ".config/opencode/opencode.json"), "utf8");
    const { key } = /"apiKey": "(?<key>sk-svc-[\w-]{20,})"/.exec(text)?.groups ?? {};
    expect(written.stdout).not.toContain(String(key));
    const shown = await connect(`codex ${own} --write --yes`);
    expect(shown.stdout).toMatch(/^export SVC_API_KEY=sk-svc-[\w-]{20,}$/m);
    expect((await keyList()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["opencode", "codex"]),
    );
  });

  test("a key is not left behind where its file cannot be written", async () => {
    await fill();
    put(".claude/settings.json", "{]");
    const own = "--model svc-3-flash --create-key --account payer --write --yes";
    expect((await connect(`claude-code ${own}`)).code).toBe(2);
    expect(await keyList()).toEqual([]);
    // There is no room for the name of the file that is written first.
    const file = join(root, "x".repeat(240));
    expect(await connect(`opencode ${own} --file ${file}`)).toMatchObject(
      refusal(1, "cannot be written"),
    );
    expect((await keyList()).map(({ name, status }) => [name, status])).toEqual([
      ["opencode", "revoked"],
    ]);
    expect(filesIn("")).toEqual([".claude"]);
  });
});
