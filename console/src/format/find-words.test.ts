import { expect, test } from "bun:test";
import { hasWords } from "./find-words.ts";

test("every word of a search must occur, in any order and whatever stands between them", () => {
  const name = "meta/llama-3.3-70B-instruct";
  for (const find of [
    "",
    "  ",
    "llama 3.3",
    "70b llama",
    "llama-70b",
    "meta/llama",
    "LLAMA",
    "nstruct",
  ])
    expect([find, hasWords(name, find)]).toEqual([find, true]);
  for (const find of ["llama 3.1", "qwen", "llama 8b"])
    expect([find, hasWords(name, find)]).toEqual([find, false]);
});

test("a number is found where one begins, and not inside another", () => {
  expect(hasWords("gpt-4o", "gpt 4")).toBe(true);
  expect(hasWords("gpt4o", "4")).toBe(true);
  expect(hasWords("gpt-2024-4", "4")).toBe(true);
  expect(hasWords("gpt-3.5-turbo-0404", "gpt-4")).toBe(false);
  expect(hasWords("claude-3.4", "4")).toBe(false);
});
