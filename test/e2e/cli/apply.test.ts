import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { refusal, succeeds } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

const literal = "sk-vendor-literal-7f3a9c";
const manifest = `providers:
  named: { kind: openai, base_url: "https://named.example/v1", api_key: "\${VENDOR_KEY}" }
  literal: { kind: openai, base_url: "https://literal.example/v1", api_key: ${literal} }
  idle: { kind: openai, base_url: "https://idle.example/v1" }
models:
  one: { endpoint: chat, max_output_tokens: 100, price: { input: 0.1, output: "0.123456789" }, routes: [{ provider: named, model: a }] }
  two: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: literal, model: b, weight: 2 }] }
  speech: { endpoint: speech, price: { input: 1, audio_output: 2 }, routes: [{ provider: named, model: c, voices: { Kore: k, Puck: p, Charon: c, Fenrir: f, Aoede: a } }] }
`;

const home = useHome();

const environment = { VENDOR_KEY: "from-the-environment" };
/** The config file with this text, through the command. */
const apply = (text: string, ...flags: readonly string[]) => {
  home.writeConfig(text);
  return home.svc(["apply", ...flags], { environment });
};
/** The same on standard input, which is no file. */
const put = (text: string, ...flags: readonly string[]) =>
  home.svc(["apply", "-", ...flags], { stdin: text, environment });
const exported = async () => (await home.svc("export")).stdout;

interface ApplyView {
  readonly warnings: readonly string[];
  readonly warning_list: readonly object[];
  readonly applied: boolean;
}
const applyJson = async (text: string, ...flags: readonly string[]): Promise<ApplyView> => {
  const stdout = succeeds(await apply(text, "--json", ...flags));
  return JSON.parse(stdout);
};
interface ModelRow {
  readonly id: string;
  readonly served: boolean;
  readonly source: { readonly kind: string; readonly file: string | null };
}

/** Every byte that the data directory holds, the write-ahead log included. */
function storedBytes(): string {
  return readdirSync(home.dataDir)
    .filter((name) => !name.endsWith(".sock"))
    .map((name) => readFileSync(join(home.dataDir, name)).toString("latin1"))
    .join("\n");
}

