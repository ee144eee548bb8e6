import { expect, test } from "bun:test";
import { inBulk } from "./stock.ts";

const tell = () => {};

test("all are made, in their order, and never more than sixteen at a time", async () => {
  let running = 0;
  let most = 0;
  const made = await inBulk({
    what: "numbers",
    count: 100,
    tell,
    make: async (index) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return index * 2;
    },
  });
  expect(made).toEqual(Array.from({ length: 100 }, (_, index) => index * 2));
  expect(most).toBe(16);
});

test("the first failure ends it: nothing more is begun", async () => {
  let begun = 0;
  const bulk = inBulk({
    what: "numbers",
    count: 1_000,
    tell,
    make: async (index) => {
      begun++;
      await new Promise((resolve) => setImmediate(resolve));
      if (index === 20) throw new Error("no luck");
    },
  });
  await expect(bulk).rejects.toThrow("no luck");
  const begunThen = begun;
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(begun - begunThen).toBeLessThanOrEqual(16);
  expect(begun).toBeLessThan(100);
});

test("what takes too long is an error that says how far it came", async () => {
  const bulk = inBulk({ what: "keys", count: 10, tell, timeoutMs: -1, make: async () => 1 });
  await expect(bulk).rejects.toThrow("of 10 keys were made within -1 ms");
});
