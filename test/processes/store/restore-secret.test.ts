/** `svc restore` where the master secret is in a setting: its messages name that setting. */

import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useHome } from "../../setup/use-home.ts";

const home = useHome();
let folder: string;
beforeEach(async () => {
  folder = join(home.dataDir, "..", "elsewhere");
  mkdirSync(folder);
  await home.json("account create acme");
});

const passphrase = { SVC_BACKUP_PASSPHRASE: "correct horse battery" };

async function restore(
  file: string,
  environment: Record<string, string>,
  ...more: readonly string[]
) {
  const target = join(folder, "restored");
  rmSync(target, { recursive: true, force: true });
  return home.svc(["restore", file, "--data-dir", target, ...more], { environment });
}

test("the setting that has another secret is named, with what to do about it", async () => {
  const plain = join(folder, "plain");
  const encrypted = join(folder, "encrypted");
  await home.json(["backup", plain]);
  await home.json(["backup", encrypted], { environment: passphrase });
  const other = "0123456789abcdef".repeat(4);
  const path = join(folder, "other-secret");
  writeFileSync(path, other, { mode: 0o400 });
  const cases = [
    [plain, { SVC_SECRET: other }, "the secret in SVC_SECRET has", "Set SVC_SECRET to the secret"],
    [
      plain,
      { SVC_SECRET_FILE: path },
      `the file in SVC_SECRET_FILE (${path}) has`,
      "Let SVC_SECRET_FILE name a file with the secret of the original",
    ],
    [encrypted, { SVC_SECRET: other, ...passphrase }, "in SVC_SECRET has", "Unset SVC_SECRET:"],
    [
      encrypted,
      { SVC_SECRET_FILE: path, ...passphrase },
      "in SVC_SECRET_FILE (",
      "Unset SVC_SECRET_FILE: the backup contains its secret",
    ],
  ] as const;
  for (const [file, environment, where, advice] of cases) {
    const { code, stderr } = await restore(file, environment);
    expect(code).toBe(1);
    expect(stderr).toContain(where);
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain(other);
  }
});

test("a restore says which setting the gateway needs from now on", async () => {
  const file = join(folder, "plain");
  await home.json(["backup", file]);
  const secretFile = join(home.dataDir, "secret");
  const secret = readFileSync(secretFile, "utf8").trim();
  for (const [name, value] of [
    ["SVC_SECRET", secret],
    ["SVC_SECRET_FILE", secretFile],
  ] as const) {
    const { code, stdout } = await restore(file, { [name]: value });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`The gateway must run with the same ${name}: this secret opens`),
    ]);
  }
  const inBackup = join(folder, "encrypted");
  await home.json(["backup", inBackup], { environment: passphrase });
  const { stdout } = await restore(inBackup, passphrase, "--trust");
  expect(stdout).toContain("The master secret is restored, too.");
  expect(stdout).not.toContain("must run with the same");
});
