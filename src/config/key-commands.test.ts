import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeyCommands } from "./key-commands.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-commands-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const environment = { PATH: process.env["PATH"] };

function reference(body: string, ...words: string[]): string {
  const path = join(folder, "script");
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o700 });
  return `command:${[path, ...words].join(" ")}`;
}

test("at most four commands run at a time, and each is run once", async () => {
  const commands = new KeyCommands(environment, 300_000);
  mkdirSync(join(folder, "running"));
  const body = `cd ${folder}; touch running/$1; ls running | wc -l >>counts; sleep 0.2; rm running/$1; echo key-$1`;
  const all = Array.from({ length: 10 }, (_, at) => reference(body, String(at)));
  await Promise.all([
    commands.refresh([...all, ...all], { retries: false }),
    commands.refresh(all, { retries: false }),
  ]);
  const counts = readFileSync(join(folder, "counts"), "utf8").trim().split("\n").map(Number);
  expect(counts.length).toBe(10);
  expect(Math.max(...counts)).toBeLessThanOrEqual(4);
  expect(all.map((one) => commands.valueOf(one))).toEqual(all.map((_, at) => `key-${at}`));
  // None is due yet.
  await commands.refresh(all, { retries: true });
  expect(readFileSync(join(folder, "counts"), "utf8").trim().split("\n").length).toBe(10);
  await commands.close();
});

test("a failed run is tried again later, and at once when an operator asks", async () => {
  const commands = new KeyCommands(environment, 300_000);
  const one = reference("exit 2");
  await commands.refresh([one], { retries: false });
  expect([commands.valueOf(one), commands.problemOf(one)]).toEqual([
    undefined,
    "ended with exit code 2",
  ]);
  const failed = commands.markOf(one);
  reference("echo key");
  await commands.refresh([one], { retries: false });
  expect(commands.valueOf(one)).toBeUndefined();
  await commands.refresh([one], { retries: true });
  expect([commands.valueOf(one), commands.problemOf(one)]).toEqual(["key", undefined]);
  expect(commands.markOf(one)).not.toBe(failed);
  commands.keepOnly(new Set());
  expect(commands.hasRun(one)).toBe(false);
  await commands.close();
});

test("an end stops what runs and starts nothing more", async () => {
  const commands = new KeyCommands(environment, 300_000);
  const all = Array.from({ length: 6 }, (_, at) => reference("sleep 600", String(at)));
  const refreshed = commands.refresh(all, { retries: false });
  await commands.close();
  await refreshed;
  expect(all.some((one) => commands.hasRun(one))).toBe(false);
});
