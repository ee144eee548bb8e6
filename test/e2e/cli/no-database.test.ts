/** Commands in a folder in which nothing was ever started. */

import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { refusal } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

/** They look at what is there, or change it. */
const needing = [
  "account list",
  "account credit acme 5",
  "key list",
  "key create --account acme",
  "operator list",
  "operator reset ada@example.com",
  "provider list",
  "provider test openai",
  "provider remove openai",
  "model list",
  "price list",
  "price set svc-3-flash --input 1 --output 2",
  "export",
  "requests",
  "receipt list",
  "receipt export --out receipts.csv",
  "ledger verify",
  "report margin",
  "exports",
  "logs",
  "nodes",
  "secret status",
  "secret rotate",
  "chat hello",
  "connect codex --model svc-3-flash",
];

/** The first one of an installation can be one of them. */
const creating = [
  "account create acme",
  "operator invite",
  "provider add mine --kind openai --base-url https://models.example/v1 --no-test",
  "model add vectors --endpoint embeddings --input text",
  "apply CONFIG",
];

/** Dry runs, and what is refused before anything is done. */
const trying = [
  ["init --preset google --print", 0],
  ["init --preset google --dry-run", 0],
  ["apply CONFIG --dry-run", 0],
  ["import litellm LITELLM --print", 0],
  ["import litellm LITELLM --dry-run", 0],
  ["provider add mine --kind openai --base-url https://models.example/v1 --no-models --dry-run", 0],
  ["account create acme --rpm nope", 2],
  ["model add fast --provider groq", 2],
  ["model add fast --endpoint chat --price input", 2],
] as const;

const litellm = "model_list: [{ model_name: fast, litellm_params: { model: openai/gpt-4o-mini } }]";

const words = (line: string) => line.replace("CONFIG", home.configPath).split(" ");

const home = useHome({ isBare: true });

describe("in an empty folder", () => {
  for (const line of needing)
    test(`svc ${line} creates nothing`, async () => {
      const { code, stdout, stderr } = await home.svc(words(line));
      expect({ code, stdout, stderr }).toEqual({
        code: 3,
        stdout: "",
        stderr: `error: The database ${join(home.dataDir, "svc.db")} does not exist. Check SVC_DATA_DIR, or create a new database with svc serve.\n`,
      });
      expect(readdirSync(dirname(home.dataDir))).toEqual(["svc.yaml"]);
    });

  for (const line of creating)
    test(`svc ${line} creates the database`, async () => {
      expect(await home.svc(words(line))).toMatchObject({ code: 0 });
      expect(readdirSync(home.dataDir)).toContain("svc.db");
    });

  for (const [line, expected] of trying)
    test(`svc ${line} creates nothing`, async () => {
      const shelf = join(dirname(home.dataDir), "temporary");
      const source = join(shelf, "litellm.yaml");
      mkdirSync(shelf);
      writeFileSync(source, litellm);
      const usual = process.env["TMPDIR"];
      process.env["TMPDIR"] = shelf;
      expect(tmpdir()).toBe(shelf);
      const { code, stderr } = await home.svc(words(line.replace("LITELLM", source)));
      if (usual === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = usual;
      expect({ code, stderr }).toEqual({ code: expected, stderr: expect.any(String) });
      expect(stderr).not.toContain("master secret");
      expect(existsSync(home.dataDir)).toBe(false);
      expect(readdirSync(shelf)).toEqual(["litellm.yaml"]);
    });

  test("the setting that names the file is the one to check", async () => {
    const path = join(home.dataDir, "other.db");
    const environment = { SVC_DATABASE_URL: `sqlite:${path}` };
    const { stderr } = await home.svc("account list", { environment });
    expect(stderr).toStartWith(
      `error: The database ${path} does not exist. Check SVC_DATABASE_URL,`,
    );
  });

  test("the weights of embedded models are listed without a database", async () => {
    const status = await home.json<{ readonly engine: unknown }>("engine status");
    expect(status.engine).toBeNull();
    expect(readdirSync(dirname(home.dataDir))).toEqual(["svc.yaml"]);
  });
});

test("a file without tables is reported as empty, and gets no secret", async () => {
  mkdirSync(home.dataDir);
  writeFileSync(join(home.dataDir, "svc.db"), "");
  expect(await home.svc("account list")).toMatchObject(
    refusal(3, "svc.db is empty. Check SVC_DATA_DIR"),
  );
  expect(readdirSync(home.dataDir)).not.toContain("secret");
});

test("a data directory without its database is reported as such", async () => {
  mkdirSync(home.dataDir);
  writeFileSync(join(home.dataDir, "secret"), `${"x".repeat(64)}\n`, { mode: 0o600 });
  const refused = refusal(1, "Restore the database, or move this file away");
  for (const line of ["account list", "ledger verify"])
    expect(await home.svc(line)).toMatchObject(refused);
});
