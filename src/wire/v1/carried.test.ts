import { expect, test } from "bun:test";
import { CarriedReader, toOpaque } from "./carried.ts";

test("what was carried comes back as it was", () => {
  const carried = { details: [{ type: "x" }], extra: { a: 1 }, calls: { c: { b: 2 } } };
  expect(new CarriedReader().read(toOpaque(carried))).toEqual(carried);
  expect(new CarriedReader().read("svc1.e30x")).toBeUndefined();
  expect(new CarriedReader().read("a vendor's own")).toBeUndefined();
});

test("many strings of one request are read together no further than one may go", () => {
  const heavy = toOpaque({ details: Array.from({ length: 9_000 }, () => ({})) });
  const reader = new CarriedReader();
  const read = Array.from({ length: 5 }, () => reader.read(heavy) !== undefined);
  expect(read).toEqual([true, true, false, false, false]);
});
