import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Children, fromPsTime, weigh } from "./processes.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-bench-test-"));
const children = new Children(dir);
afterAll(async () => {
  await children.stop();
  rmSync(dir, { recursive: true });
});

test("reads the CPU times that ps writes on Linux and on macOS", () => {
  expect(fromPsTime("0:03.27")).toBe(3_270);
  expect(fromPsTime("12:05.50")).toBe(725_500);
  expect(fromPsTime("01:02:03")).toBe(3_723_000);
  expect(fromPsTime("2-01:00:00")).toBe(176_400_000);
});

test("weighs a process that has worked", () => {
  const before = weigh(process.pid);
  // By its own CPU time, not by the clock: others may have the processor for most of that.
  const begun = process.cpuUsage();
  const workedMs = () => {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
  while (workedMs() < 60);
  const after = weigh(process.pid);
  expect(after.cpuMs - before.cpuMs).toBeGreaterThanOrEqual(40);
  expect(after.rssBytes).toBeGreaterThan(1_000_000);
});

test("a child that cannot start is told, with what it said, not waited for", async () => {
  const args = ["-e", "console.error('no luck'); process.exit(3)"];
  const child = children.start({ name: "nobody", args, talks: true });
  await expect(child.ready()).rejects.toThrow("nobody ended with 3\nno luck");
  expect(() => child.weigh()).toThrow("has it ended");
});

test("a child is gone after stop", async () => {
  const child = children.start({ name: "upstream", args: ["bench/load/upstream.ts"], talks: true });
  expect(await child.ready()).toBeGreaterThan(0);
  expect(child.weigh().rssBytes).toBeGreaterThan(1_000_000);
  await child.stop();
  expect(child.ended).toBe(true);
  expect(() => child.weigh()).toThrow("has it ended");
});
