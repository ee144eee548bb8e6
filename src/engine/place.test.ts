import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projectDir } from "../base/place.ts";
import { enginePlace, placeIn } from "./place.ts";

let engine: string;
beforeEach(() => {
  engine = mkdtempSync(join(tmpdir(), "svc-engine-"));
  mkdirSync(join(engine, "server"));
  writeFileSync(join(engine, "package-lock.json"), "{}");
  writeFileSync(join(engine, "server", "server.ts"), "export {};");
});
afterEach(() => rmSync(engine, { recursive: true }));

test("a package's engine runs from a folder of the cache that is named after its content", () => {
  const first = placeIn("/cache", engine);
  expect(dirname(first.sources)).toBe(first.libraries);
  expect(dirname(first.libraries)).toBe("/cache/engine");
  expect(placeIn("/cache", engine)).toEqual(first);
  writeFileSync(join(engine, "server", "server.ts"), "export {};;");
  const newSources = placeIn("/cache", engine);
  expect(newSources.libraries).toBe(first.libraries);
  expect(newSources.sources).not.toBe(first.sources);
  writeFileSync(join(engine, "package-lock.json"), "{ }");
  expect(placeIn("/cache", engine).libraries).not.toBe(first.libraries);
});

test("a clone runs its own engine, with libraries of its own", () => {
  const folder = join(projectDir, "engine");
  expect(enginePlace("/cache")).toEqual({ libraries: folder, sources: folder });
});
