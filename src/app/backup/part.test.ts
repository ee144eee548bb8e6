import { afterEach, beforeEach, expect, test } from "bun:test";
import {
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

/** A process that writes a backup, and completes it when its input ends. */
async function otherWriter(file: string, { force = false } = {}) {
  const output = { file, dataDir: tmpdir(), force };
  const code = `
    const { openSink } = await import(${named("output.ts")});
    const { magic } = await import(${named("../../backup/header.ts")});
    const sink = openSink(${JSON.stringify(output)});
    await sink.write(magic);
    process.stdout.write("ready");
    const byte = await Bun.stdin.text();
    await sink.write(Buffer.alloc(9_000, byte));
    try {
      sink.finish();
    } catch (error) {
      sink.undo();
      console.error(error.code, error.message);
      process.exit(1);
    }`;
  const child = Bun.spawn([process.execPath, "-e", code], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("ready");
  return child;
}

/** Lets it complete its backup, full of one byte. Returns what it says. */
async function complete(child: Awaited<ReturnType<typeof otherWriter>>, byte: string) {
  child.stdin.write(byte);
  child.stdin.end();
  return [await child.exited, await new Response(child.stderr).text()];
}

const backupOf = (byte: string) => Buffer.concat([magic, Buffer.alloc(9_000, byte)]);

test("a backup that another process writes stays, and gets its name", async () => {
  const child = await otherWriter(path);
  createPart(join(folder, "other"), false).close();
  const own = createPart(path, false);
  expect(readdirSync(folder)).toHaveLength(3);
  own.close();
  expect(await complete(child, "x")).toEqual([0, ""]);
  expect(readFileSync(path)).toEqual(backupOf("x"));
});

test("of two backups with one name, the first to end gets it, and the other is refused", async () => {
  const [one, other] = await Promise.all([otherWriter(path), otherWriter(path)]);
  expect(await complete(other, "o")).toEqual([0, ""]);
  expect(await complete(one, "x")).toEqual([
    1,
    `conflict ${path} was created while this backup was written, so this one was discarded. Back up again with another name.\n`,
  ]);
  expect(readFileSync(path)).toEqual(backupOf("o"));
  expect(readdirSync(folder)).toEqual(["svc.svcbackup"]);
});

test("with --force, both are complete, and the last one to end gets the name", async () => {
  const [one, other] = await Promise.all(
    [path, path].map((file) => otherWriter(file, { force: true })),
  );
  for (const [child, byte] of [
    [other, "o"],
    [one, "x"],
  ] as const) {
    expect(child && (await complete(child, byte))).toEqual([0, ""]);
    expect(readFileSync(path)).toEqual(backupOf(byte));
  }
  expect(readdirSync(folder)).toEqual(["svc.svcbackup"]);
});

test("a backup whose unfinished file was removed is not mixed up with another one", async () => {
  const child = await otherWriter(path);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  expect(await complete(child, "x")).toEqual([
    1,
    `failed The backup ${path} cannot be written (ENOENT). Its directory, or the unfinished file in it, was removed. Back up again.\n`,
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test("what killed backups have left is removed by the next one in the folder", async () => {
  const others = ["one.svcbackup", "svc.svcbackup", "svc-20260101T000000Z.svcbackup"];
  const writers = await Promise.all(others.map((name) => otherWriter(join(folder, name))));
  for (const child of writers) child.kill("SIGKILL");
  await Promise.all(writers.map((child) => child.exited));
  // The name that earlier versions gave it.
  writeFileSync(`${path}.part`, magic);
  expect(readdirSync(folder)).toHaveLength(4);
  createPart(path, false).close();
  expect(readdirSync(folder)).toEqual([ownPart]);
});

const ownPart = expect.stringMatching(/^svc\.svcbackup\.[0-9a-f]{12}\.part$/);

test("nothing else that ends with .part is touched", () => {
  writeFileSync(join(folder, "film.part"), "mine");
  writeFileSync(join(folder, "elsewhere"), magic);
  symlinkSync(join(folder, "elsewhere"), join(folder, "link.part"));
  mkdirSync(join(folder, "folder.part"));
  Bun.spawnSync(["mkfifo", join(folder, "pipe.part")]);
  const before = readdirSync(folder).toSorted();
  createPart(path, false).close();
  expect(readdirSync(folder).toSorted()).toEqual([...before, ownPart]);
});
