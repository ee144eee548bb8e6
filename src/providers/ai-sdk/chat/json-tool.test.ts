import { expect, test } from "bun:test";
import type { ChatPart } from "../../../call/chat.ts";
import { JsonToolText } from "./json-tool.ts";

const textIn = (parts: readonly ChatPart[]) =>
  parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");

test("text is held back until it is longer than anything a model says before a call", () => {
  const text = new JsonToolText();
  const piece = "x".repeat(1_000);
  let held = 0;
  let passedOn = "";
  while (passedOn === "" && held < 100) {
    passedOn = textIn(text.take("0", piece));
    held += 1;
  }
  expect(passedOn).toBe(piece.repeat(held));
  expect(held).toBeGreaterThan(50);
  expect(held).toBeLessThan(66);
  expect(textIn(text.take("0", "y"))).toBe("y");
});

test("calls behind held text count against the same bound, however small their pieces are", () => {
  const text = new JsonToolText();
  const call: ChatPart = { type: "delta", index: 0, delta: { tool_calls: [] }, logprobs: null };
  expect(text.takeCall(call, 1)).toEqual([call]);
  text.take("0", "One moment.");
  let held = 1;
  let passedOn: readonly ChatPart[] = [];
  while (passedOn.length === 0 && held < 1_000) {
    passedOn = text.takeCall(call, 1);
    held += 1;
  }
  expect(passedOn).toHaveLength(held);
  expect(passedOn[0]?.type).toBe("text-delta");
  expect(held).toBeLessThan(600);
});
