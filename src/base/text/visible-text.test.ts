import { expect, test } from "bun:test";
import { hasInvisible, visible } from "./visible-text.ts";

test.each([
  ["an escape", "a\x1b[2J"],
  ["a line end", "a\nb"],
  ["a line separator", "a\u2028b"],
  ["a C1 control", "a\u009bb"],
  ["a mark that turns the direction", "a\u202eb"],
  ["a zero-width space", "a\u200bb"],
  ["a byte order mark", "\ufeffa"],
  ["a private character", "a\ue000"],
  ["half a pair", "a\ud800"],
  ["a character that there is not", "a\u0378"],
])("%s is found", (_, text) => {
  expect(hasInvisible(text)).toBe(true);
});

test.each(["", "Ada Lovelace", "José García-Ñ", "鍵 1", "ключ", "🔑 prod", "a\u00a0b"])(
  "%p has nothing of the kind",
  (text) => {
    expect(hasInvisible(text)).toBe(false);
  },
);

test("what nobody sees is written as an escape, and all else stays as it is", () => {
  expect(visible("a\x1b[2Jb\nc\u202ed\u009bé 你 🙂")).toBe(
    "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{9b}é 你 🙂",
  );
});
