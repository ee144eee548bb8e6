import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log.ts";
import type { ProviderEntry } from "../catalog/model.ts";
import { KeyCommands } from "../config/key-commands.ts";
import { ReferenceWatch } from "./reference-watch.ts";

let folder: string;
let nowMs: number;
let changes: number;
let commands: KeyCommands;
let watch: ReferenceWatch;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-watch-"));
  nowMs = 0;
  changes = 0;
  commands = new KeyCommands({ PATH: process.env["PATH"] }, 3_600_000);
  watch = new ReferenceWatch({
    commands,
    log: createLog({ level: "silent", pretty: false, write: () => {} }),
    onChange() {
      changes += 1;
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

test("however often it is rejected, a command runs once in ten seconds, and once at a time", async () => {
  await start();
  const reject = (times: number) =>
    Promise.all(Array.from({ length: times }, () => watch.rejected({ name: "acme", key: "one" })));
  await reject(50);
  nowMs = 9_999;
  await reject(50);
  expect(runs("one")).toBe(2);
  nowMs = 10_000;
  await reject(50);
  expect([runs("one"), changes]).toEqual([3, 0]);
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
