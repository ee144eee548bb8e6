import { expect, test } from "bun:test";
import { textOf, vendorErrors } from "../../../test/providers/error-bodies.ts";
import { readErrorBody, toldDelayMs } from "./error-body.ts";
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

test("odd words on when to come back are passed over, and none is a moment that has passed", () => {
  const told = (headers: Record<string, string>) => toldDelayMs(new Headers(headers), nowMs);
  expect(told({ "retry-after-ms": "", "retry-after": "9" })).toBe(9_000);
  expect(told({ "retry-after-ms": "  ", "retry-after": "" })).toBeUndefined();
  for (const text of ["10, 20", "10s", "1e3", "0x10", "+5", "Infinity", "12:30", "--5", "5."])
    expect([text, told({ "retry-after": text })]).toEqual([text, undefined]);
  expect(told({ "retry-after-ms": "10, 20", "retry-after": " 3 " })).toBe(3_000);
  expect(told({ "retry-after": "-5" })).toBe(0);
  expect(told({ "retry-after-ms": "-5", "retry-after": "9" })).toBe(0);
  expect(told({ "retry-after": "Wed, 14 Oct 2026 08:00:00 GMT" })).toBe(0);
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
  expect(error.detail).toBe("acme returned 400 (some_code)");
  expect(failure(500, "<html>sk-secret</html>").detail).toBe("acme returned 500");
});

test("a key that a server echoes where its code should stand is not told", () => {
  for (const code of ["sk-proj-abcdefgh", "gsk_4f9a8c7b6d5e", "AIzaSyD4x9Qm2v7", "key-verysecret"])
    expect(failure(401, { error: { code, type: "auth_error" } }).detail).toBe(
      "acme returned 401 (auth_error)",
    );
});

test("each client finds its vendor's words in the error of a full context, with the vendor's numbers", () => {
  /** What clients look for; docs/clients.md names them. */
  const detectors = [
    (text: string) => text.includes("prompt is too long"),
    (text: string) => text.includes("exceeds the context window"),
    (text: string) => text.toLowerCase().includes("this model's maximum context length is"),
    (text: string) => /\bcontext length\b/i.test(text),
  ];
  const rows = vendorErrors
    .flatMap(({ bodies }) => bodies)
    .filter(({ code }) => code === "context_length_exceeded");
  const counted = rows.filter((row) => {
    const { message } = failure(row.status, textOf(row));
    for (const finds of detectors) expect([message, finds(message)]).toEqual([message, true]);
    const [, tokens, maximum] =
      /prompt is too long[^0-9]*(\d+)\s*tokens?\s*>\s*(\d+)/i.exec(message) ?? [];
    if (tokens === undefined) return false;
    expect(textOf(row)).toContain(tokens);
    expect(message).toContain(`maximum context length is ${maximum} tokens`);
    return Number(tokens) > Number(maximum);
  });
  expect(counted.length).toBeGreaterThan(12);
});

test("numbers that contradict a refusal are not repeated", () => {
  for (const sentence of [
    "prompt is too long: 9 tokens > 200000 maximum",
    "prompt is too long: 9 tokens > 0 maximum",
    "prompt is too long: 99999999999999999999 tokens > 200000 maximum",
  ])
    expect(failure(400, { error: { message: sentence } }).message).toStartWith(
      "prompt is too long: it exceeds the context window.",
    );
});

const verdictOf = (status: number, body: unknown) => {
  const { code, upstream } = failure(status, body);
  return [code, upstream?.reason];
};

test("words of a caller that a server quotes are no word of the server's", () => {
  for (const quoted of [
    "your credit balance is too low",
    "Your credit balance is too low to access the API.",
    "api key expired",
    "API key not valid. Please pass a valid API key.",
    "You exceeded your current quota, please check your plan and billing details.",
  ])
    for (const message of [`Invalid value: '${quoted}'.`, `messages[0].content "${quoted}" is bad`])
      expect([message, ...verdictOf(400, { error: { message, code: "invalid_value" } })]).toEqual([
        message,
        "upstream_rejected",
        "refused",
      ]);
});

test("no vendor's words about the operator are believed behind a caller's text", () => {
  const sentences = vendorErrors
    .flatMap(({ bodies }) => bodies)
    .filter(({ fault }) => fault === "key" || fault === "credit" || fault === "limit")
    .map((row) => readErrorBody(textOf(row)).words)
    .filter((words) => words !== "");
  expect(sentences.length).toBeGreaterThan(60);
  for (const words of sentences)
    for (const status of [400, 403]) {
      const message = `messages[0].content '${words}' is not allowed.`;
      const { code, upstream } = failure(status, { error: { message, code: "invalid_value" } });
      expect([words, status === 400 ? code : upstream?.isReply]).toEqual([
        words,
        status === 400 ? "upstream_rejected" : true,
      ]);
    }
});

test("an error that another vendor's error wraps is read one level deep, and bounded", () => {
  const wrap = (raw: unknown) => ({
    error: { message: "Provider returned error", code: 400, metadata: { raw } },
  });
  const inner = { error: { message: "prompt is too long: 9 tokens", type: "inner_type" } };
  expect(failure(400, wrap(inner)).code).toBe("context_length_exceeded");
  expect(failure(400, wrap(JSON.stringify(inner))).detail).toBe("acme returned 400 (inner_type)");
  expect(failure(400, wrap(JSON.stringify(wrap(JSON.stringify(inner))))).code).toBe(
    "upstream_rejected",
  );
  const long = JSON.stringify({ error: { message: "x".repeat(40_000), code: "content_filter" } });
  for (const raw of [long, "", "{", "[]", 7, null, []])
    expect(failure(400, wrap(raw)).code).toBe("upstream_rejected");
});

test("the same words where a server's own sentence begins are the operator's affair", () => {
  const low = "Your credit balance is too low to access the API. Please go to Plans & Billing.";
  expect(verdictOf(400, { error: { message: low, type: "invalid_request_error" } })).toEqual([
    "upstream_unavailable",
    "quota",
  ]);
  for (const message of [
    "API key expired. Please renew it.",
    "API key not valid. Pass a good one.",
  ])
    expect(verdictOf(400, { error: { message, status: "INVALID_ARGUMENT" } })).toEqual([
      "upstream_unavailable",
      "auth",
    ]);
  const plan = "You exceeded your current quota, please check your plan and billing details.";
  expect(verdictOf(429, { error: { message: plan } })).toEqual(["upstream_unavailable", "quota"]);
  // Of another status it is about this call.
  expect(verdictOf(400, { error: { message: plan } })).toEqual(["upstream_rejected", "refused"]);
  expect(verdictOf(429, { error: { message: plan, status: "RESOURCE_EXHAUSTED" } })).toEqual([
    "upstream_rate_limited",
    "limited",
  ]);
  expect(verdictOf(429, { error: { message: `Slow down: '${plan}'` } })).toEqual([
    "upstream_rate_limited",
    "limited",
  ]);
});
