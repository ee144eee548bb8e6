import { expect, test } from "bun:test";
import { CarriedReader, toOpaque } from "./carried.ts";

test("what was carried comes back as it was", () => {
  const carried = { details: [{ type: "x" }], extra: { a: 1 }, calls: { c: { b: 2 } } };
  expect(new CarriedReader("m").read(toOpaque("m", carried))).toEqual(carried);
  expect(new CarriedReader("m").read(`${toOpaque("m", {})}e30x`)).toBeUndefined();
  expect(new CarriedReader("m").read("a vendor's own")).toBeUndefined();
});

test("what another model made is not read, whatever its name", () => {
  const carried = { details: [{ type: "x" }] };
  const text = toOpaque("gemini-3.1", carried);
  expect(new CarriedReader("gemini-3.1").read(text)).toEqual(carried);
  for (const model of ["gemini-3", "gemini-3.1-pro", "", "Gemini-3.1"]) {
    expect(new CarriedReader(model).read(text)).toBeUndefined();
    expect(new CarriedReader(model).read(toOpaque("gemini-3.1", {}))).toBeUndefined();
  }
});

test("a string that names no model is not read", () => {
  expect(new CarriedReader("m").read("svc1.e30")).toBeUndefined();
  expect(new CarriedReader("").read("svc1.e30")).toBeUndefined();
});

test("many strings of one request are read together no further than one may go", () => {
  const heavy = toOpaque("m", { details: Array.from({ length: 9_000 }, () => ({})) });
  const reader = new CarriedReader("m");
  const read = Array.from({ length: 5 }, () => reader.read(heavy) !== undefined);
  expect(read).toEqual([true, true, false, false, false]);
});

test("what is slow to parse counts over all strings of a request, and nothing is read behind it", () => {
  const light = toOpaque("m", { details: [{ text: "t" }] });
  for (const heavy of [
    toOpaque("m", { details: [{ text: "\n".repeat(150_000) }] }),
    toOpaque("m", {
      extra: Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [at, 1])),
    }),
    toOpaque("m", { details: [{ text: "x".repeat(4_000_000) }] }),
  ]) {
    const reader = new CarriedReader("m");
    const read = [light, heavy, light, heavy, light].map((one) => reader.read(one) !== undefined);
    expect(read).toEqual([true, true, true, false, false]);
  }
});

test("of thousands of strings the first are read, and those that carry nothing cost nothing", () => {
  const reader = new CarriedReader("m");
  const read = (text: string, count: number) =>
    Array.from({ length: count }, () => reader.read(text)).filter((one) => one !== undefined)
      .length;
  expect(read(toOpaque("m", {}), 10_000)).toBe(10_000);
  expect(read(toOpaque("m", { extra: {} }), 5_000)).toBe(4_000);
  expect(read(toOpaque("m", {}), 1)).toBe(1);
});
