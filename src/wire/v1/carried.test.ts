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

test("what is slow to parse counts over all strings of a request, and nothing is read behind it", () => {
  const light = toOpaque({ details: [{ text: "t" }] });
  for (const heavy of [
    toOpaque({ details: [{ text: "\n".repeat(150_000) }] }),
    toOpaque({ extra: Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [at, 1])) }),
    toOpaque({ details: [{ text: "x".repeat(4_000_000) }] }),
  ]) {
    const reader = new CarriedReader();
    const read = [light, heavy, light, heavy, light].map((one) => reader.read(one) !== undefined);
    expect(read).toEqual([true, true, true, false, false]);
  }
});

test("of thousands of strings the first are read, and those that carry nothing cost nothing", () => {
  const reader = new CarriedReader();
  const read = (text: string, count: number) =>
    Array.from({ length: count }, () => reader.read(text)).filter((one) => one !== undefined)
      .length;
  expect(read(toOpaque({}), 10_000)).toBe(10_000);
  expect(read(toOpaque({ extra: {} }), 5_000)).toBe(4_000);
  expect(read(toOpaque({}), 1)).toBe(1);
});
