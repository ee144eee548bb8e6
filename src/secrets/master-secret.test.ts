import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useFolder } from "../../test/setup/folder.ts";
import { isSecretOpen, masterSecret } from "./master-secret.ts";

const dir = useFolder();
const nowhere = { fromEnvironment: undefined, file: undefined };

test("makes the master secret once, readable by its owner alone", () => {
  const made = masterSecret({
    ...nowhere,
    dataDir: join(dir, "data"),
    hasDatabase: false,
  });
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(masterSecret({ ...nowhere, dataDir: join(dir, "data"), hasDatabase: false })).toBe(made);
  expect(statSync(join(dir, "data", "secret")).mode & 0o777).toBe(0o600);
  expect(
    masterSecret({
      ...nowhere,
      fromEnvironment: "from the environment",
      dataDir: join(dir, "data"),
      hasDatabase: false,
    }),
  ).toBe("from the environment");
});

test("refuses a damaged secret instead of making another one", () => {
  writeFileSync(join(dir, "secret"), "short");
  expect(() => masterSecret({ ...nowhere, dataDir: dir, hasDatabase: false })).toThrow("damaged");
});

test("makes no new secret beside a database that belongs to another", () => {
  const dataDir = join(dir, "restored");
  expect(() => masterSecret({ ...nowhere, dataDir, hasDatabase: true })).toThrow(
    "Set SVC_SECRET or SVC_SECRET_FILE, or restore",
  );
  expect(existsSync(dataDir)).toBe(false);
});

const fromFile = (file: string) =>
  masterSecret({ ...nowhere, file, dataDir: join(dir, "unused"), hasDatabase: false });

test("takes the secret from a file, also by links as Kubernetes makes them", () => {
  const secret = "0123456789abcdef".repeat(4);
  mkdirSync(join(dir, "..2026"));
  writeFileSync(join(dir, "..2026", "master"), `${secret}\n`);
  symlinkSync("..2026", join(dir, "..data"));
  symlinkSync(join("..data", "master"), join(dir, "master"));
  expect(fromFile(join(dir, "master"))).toBe(secret);
  expect(existsSync(join(dir, "unused"))).toBe(false);
});

test("says what is wrong with the file, and never what is in it", () => {
  writeFileSync(join(dir, "empty"), "\n");
  writeFileSync(join(dir, "few"), "hunter2\n");
  writeFileSync(join(dir, "large"), "x".repeat(70_000));
  Bun.spawnSync(["mkfifo", join(dir, "pipe")]);
  for (const [name, trouble] of [
    ["none", "does not exist"],
    ["", "is a directory"],
    ["empty", "is empty"],
    ["few", "has fewer than 32 characters"],
    ["large", "is larger than 64 KiB"],
    ["pipe", "is not a regular file"],
    ["few/below", "is below a file that is no directory"],
  ] as const) {
    const path = join(dir, name);
    let message = "";
    try {
      fromFile(path);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(`SVC_SECRET_FILE: ${path} ${trouble}. It must be a file`);
    expect(message).not.toContain("hunter2");
  }
});

test("notices a file that every user can read", () => {
  const path = join(dir, "open");
  writeFileSync(path, "s".repeat(64));
  chmodSync(path, 0o644);
  expect(isSecretOpen(path)).toBe(true);
  chmodSync(path, 0o440);
  expect(isSecretOpen(path)).toBe(false);
});
