import { beforeEach, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { magic } from "../../../src/backup/header.ts";
import { useHome } from "../../setup/use-home.ts";

/** Where backups are written to, and what they replace and remove there. */

const main = resolve(import.meta.dir, "../../../src/main.ts");

const home = useHome({ isBare: true });
let folder: string;
beforeEach(async () => {
  folder = join(home.dataDir, "..");
  await home.ok("account create acme");
});

test("only a regular file is replaced", async () => {
  const file = join(folder, "svc.svcbackup");
  const link = join(folder, "link");
  const dangling = join(folder, "dangling");
  const pipe = join(folder, "pipe");
  writeFileSync(file, "old");
  symlinkSync(file, link);
  symlinkSync(join(folder, "nothing"), dangling);
  Bun.spawnSync(["mkfifo", pipe]);
  for (const [path, what] of [
    [link, "a symbolic link"],
    [dangling, "a symbolic link"],
    [pipe, "not a regular file"],
  ] as const) {
    const before = lstatSync(path);
    const { code, stderr } = await home.svc(["backup", path, "--force"]);
    expect([code, stderr]).toEqual([
      4,
      `error: ${path} is ${what}, and svc backup replaces only regular files. Choose another name. FILE - writes to standard output.\n`,
    ]);
    expect([lstatSync(path).ino, lstatSync(path).mode]).toEqual([before.ino, before.mode]);
  }
  expect(readFileSync(file, "utf8")).toBe("old");
  await home.ok(["backup", file, "--force"]);
  expect(readFileSync(file).subarray(0, magic.length)).toEqual(magic);
});

test("what a killed backup has left goes with the next one in the directory", async () => {
  const shelf = join(folder, "shelf");
  mkdirSync(shelf);
  writeFileSync(join(shelf, "notes.part"), "mine");
  writeFileSync(join(shelf, "svc-20260104T000000Z.svcbackup.0123456789ab.part"), magic);
  await home.ok(["backup", shelf]);
  expect(readdirSync(shelf).toSorted()).toEqual([
    "notes.part",
    expect.stringMatching(/^svc-\d{8}T\d{6}Z\.svcbackup$/),
  ]);
});

test("a reader that leaves gets one sentence, and nothing stays behind", async () => {
  const backup = Bun.spawn([process.execPath, main, "backup", "-"], {
    env: { HOME: folder, PATH: "", SVC_DATA_DIR: home.dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });
  await backup.stdout.cancel();
  expect([await backup.exited, await new Response(backup.stderr).text()]).toEqual([
    1,
    "error: The program that reads the backup ended before the backup was complete. What it has read cannot be restored.\n",
  ]);
  expect(readdirSync(home.dataDir).filter((name) => name.includes("copy"))).toEqual([]);
});
