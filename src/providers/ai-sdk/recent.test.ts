import { expect, test } from "bun:test";
import { Recent } from "./recent.ts";

test("no more than 256 are kept, and the oldest goes first", () => {
  const recent = new Recent<number>();
  for (let at = 0; at < 256; at++) expect(recent.keep(`name-${at}`, at)).toBe(at);
  expect(recent.get("name-0")).toBe(0);
  recent.keep("one-more", 256);
  expect(recent.get("name-0")).toBeUndefined();
  expect([recent.get("name-1"), recent.get("name-255"), recent.get("one-more")]).toEqual([
    1, 255, 256,
  ]);
  for (let at = 0; at < 10_000; at++) recent.keep(`other-${at}`, at);
  const kept = Array.from({ length: 10_000 }, (_, at) => recent.get(`other-${at}`));
  expect(kept.filter((value) => value !== undefined)).toEqual(
    Array.from({ length: 256 }, (_, at) => 9_744 + at),
  );
});
