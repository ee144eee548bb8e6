import { expect, test } from "bun:test";
import { closingMs, Undo } from "./undo.ts";

const never = () => new Promise<void>(() => {});

test("steps that never end share one deadline, whatever their number", async () => {
  let nowMs = 0;
  const undo = new Undo(() => nowMs);
  const limits: (number | undefined)[] = [];
  const hang = (withinMs: number | undefined) => {
    limits.push(withinMs);
    nowMs += withinMs ?? 0;
    return never();
  };
  for (const share of [5, 8, 1, 1, 1]) undo.push(hang, share);
  await undo.run(32);
  expect(limits).toEqual([2, 2, 2, 16, 10]);
});

test("what a step leaves over is for those that follow, and a step without a share takes none", async () => {
  let nowMs = 0;
  const undo = new Undo(() => nowMs);
  const limits: (number | undefined)[] = [];
  const take = (tookMs: number) => async (withinMs: number | undefined) => {
    limits.push(withinMs);
    nowMs += tookMs;
  };
  undo.push(take(0), 5);
  undo.push(take(500), 0);
  undo.push(take(40), 5);
  await undo.run(1_000);
  expect(limits).toEqual([500, undefined, 960]);
});

test("a failure does not keep the other steps from running, and is thrown at the end", async () => {
  const undo = new Undo();
  const ran: string[] = [];
  undo.push(async () => void ran.push("first"));
  undo.push(() => Promise.reject(new Error("broken")), 1);
  undo.push(never, 1);
  await expect(undo.run(10)).rejects.toThrow("broken");
  expect(ran).toEqual(["first"]);
});

test("closing waits for a database as long as calls may, within what service managers allow", () => {
  expect([0, 1_000, 4_000, 30_000].map((graceMs) => closingMs(graceMs))).toEqual([
    1_000, 1_000, 4_000, 8_000,
  ]);
  expect(closingMs(30_000, 5_000)).toBe(3_000);
  expect(closingMs(30_000, 60_000)).toBe(1_000);
});