describe("apply", () => {
  test("shows what it creates, and the second time that there is nothing to change", async () => {
    const first = await apply(manifest);
    expect(first.code).toBe(0);
    for (const name of ["provider named", "provider idle", "model one", "model speech"])
      expect(first.stdout).toContain(`+ ${name}\n`);
    expect(first.stdout).toContain("applied 6 changes.");
    const before = await exported();
    const second = await apply(manifest);
    expect([second.code, second.stdout]).toEqual([0, "Nothing to change.\n"]);
    expect(await exported()).toBe(before);
  });

  test("with --dry-run tells the same and changes nothing", async () => {
    await home.ok("account create acme");
    const planned = await applyJson(manifest, "--dry-run");
    expect(planned.applied).toBe(false);
    expect(await home.json<unknown>("model list")).toEqual([]);
    const done = await applyJson(manifest);
    expect(done).toEqual({ ...planned, applied: true });

    const before = await exported();
    const changed = manifest.replace("input: 0.1,", "input: 0.2,");
    const { stdout } = await apply(changed, "--dry-run");
    expect(stdout).toContain("~ model one\n    price.input: 0.1 → 0.2\n");
    expect(stdout).toContain("1 change to make. Nothing was changed (--dry-run).");
    expect(await exported()).toBe(before);
  });

  test("refuses a file that names what commands have created, unless it may adopt it", async () => {
    await put(manifest);
    expect(await apply(manifest)).toMatchObject(
      refusal(4, "provider named, model one, model speech"),
    );
    expect((await home.json<readonly ModelRow[]>("model list"))[0]?.source.kind).toBe("store");
    const adopted = await apply(manifest, "--adopt");
    expect(adopted.code).toBe(0);
    expect(adopted.stdout).toContain("~ model one\n    owner: database → svc.yaml\n");
    expect((await home.json<readonly ModelRow[]>("model list"))[0]?.source).toMatchObject({
      kind: "file",
      file: "svc.yaml",
      fields: ["endpoint", "max_output_tokens", "price", "routes"],
    });
    expect((await apply(manifest)).code).toBe(0);
  });

  test("refuses a file whole, with the line of every problem, and changes nothing", async () => {
    await apply(manifest);
    const before = await exported();
    const wrong = manifest
      .replace("input: 0.1,", "input: cheap,")
      .replace("Aoede: a ", "")
      .replace("provider: literal", "provider: nobody")
      .replace("endpoint: chat, price: { input: 0,", "endpoint: chat, price: {");
    const { code, stdout, stderr } = await apply(wrong);
    expect([code, stdout]).toEqual([2, ""]);
    const lines = stderr.replace("error: ", "").trim().split("\n");
    expect(lines.map((line) => /svc\.yaml: line (\d+): (\S+)/.exec(line)?.slice(1))).toEqual([
      ["6", "models.one.price.input"],
      ["7", "models.two.price.input"],
      ["7", "models.two.routes.0.provider"],
      ["8", "models.speech.routes.0.voices.Aoede"],
    ]);
    expect(await exported()).toBe(before);
  });

  test("warns of what will not work, without refusing it", async () => {
    const bare = "models:\n  bare: { endpoint: chat }\n";
    const { warnings, warning_list } = await applyJson(bare);
    expect(warnings).toEqual([
      "model bare has no price and no route, so it is not listed and cannot be called",
    ]);
    expect(warning_list).toMatchObject([{ kind: "not_served", subject: "bare" }]);
    home.writeConfig(manifest);
    const { stdout } = await home.svc("apply");
    expect(stdout).toContain("! provider named: VENDOR_KEY is not set");
  });
});

describe("secrets", () => {
  test("a literal is printed nowhere and stands in no byte of the data directory", async () => {
    const outputs = [
      await apply(manifest),
      await apply(manifest.replace(literal, `${literal}-2`), "--json"),
      await home.svc("export"),
      await home.svc("model list"),
      await home.svc("config"),
    ];
    const server = await home.serve(environment);
    outputs.push(await apply(manifest));
    // While the server runs, the latest writes are in its log file alone.
    const bytes = storedBytes();
    expect(await exported()).toContain("api_key: ${VENDOR_KEY}");
    await server.stop();
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(literal);
    expect(bytes).toContain("https://literal.example/v1");
    for (const secret of [literal, environment.VENDOR_KEY]) expect(bytes).not.toContain(secret);
    expect(storedBytes()).not.toContain(literal);
    expect(storedBytes()).not.toContain(server.key ?? "no key");
    expect(server.stdout() + server.stderr()).not.toContain(literal);
  });
});

test("a file by its name is read, and the server's own file is not applied twice", async () => {
  const path = join(home.dataDir, "..", "other.yaml");
  writeFileSync(path, manifest);
  expect((await home.svc(["apply", path], { environment })).stdout).toContain("applied 6 changes.");
  home.writeConfig(manifest);
  expect(await home.svc("apply", { environment })).toMatchObject(
    refusal(4, "model one (other.yaml)"),
  );
  await home.svc(["apply", home.configPath, "--adopt"], { environment });
  const server = await home.serve(environment);
  expect(server.stdout()).not.toContain("Nothing to change");
  expect(server.stdout()).not.toContain(home.configPath);
  expect(await server.stop()).toBe(0);
});

describe("a start", () => {
  test("goes on with what the store has where the file names what it did not create", async () => {
    await put(manifest);
    home.writeConfig(manifest.replace("max_output_tokens: 100", "max_output_tokens: 200"));
    const server = await home.serve({ ...environment, SVC_LOG_LEVEL: "error" });
    expect(server.stdout() + server.stderr()).toContain("config file not applied");
    expect(server.stdout() + server.stderr()).toContain("model one");
    expect(await exported()).toContain("max_output_tokens: 100");
    expect(await server.stop()).toBe(0);
  });
});

