import { expect, test } from "bun:test";
import { tokensPerSecond } from "./receipt.ts";

const receipt = { units: { output: 100 }, first_byte_ms: 500, duration_ms: 1_500, streamed: true };

test("the speed is of the output, from the first byte on where it was streamed", () => {
  expect(tokensPerSecond(receipt)).toBe(100);
  expect(tokensPerSecond({ ...receipt, streamed: false, first_byte_ms: 1_500 })).toBe(67);
  expect(tokensPerSecond({ ...receipt, units: { output: 3 } })).toBe(3);
});

test("without output, a first byte or time there is none", () => {
  expect(tokensPerSecond({ ...receipt, units: { input: 5 } })).toBeUndefined();
  expect(tokensPerSecond({ ...receipt, first_byte_ms: null })).toBeUndefined();
  expect(tokensPerSecond({ ...receipt, first_byte_ms: 1_500 })).toBeUndefined();
});
