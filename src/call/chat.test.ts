import { describe, expect, test } from "bun:test";
import { type JsonObject, wordsOf } from "./chat.ts";

describe("the words of a message or a delta", () => {
  for (const [what, message, words] of [
    ["text", { role: "assistant", content: "Hi" }, "Hi"],
    ["a refusal", { content: null, refusal: "No" }, "No"],
    ["thoughts", { reasoning_content: "a", content: "b" }, "ab"],
    ["thoughts under both names, once", { reasoning: "ab", reasoning_content: "ab" }, "ab"],
    ["thoughts under two names that differ", { reasoning: "a", reasoning_content: "b" }, "ab"],
    ["a field of a vendor", { thinking: "a long thought" }, "a long thought"],
    [
      "a transcript, and not the sound",
      { audio: { id: "x", data: "UklG", transcript: "Hi" } },
      "Hi",
    ],
    ["what is nested", { vendor: { parts: [{ type: "t", text: "a" }, ["b"]] } }, "ab"],
    [
      "a tool call: its name and arguments",
      {
        tool_calls: [
          { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } },
        ],
      },
      "f{}",
    ],
    [
      "arguments that are an object",
      { tool_calls: [{ function: { name: "f", arguments: { a: 1 } } }] },
      'f{"a":1}',
    ],
    ["what a vendor signed", { extra_content: { google: { thought_signature: "AAAA" } } }, ""],
    [
      "thoughts that are told again, signed",
      { reasoning_details: [{ type: "reasoning.text", text: "a", signature: "b" }] },
      "",
    ],
    ["numbers and flags", { vendor: { score: 1, done: true, none: null } }, ""],
  ] satisfies readonly (readonly [string, JsonObject, string])[])
    test(`are those of ${what}`, () => {
      expect(wordsOf(message)).toBe(words);
    });

  test("are found in time that grows with the message, however it is nested", () => {
    const wide = { vendor: Array.from({ length: 200_000 }, () => ["a"]) };
    expect(wordsOf(wide).length).toBe(200_000);
    let deep: JsonObject = { text: "a" };
    for (let depth = 0; depth < 900; depth++) deep = { deep };
    expect(wordsOf(deep)).toBe("");
  });
});
