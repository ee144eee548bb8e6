import { expect, test } from "bun:test";
import { toCsvText } from "./csv.ts";

test("cells with commas, quotes and line breaks stay one cell", () => {
  expect(toCsvText(["a", "b"], [['say "hi", then', "two\nlines"]])).toBe(
    'a,b\r\n"say ""hi"", then","two\nlines"\r\n',
  );
});

test("nothing in it is a formula, and figures below zero stay figures", () => {
  expect(toCsvText([], [["=1+1", "+1", "@x", "-cmd", "-1.50", 3, null]])).toBe(
    "\r\n'=1+1,'+1,'@x,'-cmd,-1.50,3,\r\n",
  );
});
