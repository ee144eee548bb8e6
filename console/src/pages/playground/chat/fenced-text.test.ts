import { expect, test } from "bun:test";
import { toPieces } from "./fenced-text.tsx";

test("code between fences stands apart from the words around it", () => {
  expect(toPieces("Like so:\n\n```python\nif x:\n    y()\n```\nDone.")).toEqual([
    { isCode: false, text: "Like so:" },
    { isCode: true, text: "if x:\n    y()" },
    { isCode: false, text: "Done." },
  ]);
});

test("a fence that is still open is code to the end", () => {
  expect(toPieces("```\nlet a")).toEqual([{ isCode: true, text: "let a" }]);
});

test("words without fences stay as they are", () => {
  expect(toPieces("one\n\n`two`")).toEqual([{ isCode: false, text: "one\n\n`two`" }]);
});