describe("a file", () => {
  const acme = `providers:
  acme: { kind: openai, base_url: "https://acme.example/v1" }
models:
  fast: { endpoint: chat, price: { input: 1, output: 2 }, routes: [{ provider: acme, model: m }] }
`;

  test("of the same name in another folder is another file, and removes nothing", async () => {
    await apply(acme);
    const other = join(home.dataDir, "svc.yaml");
    writeFileSync(other, "models:\n  fast: { endpoint: chat }\n");
    expect(await home.svc(["apply", other])).toMatchObject(
      refusal(4, `Try: svc apply ${other} --adopt`),
    );
    expect(await exported()).toContain("https://acme.example/v1");
  });

  test("that is gone is released, and its entries can be changed again", async () => {
    const gone = join(home.dataDir, "..", "gone.yaml");
    writeFileSync(gone, acme);
    await home.svc(["apply", gone]);
    expect((await home.svc("provider remove acme --yes")).code).toBe(4);
    const { code, stdout } = await home.svc(["apply", gone, "--release"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("the database now owns provider acme"),
    ]);
    await home.ok("provider remove acme --yes");
    expect((await home.svc(["apply", gone, "--release"])).code).toBe(3);
  });

  test("takes over no model of an operator that runs on the embedded models", async () => {
    await put(
      "models:\n  mine: { endpoint: chat, context_length: 777, routes: [{ provider: engine, model: own }] }\n",
    );
    const { code } = await apply("models:\n  mine: { endpoint: chat }\n");
    expect(code).toBe(4);
    expect(await exported()).toContain("context_length: 777");
  });
});

test("a provider changes its kind, and options of the old one go", async () => {
  const options = ["region=eu-west-1", "access_key_id=a", "secret_access_key=b"];
  const given = options.flatMap((option) => ["--option", option]);
  await home.ok(["provider", "add", "bedrock", "--no-models", ...given]);
  const change = ["--kind", "openai", "--base-url", "https://x.example/v1", "--no-test"];
  await home.ok(["provider", "update", "bedrock", ...change]);
  const yaml = await exported();
  expect(yaml).toContain("https://x.example/v1");
  expect(yaml).not.toContain("eu-west-1");
  expect((await home.svc("provider update bedrock --kind nope")).code).toBe(2);
});

test("a file with wrong settings is refused, as a start would refuse it", async () => {
  const stdin = "settings: { prot: 9 }\n";
  expect(await home.svc("apply -", { stdin })).toMatchObject(
    refusal(2, "settings.prot is not a setting"),
  );
});

test("a deprecated model and its replacement keep their endpoint; an export tells the lifecycle", async () => {
  const provider = `providers:\n  acme: { kind: openai, base_url: "https://api.acme.example/v1" }\n`;
  const chat = (id: string) =>
    `  ${id}: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: acme, model: m }] }\n`;
  const pair = `${provider}models:\n${chat("old")}${chat("new")}`;
  await home.ok("apply -", { stdin: pair });
  const words = "model deprecate old --retires 2999-01-31 --replacement new".split(" ");
  await home.ok(words);
  for (const id of ["old", "new"]) {
    const stdin = pair.replace(`${id}: { endpoint: chat`, `${id}: { endpoint: speech`);
    expect(
      await home.svc("apply -", {
        stdin: stdin.replace(/speech, price: .*/, "speech }"),
      }),
    ).toMatchObject(refusal(2, `models.${id}`));
  }
  const { stdout } = await home.svc("export");
  expect(stdout).toMatch(
    /^# old: deprecated from .*, retires 2999-01-31T00:00:00Z, replaced by new/,
  );
  expect((await home.svc("apply -", { stdin: stdout })).stdout).toBe("Nothing to change.\n");
});
