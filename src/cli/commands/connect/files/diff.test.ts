import { expect, test } from "bun:test";
import { diffLines } from "./diff.ts";

const signs = { same: " ", removed: "-", added: "+", gap: "…" } as const;
const shown = (before: readonly string[], after: readonly string[]) =>
  diffLines(before.join("\n"), after.join("\n")).map(({ kind, text }) => signs[kind] + text);

test("shows what changes, with two lines around it", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  expect(shown(before, ["1", "2", "3", "4", "five", "6", "7", "8", "9"])).toEqual([
    "…",
    " 3",
    " 4",
    "-5",
    "+five",
    " 6",
    " 7",
    "…",
  ]);
  expect(shown([], ["a", "b"])).toEqual(["+a", "+b"]);
  expect(shown(["a", "x", "b", "y", "c"], ["a", "b", "z", "c"])).toEqual([
    " a",
    "-x",
    " b",
    "-y",
    "+z",
    " c",
  ]);
});

test("very many changed lines are shown as replaced, and in no time worse than linear", () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word}${at}`);
  const found = shown(lines("a"), lines("b"));
  expect([found.length, found[0], found.at(-1)]).toEqual([40_000, "-a0", "+b19999"]);
});
