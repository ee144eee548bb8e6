import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Check } from "../../../src/cli/doctor-wiring.ts";
import { createHome, type Environment, type Home } from "../../setup/child.ts";

/**
 * Commands of one user in the data directory of another. Where the tests run as root, the directory
 * belongs to nobody. Elsewhere there is one user, and a directory that this user may not enter.
 */

const self = process.getuid?.() ?? 0;
const isRoot = self === 0;
const owner = isRoot ? 65_534 : self;
const stranger = isRoot ? 65_533 : self;
const svcAs = join(import.meta.dir, "svc-as.ts");

let home: Home;
let root: string;
let data: string;
beforeEach(() => {
  home = createHome({ isBare: true });
  root = dirname(home.dataDir);
  chmodSync(root, 0o777);
  data = directory("data");
  // Whatever the umask is.
  chmodSync(home.configPath, 0o644);
});
afterEach(async () => {
  chmodSync(data, 0o700);
  await home.remove();
});

function directory(name: string): string {
  const path = join(root, name);
  mkdirSync(path, { mode: 0o700 });
  if (isRoot) chownSync(path, owner, owner);
  return path;
}

/** In a process of its own where it is another user than that of the tests. */
async function svc(uid: number, words: readonly string[], dataDir = data, more: Environment = {}) {
  const environment = { SVC_DATA_DIR: dataDir, ...more };
  if (uid === self) return home.svc(words, { environment });
  const child = Bun.spawn([process.execPath, "--no-env-file", svcAs, String(uid), ...words], {
    env: home.environment(environment),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, stdout, stderr };
}

async function succeed(uid: number, words: readonly string[], dataDir = data): Promise<void> {
  const { code, stderr } = await svc(uid, words, dataDir);
  expect({ words, code, stderr: code === 0 ? "" : stderr }).toEqual({ words, code: 0, stderr: "" });
}

/** Files and folders below, with the user that each belongs to. */
function ownersIn(path: string): readonly string[] {
  return readdirSync(path, { recursive: true })
    .map((name) => `${String(name)} ${lstatSync(join(path, String(name))).uid}`)
    .toSorted();
}

function expectOwned(path: string): void {
  const found = ownersIn(path);
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((one) => !one.endsWith(` ${owner}`))).toEqual([]);
}

const withoutStack = (stderr: string) => {
  expect(stderr).not.toMatch(/\n\s+at |^\s*\d+ \|/m);
  return stderr.trim();
};

test("a first command of root leaves every file to the owner of the directory", async () => {
  await succeed(self, ["account", "create", "acme"]);
  expectOwned(data);
  await succeed(owner, ["account", "create", "beta"]);
});

test("after a backup and a rotation by root, the owner's commands work", async () => {
  await succeed(owner, ["account", "create", "acme"]);
  await succeed(self, ["backup", join(root, "one.svcbackup")]);
  await succeed(self, ["backup", join(data, "two.svcbackup")]);
  await succeed(self, ["secret", "rotate"]);
  expectOwned(data);
  // What is not in the data directory stays with the user who created it.
  expect(lstatSync(join(root, "one.svcbackup")).uid).toBe(self);
  await succeed(owner, ["backup", join(data, "three.svcbackup")]);
  await succeed(owner, ["account", "list"]);
});

test("a restore by root into a directory of another user leaves it a database to start on", async () => {
  await succeed(self, ["account", "create", "acme"]);
  const file = join(root, "one.svcbackup");
  writeFileSync(join(root, "words"), "a passphrase of enough characters");
  await succeed(self, ["backup", file, "--passphrase-file", join(root, "words")]);
  const other = directory("other");
  const words = ["--trust", "--passphrase-file", join(root, "words")];
  await succeed(self, ["restore", file, ...words], other);
  expect(existsSync(join(other, "secret"))).toBe(true);
  expectOwned(other);
  await succeed(owner, ["account", "create", "beta"], other);
});

