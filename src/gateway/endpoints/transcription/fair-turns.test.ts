import { expect, test } from "bun:test";
import { FairTurns } from "./fair-turns.ts";

/** Work that has begun, in order; each piece ends when the test ends it. */
function recorder() {
  const turns = new FairTurns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string, signal = new AbortController().signal) =>
    turns.run(name.slice(0, 1), signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  const endNext = async () => {
    ends.shift()?.();
    for (let tick = 0; tick < 8; tick++) await Promise.resolve();
  };
  return { run, begun, endNext };
}

test("one piece of work runs at a time, and owners take turns", async () => {
  const { run, begun, endNext } = recorder();
  const all = ["a1", "a2", "a3", "b1", "c1", "b2"].map((name) => run(name));
  for (let left = all.length; left > 0; left--) {
    expect(begun).toHaveLength(all.length - left + 1);
    await endNext();
  }
  expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  expect(await Promise.all(all)).toHaveLength(6);
});

test("work whose caller disconnects while it waits never begins, and delays no other", async () => {
  const { run, begun, endNext } = recorder();
  const first = run("a1");
  const leaving = new AbortController();
  const left = run("b1", leaving.signal);
  const last = run("b2");
  leaving.abort(new Error("left"));
  expect(left).rejects.toThrow("left");
  expect(run("c1", leaving.signal)).rejects.toThrow("left");
  await endNext();
  await endNext();
  expect(begun).toEqual(["a1", "b2"]);
  expect(await Promise.all([first, last])).toEqual(["a1", "b2"]);
});

test("work that fails hands the turn on", async () => {
  const turns = new FairTurns();
  const { signal } = new AbortController();
  const failing = turns.run("a", signal, () => Promise.reject(new Error("broken")));
  const next = turns.run("b", signal, () => Promise.resolve(1));
  expect(failing).rejects.toThrow("broken");
  expect(await next).toBe(1);
});
