import { expect, test } from "bun:test";
import { Pace } from "./pace.ts";

/** In how many turns of the event loop the steps run, and how many run in the fullest one. */
async function turnsOf(costs: readonly number[]) {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  count();
  const pace = new Pace();
  const seen = await Promise.all(costs.map((cost) => pace.run(cost, () => turn)));
  isOver = true;
  const sizes = [...Map.groupBy(seen, (at) => at).values()].map(({ length }) => length);
  return { turns: sizes.length, most: Math.max(...sizes) };
}

test("heavy steps of requests that come at once each have a turn of their own", async () => {
  expect(await turnsOf(Array.from({ length: 10 }, () => 4_000_000))).toEqual({
    turns: 10,
    most: 1,
  });
});

test("light steps share a turn up to a bound", async () => {
  const { most, turns } = await turnsOf(Array.from({ length: 100 }, () => 100_000));
  expect(most).toBeLessThanOrEqual(10);
  expect(turns).toBeLessThanOrEqual(11);
});

test("a step that fails holds up nobody", async () => {
  const pace = new Pace();
  const failing = pace.run(1, () => {
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect(await pace.run(1, () => "done")).toBe("done");
});
