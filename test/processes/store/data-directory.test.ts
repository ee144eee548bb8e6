import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = mkdtempSync(join(tmpdir(), "svc-rights-"));
chmodSync(root, 0o755);
afterAll(() => {
  for (const name of readdirSync(root))
    if (!lstatSync(join(root, name)).isSymbolicLink()) chmodSync(join(root, name), 0o700);
  rmSync(root, { recursive: true });
});

const isRoot = process.getuid?.() === 0;
/** Rights do not bind root, so where the tests run as root, the server opens its store as nobody. */
const uid = isRoot ? 65_534 : (process.getuid?.() ?? 0);
const opener = join(import.meta.dir, "open-store.ts");

interface Opened {
  readonly code: number;
  readonly stderr: string;
}

async function open(dataDir: string): Promise<Opened> {
  const child = Bun.spawn([process.execPath, "--no-env-file", opener, String(uid)], {
    env: { PATH: process.env["PATH"], SVC_DATA_DIR: dataDir, SVC_ENGINE: "off" },
    stdout: "ignore",
    stderr: "pipe",
  });
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  return { code, stderr };
}

function directory(name: string, mode: number): string {
  const path = join(root, name);
  mkdirSync(path);
  if (isRoot) chownSync(path, uid, uid);
  chmodSync(path, mode);
  return path;
}

const allFiles = () => Bun.spawnSync(["find", root]).stdout.toString();

async function expectRefusal(dataDir: string, message: string): Promise<void> {
  const before = allFiles();
  expect(await open(dataDir)).toEqual({ code: 1, stderr: `${message}\n` });
  expect(allFiles()).toBe(before);
}

test("a directory of one's own is used, with files that only its user can read", async () => {
  const path = directory("good", 0o755);
  expect(await open(path)).toEqual({ code: 0, stderr: "" });
  for (const name of ["svc.db", "secret", "lock.db"])
    expect([name, lstatSync(join(path, name)).mode & 0o777]).toEqual([name, 0o600]);
});

test("a directory that this user cannot write to is refused with its owner", async () => {
  const path = directory("closed", 0o500);
  await expectRefusal(
    path,
    `The data directory ${path} belongs to user ${uid}, and user ${uid} cannot write to it (EACCES). Run the server as its owner, or run: chown -R ${uid} ${path}`,
  );
});

test("a directory that does not exist is refused if it cannot be created", async () => {
  const parent = directory("parent", 0o500);
  const path = join(parent, "svc", "data");
  await expectRefusal(
    path,
    `The data directory ${path} does not exist, and user ${uid} cannot create it in ${parent} (EACCES). Create it for this user, or set SVC_DATA_DIR to another directory.`,
  );
});

test("a directory that cannot be reached is refused", async () => {
  const path = join(directory("hidden", 0o000), "data");
  await expectRefusal(
    path,
    `User ${uid} cannot reach the data directory ${path} (EACCES). Check the rights of the directories above it.`,
  );
});

test("a directory that every user can write to is refused, and its files stay as they are", async () => {
  const path = directory("open", 0o777);
  writeFileSync(join(path, "svc.db"), "of someone else");
  await expectRefusal(
    path,
    `Every user of this machine can write to the data directory ${path} and replace its files. Check that they are yours, and run: chmod 700 ${path}`,
  );
  expect(readFileSync(join(path, "svc.db"), "utf8")).toBe("of someone else");
});

test("a file in place of the directory, or above it, is refused", async () => {
  const path = join(root, "file");
  writeFileSync(path, "mine");
  await expectRefusal(
    path,
    `SVC_DATA_DIR is ${path}, which is not a directory. Set it to a directory, or move the file away.`,
  );
  const below = join(path, "data");
  await expectRefusal(
    below,
    `SVC_DATA_DIR is ${below}, and a part of this path is a file. Set it to a directory.`,
  );
  expect(readFileSync(path, "utf8")).toBe("mine");
});

test.each(["nowhere", "itself"])("a link to %s is refused", async (name) => {
  const path = join(root, name);
  symlinkSync(name === "itself" ? path : join(root, "missing"), path);
  await expectRefusal(
    path,
    `SVC_DATA_DIR is ${path}, a link that leads nowhere. Create the directory that it points to, or correct the link.`,
  );
});

test("a link to a good directory is followed", async () => {
  const path = join(root, "link");
  symlinkSync(directory("target", 0o700), path);
  expect(await open(path)).toEqual({ code: 0, stderr: "" });
});
