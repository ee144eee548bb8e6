import { expect, test } from "bun:test";
import { ApiError } from "../../../base/errors.ts";
import { HeldContent } from "./held-content.ts";

test("returns runs of text and reasoning in order, once", () => {
  const held = new HeldContent();
  for (const text of ["a", "b"]) expect(held.add({ text, isReasoning: false })).toBe("");
  held.add({ text: "c", isReasoning: true });
  held.add({ text: "d", isReasoning: false });
  expect(held.take()).toEqual([
    { text: "ab", isReasoning: false },
    { text: "c", isReasoning: true },
    { text: "d", isReasoning: false },
  ]);
  expect(held.take()).toEqual([]);
});

test("rejects more than 16 MiB or a thousand runs at a time", () => {
  const text = "x".repeat(16 * 1024 * 1024);
  const held = new HeldContent();
  held.add({ text, isReasoning: false });
  expect(() => held.add({ text: "y", isReasoning: true })).toThrow(ApiError);
  const runs = new HeldContent();
  const flip = () => {
    for (let at = 0; at < 1_002; at++) runs.add({ text: "x", isReasoning: at % 2 === 0 });
  };
  expect(flip).toThrow(ApiError);
});
