import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectDir } from "../load/processes.ts";
import { copyCheckout, diskMegabytes } from "./clone.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-bench-test-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("a copy of this checkout can be started and has nothing installed", () => {
  const clone = join(dir, "clone");
  copyCheckout(projectDir, clone);
  for (const path of ["package.json", "engine/package-lock.json", "src/main.ts"])
    expect(existsSync(join(clone, path))).toBe(true);
  for (const path of ["node_modules", "engine/node_modules", ".git", ".svc"])
    expect(existsSync(join(clone, path))).toBe(false);
  expect(statSync(join(clone, "svc")).mode & 0o100).toBe(0o100);
});

test("without git, what a clone never holds stays behind all the same", () => {
  const from = join(dir, "plain");
  for (const path of ["src", "node_modules/ajv", "engine/node_modules", ".svc"])
    mkdirSync(join(from, path), { recursive: true });
  for (const path of ["src/main.ts", "node_modules/ajv/a.js", ".svc/secret", ".env"])
    writeFileSync(join(from, path), "some text");
  const to = join(dir, "plain-copy");
  copyCheckout(from, to);
  expect(existsSync(join(to, "src/main.ts"))).toBe(true);
  for (const path of ["node_modules", ".svc", ".env"])
    expect(existsSync(join(to, path))).toBe(false);
});

test("a folder weighs what its files take, each once, and one that is not there nothing", () => {
  const folder = join(dir, "weighed");
  const file = join(folder, "deep", "file");
  mkdirSync(join(folder, "deep"), { recursive: true });
  writeFileSync(file, Buffer.alloc(5 * 2 ** 20 - 2 ** 19, 1));
  linkSync(file, join(folder, "the-same-file"));
  expect(diskMegabytes(folder)).toBe(5);
  writeFileSync(join(folder, "another"), Buffer.alloc(2 * 2 ** 20, 1));
  expect(diskMegabytes(folder)).toBe(7);
  expect(diskMegabytes(folder, folder)).toBe(7);
  expect(diskMegabytes(join(dir, "nowhere"))).toBe(0);
});
