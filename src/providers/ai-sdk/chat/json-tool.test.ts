import { expect, test } from "bun:test";
import { JsonToolText } from "./json-tool.ts";

test("text is held back until it is longer than anything a model says before a call", () => {
  const text = new JsonToolText();
  const piece = "x".repeat(1_000);
  let passedOn = "";
  for (let at = 0; at < 65; at++) passedOn += text.take("0", piece);
  expect(passedOn).toBe("");
  passedOn += text.take("0", piece) + text.take("0", "y");
  expect(passedOn).toBe(`${"x".repeat(66_000)}y`);
});
