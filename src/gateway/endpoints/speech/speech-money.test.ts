import { expect, test } from "bun:test";
import { speechNeed } from "./speech-money.ts";

test("instructions are held as text beside what is said", () => {
  const price = { input: 1_000_000n, audio_output: 1_000_000n };
  const inputOf = (instructions?: string) =>
    speechNeed({ text: "Hello", instructions, mostBytes: 48_000, price }).need.units.input ?? 0;
  expect(inputOf("é".repeat(100)) - inputOf()).toBe(200);
});
