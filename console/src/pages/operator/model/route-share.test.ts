import { expect, test } from "bun:test";
import { shareOf } from "./route-share.ts";

type Shared = Parameters<typeof shareOf>[1];
const route = (priority: number, weight: number, state: Shared["state"] = "serving"): Shared => ({
  priority,
  weight,
  state,
});
const shares = (routes: readonly Shared[]) => routes.map((one) => shareOf(routes, one));

test("a fallback gets nothing while the primary serves", () => {
  expect(shares([route(1, 1), route(2, 1)])).toEqual([1, 0]);
});

test("routes of one priority share by weight", () => {
  expect(shares([route(1, 3), route(1, 1), route(2, 9)])).toEqual([0.75, 0.25, 0]);
});

test("a fallback gets all while the routes before it fail or are paused", () => {
  expect(shares([route(1, 1, "failing"), route(2, 1)])).toEqual([0, 1]);
  expect(shares([route(1, 1, "paused"), route(2, 1, "untested")])).toEqual([0, 1]);
  expect(shares([route(1, 1, "failing"), route(1, 1)])).toEqual([0, 1]);
});

test("where all fail, the first ones are still tried", () => {
  expect(shares([route(1, 1, "failing"), route(2, 1, "failing")])).toEqual([1, 0]);
  expect(shares([route(1, 1, "paused")])).toEqual([0]);
});
