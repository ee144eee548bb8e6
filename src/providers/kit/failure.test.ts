import { expect, test } from "bun:test";
import { toldDelayMs } from "./error-body.ts";
import { boundedWaitMs, toApiFailure } from "./failure.ts";

const nowMs = Date.UTC(2026, 9, 14, 9, 0, 0);
const hint = (headers: Record<string, string>) =>
  boundedWaitMs(toldDelayMs(new Headers(headers), nowMs));

test("a wait is read from milliseconds, then seconds, then a date", () => {
  expect(hint({ "retry-after-ms": "2500", "retry-after": "9" })).toBe(2_500);
  expect(hint({ "retry-after": "9" })).toBe(9_000);
  expect(hint({ "retry-after": "1.5" })).toBe(1_500);
  expect(hint({ "retry-after": "Wed, 14 Oct 2026 09:00:12 GMT" })).toBe(12_000);
});

test("a wait is never shorter than a second or longer than a minute", () => {
  expect(hint({ "retry-after-ms": "3" })).toBe(1_000);
  expect(hint({ "retry-after": "0" })).toBe(1_000);
  expect(hint({ "retry-after": "-5" })).toBe(1_000);
  expect(hint({ "retry-after": "86400" })).toBe(60_000);
  expect(hint({ "retry-after": "Wed, 14 Oct 2026 08:00:00 GMT" })).toBe(1_000);
  expect(hint({ "retry-after": "Thu, 15 Oct 2026 09:00:00 GMT" })).toBe(60_000);
});

test("a hint that cannot be read, or is not there, is two seconds", () => {
  expect(hint({})).toBe(2_000);
  expect(hint({ "retry-after": "soon" })).toBe(2_000);
  expect(hint({ "retry-after-ms": "soon", "retry-after": "later" })).toBe(2_000);
  expect(boundedWaitMs(toldDelayMs(undefined, nowMs))).toBe(2_000);
});

const failure = (status: number, body: unknown) =>
  toApiFailure({
    provider: "acme",
    status,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

test("what an upstream wrote is in neither message nor detail, except the words of its code", () => {
  const error = failure(400, {
    error: { message: "key sk-secret and prompt", code: "some_code", type: "Some<script>Error" },
  });
  expect(error.message).not.toContain("sk-secret");
  expect(error.detail).toBe("acme answered 400 (some_code)");
  expect(failure(500, "<html>sk-secret</html>").detail).toBe("acme answered 500");
});

test("a key that a server echoes where its code should stand is not told", () => {
  for (const code of ["sk-proj-abcdefgh", "gsk_4f9a8c7b6d5e", "AIzaSyD4x9Qm2v7", "key-verysecret"])
    expect(failure(401, { error: { code, type: "auth_error" } }).detail).toBe(
      "acme answered 401 (auth_error)",
    );
});

test("a conversation too long is known by code or by words, from every server", () => {
  for (const error of [
    { code: "context_length_exceeded", message: "" },
    { type: "exceed_context_size_error", message: "" },
    { code: 400, message: "This model's maximum context length is 4096 tokens." },
    { message: "prompt is too long: 210000 tokens" },
  ])
    expect(failure(400, { error }).code).toBe("context_length_exceeded");
  expect(failure(422, { error: "the context window is full", error_type: "validation" }).code).toBe(
    "context_length_exceeded",
  );
});

test("bodies of any shape are survived", () => {
  for (const body of [
    "",
    "null",
    "[]",
    '"text"',
    "{",
    { error: null },
    { error: [1] },
    { error: 7 },
  ])
    expect(failure(400, body).code).toBe("upstream_rejected");
});
