import { expect, test } from "bun:test";
import { coloredParts } from "./colored-code.ts";

const samples = [
  'curl http://x/v1 -d \'{"a": "it\\"s"}\' # done',
  "from openai import OpenAI\nprint(1.5, None)",
  "an unclosed 'quote stays",
  "",
];

test.each(samples)("coloring changes no letter of %p", (code) => {
  expect(
    coloredParts(code)
      .map(({ text }) => text)
      .join(""),
  ).toBe(code);
});

test("strings, comments, figures and words are told apart", () => {
  const kinds = coloredParts('const a = "b"; // c 2\nawait f(3)').filter(
    ({ kind }) => kind !== undefined,
  );
  expect(kinds).toEqual([
    { text: "const", kind: "word" },
    { text: '"b"', kind: "string" },
    { text: "// c 2", kind: "comment" },
    { text: "await", kind: "word" },
    { text: "3", kind: "number" },
  ]);
});
