import { describe, expect, test } from "bun:test";
import { toParagraphs } from "./markup.ts";

describe("markup", () => {
  test.each<[string, string, string[]]>([
    ["parts paragraphs at empty lines", "One.\n\nTwo.\r\n \r\nThree.", ["One.", "Two.", "Three."]],
    ["joins wrapped lines", "a line that is\nwrapped here", ["a line that is wrapped here"]],
    [
      "pauses at the ends of verses",
      "Roses are red\nViolets are blue",
      ["Roses are red, Violets are blue"],
    ],
    ["ends headings and list items", "# Title\n- first\n- second", ["Title. first. second."]],
    ["reads the numbers of a list", "1. Boil water\n2. Add tea", ["1, Boil water. 2, Add tea."]],
    ["keeps a link's words", "See [the docs](https://example.com/a_(b)) now", ["See the docs now"]],
    ["keeps the words of an image within a link", "[![build](a.svg)](b) ok", ["build ok"]],
    ["drops emphasis and code marks", "a **bold** and `code` and _it_", ["a bold and code and it"]],
    ["keeps snake_case and 2 * 3 * 4", "snake_case 2 * 3 * 4", ["snake_case 2 * 3 * 4"]],
    ["drops fences, keeps what they hold", "```js\nlet x\n```", ["let x"]],
    ["drops tags and reads entities", "<p>Fish &amp; <b>chips</b></p>", ["Fish & chips"]],
    ["keeps comparisons", "if a < b and c > d", ["if a < b and c > d"]],
    ["reads the cells of a table", "| a | b |\n|---|---|\n| 1 | 2 |", ["a , b . 1 , 2 ."]],
    ["drops control and zero-width characters", "he\u0000l\u200blo\u0007", ["hello"]],
    ["has no paragraph for rules and signs", "---\n\n***\n\n🙂\n\n...", []],
  ])("%s", (_, text, paragraphs) => {
    expect(toParagraphs(text)).toEqual(paragraphs);
  });
});
