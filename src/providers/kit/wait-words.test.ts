import { expect, test } from "bun:test";
import { tryAgainIn } from "../../base/text/try-again.ts";
import { upstreamError } from "./failure.ts";

test("whole seconds, never none", () => {
  expect(tryAgainIn(0)).toBe("Try again in 1 second.");
  expect(tryAgainIn(1_001)).toBe("Try again in 2 seconds.");
});

test("a busy vendor: the message says how long to wait, from Retry-After", () => {
  const { message, retryAfterMs } = upstreamError("upstream_rate_limited", {
    detail: "",
    delayMs: 4_200,
  });
  expect(message).toBe("The model is receiving too many requests. Try again in 5 seconds.");
  expect(retryAfterMs).toBe(4_200);
});