test("root adds an export only to a directory that the owner of the data directory can write to", async () => {
  await succeed(self, ["account", "create", "acme"]);
  const good = ["exports", "add", "good", "--to", `file://${directory("exports")}`];
  await succeed(self, good);
  const closed = join(root, "closed");
  mkdirSync(closed, { mode: isRoot ? 0o755 : 0o500 });
  const bad = ["exports", "add", "bad", "--to", `file://${closed}`];
  const { code, stderr } = await svc(self, bad);
  expect([code, withoutStack(stderr)]).toEqual([
    1,
    expect.stringContaining(
      isRoot
        ? `${closed} cannot be written by user ${owner}, which owns the data directory. Create it or change its owner`
        : `${closed} cannot be written: permission denied`,
    ),
  ]);
  expect(readdirSync(closed)).toEqual([]);
  await succeed(self, [...bad, "--no-test"]);
  expect((await svc(self, ["exports", "test", "bad"])).code).toBe(1);
  await succeed(owner, ["exports", "test", "good"]);
  // The server is in its group alone: what root writes there stays root's.
  const shared = directory("shared");
  if (isRoot) chownSync(shared, 0, owner);
  chmodSync(shared, 0o770);
  await succeed(self, ["exports", "add", "shared", "--to", `file://${shared}`]);
  await succeed(owner, ["exports", "test", "shared"]);
});

test("a user who cannot reach the database gets one sentence", async () => {
  await succeed(self, ["account", "create", "acme"]);
  if (!isRoot) chmodSync(data, 0o000);
  for (const words of [
    ["backup", join(root, "one.svcbackup")],
    ["migrate", "--dry-run"],
  ]) {
    const { code, stderr } = await svc(stranger, words);
    expect([code, withoutStack(stderr)]).toEqual([
      1,
      expect.stringContaining(`User ${stranger} cannot reach ${join(data, "svc.db")} (EACCES).`),
    ]);
    if (isRoot) expect(stderr).toContain(`sudo -u '#${owner}' svc`);
  }
});

test("a command does not advise another user to take the directory", async () => {
  await succeed(self, ["account", "create", "acme"]);
  if (!isRoot) chmodSync(data, 0o500);
  for (const words of [["account", "list"], ["secret", "status"], ["doctor"]]) {
    const { code, stdout, stderr } = await svc(stranger, words);
    expect(code).toBe(1);
    expect(withoutStack(stderr) + stdout).not.toContain("chown -R");
    if (isRoot) expect(stderr + stdout).toContain(`sudo -u '#${owner}' svc`);
  }
  const start = await svc(stranger, ["serve"]);
  expect(start.stderr).toContain(`chown -R ${stranger} ${data}`);
});

test("a config file that the user may not read is named, with its remedy", async () => {
  chmodSync(home.configPath, 0o000);
  for (const words of [["config"], ["serve"]]) {
    const { code, stderr } = await svc(owner, words);
    expect([code, withoutStack(stderr)]).toEqual([
      2,
      `error: The config file ${home.configPath} (SVC_CONFIG) cannot be read by this user (EACCES). Let a group of this user read the file and enter its directory, with chgrp and chmod g+rX.`,
    ]);
  }
});

test("a file of SVC_SECRET_FILE that the user may not read is named, with its remedy", async () => {
  const secret = join(root, "master-secret");
  writeFileSync(secret, "a".repeat(64));
  chmodSync(secret, 0o000);
  const { code, stderr } = await svc(owner, ["serve"], data, { SVC_SECRET_FILE: secret });
  expect(code).toBe(2);
  expect(stderr).toContain(
    `SVC_SECRET_FILE: ${secret} cannot be read by this user. Make this user its owner, with mode 0400.`,
  );
  expect(stderr).not.toContain("openssl");
});

test("a file of another user is named, with its remedy", async () => {
  if (!isRoot) return;
  await succeed(self, ["account", "create", "acme"]);
  const secret = join(data, "secret");
  chownSync(secret, 0, 0);
  const remedy = `User ${owner} cannot use ${secret}, which belongs to user 0 (EPERM). Run as root: chown ${owner} ${secret}`;
  const list = await svc(owner, ["account", "list"]);
  expect(withoutStack(list.stderr)).toContain(remedy);
  const { stdout } = await svc(owner, ["doctor", "--json"]);
  const { checks }: { readonly checks: readonly Check[] } = JSON.parse(stdout);
  const problems = checks.filter(({ state }) => state === "problem");
  expect(problems).toEqual([{ group: "secret", state: "problem", finding: remedy }]);
  chownSync(secret, owner, owner);
  const lock = join(data, "lock.db");
  chownSync(lock, 0, 0);
  const locked = await svc(owner, ["account", "list"]);
  expect(withoutStack(locked.stderr)).toContain(`chown ${owner} ${lock}`);
});
