import { expect, test } from "bun:test";
import { toBlocks, toSpans } from "./blocks.ts";

test("code between fences stands apart from the words around it", () => {
  expect(toBlocks("Like so:\n\n```python\nif x:\n    y()\n```\nDone.")).toEqual([
    { kind: "text", text: "Like so:" },
    { kind: "code", text: "if x:\n    y()" },
    { kind: "text", text: "Done." },
  ]);
});

test("a fence that is still open is code to the end", () => {
  expect(toBlocks("```\nlet a")).toEqual([{ kind: "code", text: "let a" }]);
});

test("headings, rules and quotes", () => {
  expect(toBlocks("# Title\n## Part ##\n---\n> said\n> so\nrest")).toEqual([
    { kind: "heading", level: 1, text: "Title" },
    { kind: "heading", level: 2, text: "Part" },
    { kind: "rule" },
    { kind: "quote", text: "said\nso" },
    { kind: "text", text: "rest" },
  ]);
});

test("lists keep their numbers, their depth and lines that go on", () => {
  expect(toBlocks("1. one\n   more\n2. two\n  - deep\n\n* star")).toEqual([
    {
      kind: "list",
      items: [
        { marker: "1.", depth: 0, text: "one\nmore" },
        { marker: "2.", depth: 0, text: "two" },
        { marker: "•", depth: 1, text: "deep" },
      ],
    },
    { kind: "list", items: [{ marker: "•", depth: 0, text: "star" }] },
  ]);
});

test("a table needs its rule; without one it is text", () => {
  expect(toBlocks("| a | b |\n|---|:-:|\n| 1 | 2 |")).toEqual([
    { kind: "table", head: ["a", "b"], rows: [["1", "2"]] },
  ]);
  expect(toBlocks("| a | b |")).toEqual([{ kind: "text", text: "| a | b |" }]);
});

test("marks within words", () => {
  expect(toSpans("a **bold** and `x*y*` *so* snake_case_name 2*3*4")).toEqual([
    { kind: "text", text: "a " },
    { kind: "bold", text: "bold" },
    { kind: "text", text: " and " },
    { kind: "code", text: "x*y*" },
    { kind: "text", text: " " },
    { kind: "italic", text: "so" },
    { kind: "text", text: " snake_case_name 2*3*4" },
  ]);
});

test("links lead to the web only", () => {
  expect(toSpans("[docs](https://example.com/a)")).toEqual([
    { kind: "link", text: "docs", url: "https://example.com/a" },
  ]);
  for (const bad of ["[x](javascript:alert(1))", "[x](data:text/html,1)", "[x](/me)"])
    expect(toSpans(bad).every(({ kind }) => kind === "text")).toBe(true);
});

test("HTML is text", () => {
  expect(toBlocks("<img src=x onerror=alert(1)>")).toEqual([
    { kind: "text", text: "<img src=x onerror=alert(1)>" },
  ]);
});

test("a long reply of nothing but marks takes no longer than its length", () => {
  for (const mark of ["*", "**", "_", "`", "[", "[a](", "> ", "| ", "- ", "# "]) {
    const text = `${mark}a `.repeat(30_000);
    const startMs = performance.now();
    for (const block of toBlocks(text)) if ("text" in block) toSpans(block.text);
    toSpans(text);
    expect(performance.now() - startMs).toBeLessThan(3_000);
  }
});
