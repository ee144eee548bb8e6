import { expect, test } from "bun:test";
import { Type } from "../../base/json/type.ts";
import { nullable } from "./schemas.ts";
import { toStrip } from "./strip.ts";

const row = Type.Object({
  id: Type.String(),
  cost: Type.Optional(Type.String()),
  route: nullable(Type.Object({ provider: Type.String() })),
  prices: Type.Record(Type.String(), Type.String()),
  words: Type.Array(Type.String()),
});
const strip = toStrip(Type.Object({ rows: Type.Array(row) }));

test("what a schema does not name is left out, at every depth", () => {
  const full = {
    id: "1",
    secret: "x",
    route: { provider: "p", key: "x" },
    prices: { input: "1" },
    words: ["a"],
  };
  const bare = { id: "2", route: null, prices: {}, words: [], hash: "x" };
  expect(strip({ rows: [full, bare], hash: "x" })).toEqual({
    rows: [
      { id: "1", route: { provider: "p" }, prices: { input: "1" }, words: ["a"] },
      { id: "2", route: null, prices: {}, words: [] },
    ],
  });
});

test("what was given is not changed", () => {
  const given = Object.freeze({ rows: Object.freeze([Object.freeze({ id: "1", secret: "x" })]) });
  strip(given);
  expect(given.rows[0]).toEqual({ id: "1", secret: "x" });
});

test("a choice between union of two object types is refused when a route is made", () => {
  const either = Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]);
  expect(() => toStrip(either)).toThrow("union of two object types");
});
