import { expect, test } from "bun:test";
import { type Ending, toEnding } from "./finish.ts";

const ended = (unified: string, raw?: string) => ({ unified, raw });

test("each finish reason of the package has its ending", () => {
  const endings: readonly (readonly [unknown, Ending])[] = [
    [ended("stop", "end_turn"), "stop"],
    [ended("length", "max_tokens"), "length"],
    [ended("content-filter", "refusal"), "content_filter"],
    [ended("tool-calls", "tool_use"), "tool_calls"],
    [ended("other", "a_new_word"), "stop"],
    [ended("error"), "failed"],
  ];
  for (const [reason, ending] of endings) expect(toEnding(reason, false)).toBe(ending);
});

test("an end for no reason is a cut, whatever was said before", () => {
  for (const reason of [ended("other"), ended("unknown"), "stop", undefined, null, {}, 7])
    for (const hasCalls of [false, true]) expect(toEnding(reason, hasCalls)).toBe("cut");
});

test("a stop behind tool calls is theirs", () => {
  expect(toEnding(ended("stop", "stop"), true)).toBe("tool_calls");
  expect(toEnding(ended("length", "length"), true)).toBe("length");
});
