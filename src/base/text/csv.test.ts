import { expect, test } from "bun:test";
import { csvLine, csvText } from "./csv.ts";

test("cells with commas, quotes and line breaks stay one cell", () => {
  expect(
    csvText([
      ["a", "b"],
      ['say "hi", then', "two\nlines"],
    ]),
  ).toBe('a,b\r\n"say ""hi"", then","two\nlines"\r\n');
});

test("no text is a formula, and figures below zero stay figures", () => {
  const formulas = ["=1+1", "+1", "@x", "-cmd", "-1.5.0", "-", "\tx", "\rx", "=a,b"];
  expect(csvLine(formulas)).toBe(`'=1+1,'+1,'@x,'-cmd,'-1.5.0,'-,'\tx,"'\rx","'=a,b"\r\n`);
  expect(csvLine(["-1", "-1.50", "a=b", "2026-11-16", -3, 3, true, null])).toBe(
    "-1,-1.50,a=b,2026-11-16,-3,3,true,\r\n",
  );
});
