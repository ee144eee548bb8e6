import { expect, test } from "bun:test";
import { rowRange } from "./row-range.ts";

const rows = ["a", "b", "c", "d"];

test("a range has both of its ends, whichever was clicked first", () => {
  expect(rowRange(rows, { last: "b", to: "d" })).toEqual(["b", "c", "d"]);
  expect(rowRange(rows, { last: "d", to: "b" })).toEqual(["b", "c", "d"]);
  expect(rowRange(rows, { last: "c", to: "c" })).toEqual(["c"]);
});

test("it is one row if no other was clicked before, or that one is no longer shown", () => {
  expect(rowRange(rows, { last: undefined, to: "b" })).toEqual(["b"]);
  expect(rowRange(rows, { last: "gone", to: "b" })).toEqual(["b"]);
});
