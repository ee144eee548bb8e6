import { expect, test } from "bun:test";
import { type Ending, toEnding } from "./finish.ts";

const newer = (unified: string, raw?: string) => ({ unified, raw });

test("an end is told by the package's word, of every version", () => {
  const endings: readonly (readonly [unknown, Ending])[] = [
    [newer("stop", "end_turn"), "stop"],
    [newer("length", "max_tokens"), "length"],
    [newer("content-filter", "refusal"), "content_filter"],
    [newer("tool-calls", "tool_use"), "tool_calls"],
    [newer("other", "a_new_word"), "stop"],
    [newer("error"), "failed"],
    ["stop", "stop"],
    ["length", "length"],
    ["tool-calls", "tool_calls"],
    ["other", "stop"],
    ["error", "failed"],
  ];
  for (const [reason, ending] of endings) expect(toEnding(reason, false)).toBe(ending);
});

test("an end for no reason is a cut, whatever was said before", () => {
  for (const reason of [newer("other"), newer("unknown"), "unknown", undefined, null, {}, 7])
    for (const hasCalls of [false, true]) expect(toEnding(reason, hasCalls)).toBe("cut");
});

test("a stop behind tool calls is theirs", () => {
  expect(toEnding(newer("stop", "stop"), true)).toBe("tool_calls");
  expect(toEnding(newer("length", "length"), true)).toBe("length");
});
