import { expect, test } from "bun:test";
import { showChange } from "./show.ts";

function shown(before: string, after: string): readonly string[] {
  const lines: string[] = [];
  showChange(before, after, (line = "") => lines.push(line));
  return lines;
}

test("a new file is shown whole", () => {
  expect(shown("", "a: 1\nb: 2\n")).toEqual(["  a: 1", "  b: 2"]);
});

test("of a changed file only what is different is shown, with a line around it", () => {
  const before = "a\nb\nc\nd\ne\nf\n";
  const after = "a\nb\nc\nnew\nd\ne\nF\n";
  expect(shown(before, after)).toEqual(["    c", "  + new", "    d", "    e", "  - f", "  + F"]);
});

test("what was put between lines that are alike is found where it was put", () => {
  expect(shown("x: {}\ny: {}\n", "x: {}\nz: {}\ny: {}\n")).toEqual([
    "    x: {}",
    "  + z: {}",
    "    y: {}",
  ]);
});

test("a very long file is not shown to its end", () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `line ${at}`);
  const all = shown("", lines.join("\n"));
  expect(all).toHaveLength(201);
  expect(all.at(-1)).toContain("4800 more lines");
  expect(shown(lines.join("\n"), [...lines, "more"].join("\n"))).toEqual(["  + more"]);
});
