import { expect, test } from "bun:test";
import { searchOf, toSearchText } from "./search-text.ts";

test("filters come back as they were saved, whatever their order", () => {
  const search = { range: "7d", model: "vendor/a b&c", by: "key", key: undefined, after: "req_1" };
  const text = toSearchText(search);
  expect(text).toBe("by=key&model=vendor%2Fa+b%26c&range=7d");
  expect(searchOf(text)).toEqual({ by: "key", model: "vendor/a b&c", range: "7d" });
  expect(toSearchText({ by: "key", range: "7d", model: "vendor/a b&c" })).toBe(text);
});
