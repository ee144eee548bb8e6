import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
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
import { magic } from "../../backup/header.ts";
import { createPart } from "./part.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-part-"));
  path = join(folder, "svc.svcbackup");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const named = (name: string) => JSON.stringify(join(import.meta.dir, name));

/** A process that writes a backup until its input ends, and then completes it. */
async function otherWriter(file: string) {
  const code = `
    const { openSink } = await import(${named("output.ts")});
    const { magic } = await import(${named("../../backup/header.ts")});
    const sink = openSink(${JSON.stringify(file)}, ${JSON.stringify(tmpdir())});
    await sink.write(magic);
    process.stdout.write("ready");
    await Bun.stdin.text();
    await sink.write(Buffer.alloc(9_000, "x"));
    sink.finish();`;
  const child = Bun.spawn([process.execPath, "-e", code], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("ready");
  return child;
}

test("a backup that another process writes stays, and gets its name", async () => {
  const child = await otherWriter(path);
  createPart(join(folder, "other"), false).close();
  expect(() => createPart(path, false)).toThrow("Another backup writes");
  expect(existsSync(`${path}.part`)).toBe(true);
  child.stdin.end();
  expect(await child.exited).toBe(0);
  expect(readFileSync(path)).toEqual(Buffer.concat([magic, Buffer.alloc(9_000, "x")]));
});

test("what killed backups have left is removed by the next one in the folder", async () => {
  const others = ["one.svcbackup", "svc-20260101T000000Z.svcbackup"];
  const writers = await Promise.all(others.map((name) => otherWriter(join(folder, name))));
  for (const child of writers) child.kill("SIGKILL");
  await Promise.all(writers.map((child) => child.exited));
  expect(readdirSync(folder).toSorted()).toEqual(others.map((name) => `${name}.part`));
  writeFileSync(`${path}.part`, "half");
  createPart(path, false).close();
  expect(readdirSync(folder)).toEqual(["svc.svcbackup.part"]);
  expect(readFileSync(`${path}.part`)).toHaveLength(0);
});

test("nothing else that ends with .part is touched", () => {
  writeFileSync(join(folder, "film.part"), "mine");
  writeFileSync(join(folder, "elsewhere"), magic);
  symlinkSync(join(folder, "elsewhere"), join(folder, "link.part"));
  mkdirSync(join(folder, "folder.part"));
  Bun.spawnSync(["mkfifo", join(folder, "pipe.part")]);
  const before = readdirSync(folder);
  createPart(path, false).close();
  expect(readdirSync(folder).toSorted()).toEqual([...before, "svc.svcbackup.part"].toSorted());
  for (const name of ["link", "folder", "pipe"])
    expect(() => createPart(join(folder, name), false)).toThrow("remove what has this name");
  expect(readdirSync(folder)).toHaveLength(before.length + 1);
});
