import { expect, test } from "bun:test";
import { runsOf } from "./sparkline.tsx";

test("empty buckets keep their place", () => {
  expect(runsOf([null, null, 3, 4, null, 5])).toEqual([
    { from: 2, run: [3, 4] },
    { from: 5, run: [5] },
  ]);
  expect(runsOf([null, null])).toEqual([]);
});
