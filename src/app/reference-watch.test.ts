import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log.ts";
import type { ProviderEntry } from "../catalog/model.ts";
import { KeyCommands } from "../config/key-commands.ts";
import { ReferenceWatch } from "./reference-watch.ts";

const everyMs = 3_600_000;

let folder: string;
let nowMs: number;
let changes: number;
/** Of the last change, for the first key. */
let repeated: boolean;
let commands: KeyCommands;
let watch: ReferenceWatch;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-watch-"));
  nowMs = 0;
  changes = 0;
  repeated = false;
  commands = new KeyCommands({ PATH: process.env["PATH"] }, everyMs);
  watch = new ReferenceWatch({
    commands,
    log: createLog({ level: "silent", pretty: false, write: () => {} }),
    onChange({ isRepeated }) {
      changes += 1;
      repeated = isRepeated({ name: "acme", key: "one" });
      watch.expect(providers());
    },
    nowMs: () => nowMs,
  });
});
afterEach(async () => {
  await watch.close();
  rmSync(folder, { recursive: true });
});

const path = (name: string) => join(folder, name);

/** Each run adds a line to a file beside the command. */
function script(name: string, key: string): string {
  writeFileSync(`${path(name)}-next`, `#!/bin/sh\necho run >>"$0.runs"\necho ${key}\n`, {
    mode: 0o700,
  });
  renameSync(`${path(name)}-next`, path(name));
  return `command:${path(name)}`;
}

const runs = (name: string) => readFileSync(`${path(name)}.runs`, "utf8").split("run").length - 1;

const providers = (): readonly ProviderEntry[] => [
  {
    name: "acme",
    kind: "openai",
    baseUrl: "https://acme.example/v1",
    allowPrivate: false,
    keys: ["one", "two"].map((name) => ({
      name,
      weight: 1,
      secret: { variable: `command:${path(name)}` },
    })),
  },
  {
    name: "filed",
    kind: "openai",
    baseUrl: "https://filed.example/v1",
    allowPrivate: false,
    apiKey: { variable: `file:${path("key")}` },
  },
];

async function start(): Promise<void> {
  script("one", "first");
  script("two", "first");
  writeFileSync(path("key"), "first");
  watch.expect(providers());
  await watch.started();
  changes = 0;
}

test("a rejected key runs its command at once, and no other; a new key is reported", async () => {
  await start();
  const reference = script("one", "second");
  await watch.rejected({ name: "acme", key: "one" });
  expect([runs("one"), runs("two"), changes]).toEqual([2, 1, 1]);
  expect(commands.valueOf(reference)).toBe("second");
});

test("while a key is rejected, its command runs ever less often, and once at a time", async () => {
  await start();
  const rejectAt = async (ms: number) => {
    nowMs = ms;
    await Promise.all(
      Array.from({ length: 50 }, () => watch.rejected({ name: "acme", key: "one" })),
    );
    return runs("one");
  };
  expect(await rejectAt(0)).toBe(2);
  expect(await rejectAt(9_999)).toBe(2);
  expect(await rejectAt(10_000)).toBe(3);
  expect(await rejectAt(29_999)).toBe(3);
  expect(await rejectAt(30_000)).toBe(4);
  expect(await rejectAt(69_999)).toBe(4);
  expect(await rejectAt(70_000)).toBe(5);
  expect(changes).toBe(0);
  // It was not rejected for as long as its command's keys are used.
  expect(await rejectAt(70_000 + everyMs)).toBe(6);
  expect(await rejectAt(80_000 + everyMs)).toBe(7);
});

test("a key that stays rejected is read early as often as its command runs anyway, and no less", async () => {
  await start();
  for (nowMs = 0; nowMs <= 10 * everyMs; nowMs += 30_000)
    await watch.rejected({ name: "acme", key: "one" });
  // After 0, 30, 60, 120, 210, 390, 720, 1380, 2670 and 5250 seconds, then once per hour.
  expect(runs("one")).toBe(1 + 10 + 8);
});

test("only the first other key is news while a command prints another one for each rejection", async () => {
  await start();
  const printed = async (key: string) => {
    const before = changes;
    script("one", key);
    await watch.rejected({ name: "acme", key: "one" });
    expect([changes, commands.valueOf(`command:${path("one")}`)]).toEqual([before + 1, key]);
    return repeated;
  };
  expect(await printed("second")).toBe(false);
  nowMs = 10_000;
  expect(await printed("third")).toBe(true);
  nowMs = 30_000;
  expect(await printed("fourth")).toBe(true);
  // A run that no rejection has caused.
  const reference = script("one", "fifth");
  await commands.rerun([reference]);
  await watch.started();
  expect([changes, repeated]).toEqual([4, false]);
  nowMs = 30_000 + everyMs;
  expect(await printed("sixth")).toBe(false);
});

test("a file that was replaced is read at once when its key is rejected", async () => {
  await start();
  await watch.rejected({ name: "filed", key: undefined });
  expect(changes).toBe(0);
  writeFileSync(path("next"), "second");
  renameSync(path("next"), path("key"));
  nowMs = 10_000;
  await watch.rejected({ name: "filed", key: undefined });
  expect(changes).toBe(1);
});

test("a provider that is not there any more, and the end, run nothing", async () => {
  await start();
  await watch.rejected({ name: "gone", key: undefined });
  await watch.close();
  await watch.rejected({ name: "acme", key: "one" });
  expect(runs("one")).toBe(1);
});
