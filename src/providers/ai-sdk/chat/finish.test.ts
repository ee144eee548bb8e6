import { expect, test } from "bun:test";
import { toEnding } from "./finish.ts";

const ended = (unified: string, raw?: string) => ({ unified, raw });

test("an end for no reason is a cut, whatever was said before", () => {
  for (const reason of [ended("other"), ended("unknown"), "stop", undefined, null, {}, 7])
    for (const hasCalls of [false, true]) expect(toEnding(reason, hasCalls)).toBe("cut");
});

test("a stop behind tool calls is theirs", () => {
  expect(toEnding(ended("stop", "stop"), true)).toBe("tool_calls");
  expect(toEnding(ended("length", "length"), true)).toBe("length");
});
