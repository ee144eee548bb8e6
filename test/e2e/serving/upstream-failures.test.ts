/** What an upstream's failure means for the caller: our words, our codes, and never the vendor's. */

import { describe, expect, test } from "bun:test";
import {
  badRequests,
  chatAnswers,
  chatStream,
  errorReply,
  failures,
  httpChunk,
  httpReply,
  operatorErrors,
  type Recording,
  rateLimits,
  vendorError,
} from "../../fake/recordings.ts";
import { startFakeUpstream } from "../../fake/upstream.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  gone: { kind: openai, base_url: "http://127.0.0.1:1/v1", api_key: "\${FAKE_KEY}", allow_private: true }
  keyless: { kind: openai, base_url: "UPSTREAM", api_key: "\${NOT_SET_ANYWHERE}", allow_private: true }
models:
  one: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: first }] }
  away: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: gone, model: first }] }
  no-key: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: keyless, model: first }] }
`;

const gateway = useTestGateway({ manifest });

const messages = [{ role: "user" as const, content: "Say hello" }];
const call = (model: string, stream = false) =>
  gateway.call("/chat/completions", { model, messages, stream });

interface Expected {
  readonly status: number;
  readonly code: string;
  /** Seconds; undefined: no hint, the client's own backoff rules. */
  readonly retryAfter?: number;
  readonly retryable: boolean;
}
const rejected: Expected = { status: 400, code: "upstream_rejected", retryable: false };
const tooLong: Expected = { status: 400, code: "context_length_exceeded", retryable: false };
const filtered: Expected = { status: 400, code: "content_filtered", retryable: false };
const unavailable: Expected = { status: 502, code: "upstream_unavailable", retryable: true };
const failed: Expected = { status: 502, code: "upstream_error", retryable: true };
const timedOut: Expected = { status: 504, code: "upstream_timeout", retryable: true };
const overloaded = (retryAfter: number): Expected => ({
  status: 503,
  code: "upstream_overloaded",
  retryAfter,
  retryable: true,
});
const limited = (retryAfter: number): Expected => ({
  status: 429,
  code: "upstream_rate_limited",
  retryAfter,
  retryable: true,
});

/** One of each outcome; which replies mean it is owned by `test/providers`. */
const said: readonly (readonly [string, () => Recording, Expected])[] = [
  ["400", badRequests.plain, rejected],
  ["400 context", badRequests.contextTooLong, tooLong],
  ["400 content filter", badRequests.contentFilter, filtered],
  ["401", operatorErrors.badKey, unavailable],
  ["405", () => vendorError(405, { message: "x" }), failed],
  ["408", failures.timeout, timedOut],
  ["429 in seconds", () => rateLimits.seconds(7), limited(7)],
  ["429 in milliseconds", () => rateLimits.milliseconds(1_500), limited(2)],
  ["500", failures.internal, failed],
  ["502 in HTML", failures.htmlBadGateway, failed],
  ["503", () => failures.unavailable(), overloaded(2)],
  ["503 of llama.cpp", failures.llamaLoading, overloaded(2)],
  ["a status from nowhere", () => errorReply({ status: 599, body: "?" }), failed],
];

describe("an upstream's status becomes ours:", () => {
  for (const [name, record, expected] of said)
    for (const stream of [false, true])
      test(`${name}, ${stream ? "asked for a stream" : "asked for a whole reply"}`, async () => {
        gateway.upstream.replyWith(record());
        const response = await call("one", stream);
        const { headers } = response;
        const { status, code, type, param, message } = await refusalOf(response.clone());
        expect({ status, code, param }).toEqual({
          status: expected.status,
          code: expected.code,
          param: null,
        });
        expect(type).toBe(typeFor(expected.status));
        expect(headers.get("x-should-retry")).toBe(expected.retryable ? null : "false");
        expect(headers.get("retry-after")).toBe(expected.retryAfter?.toString() ?? null);
        const exact = Number(headers.get("retry-after-ms") ?? 0) / 1000;
        expect(Math.ceil(exact)).toBe(expected.retryAfter ?? 0);
        expect(message).toMatch(/^(The model|prompt is too long)\b.*\.$/);
        await expectNoLeak(response);
        expect(gateway.upstream.requests.length).toBe(1);
      });
});

function typeFor(status: number): string {
  if (status === 400) return "invalid_request_error";
  return status === 429 ? "rate_limit_error" : "upstream_error";
}

/** Neither name, address, key, words nor headers of the vendor. */
async function expectNoLeak(response: Response): Promise<void> {
  const allowed = new Set([
    "content-length",
    "content-type",
    "date",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
  ]);
  expect([...response.headers.keys()].filter((name) => !allowed.has(name))).toEqual([]);
  const all = `${await response.text()}${[...response.headers.values()].join("\n")}`;
  const { port } = new URL(gateway.upstream.baseUrl);
  for (const word of ["vendor", "fake", "first", "127.0.0.1", `:${port}`, "org-of", "gpt", "nginx"])
    expect(all).not.toContain(word);
  expect(all).not.toMatch(/Incorrect API key|quota|billing|balance|Country|Sorry|Loading model/i);
}

describe("an upstream that cannot be reached or trusted", () => {
  test("refuses connections: 502", async () => {
    await expectRefusal(call("away"), { status: 502, code: "upstream_error" });
  });

  test("has no key to be called with: 502, and nothing is sent", async () => {
    await expectRefusal(call("no-key"), { status: 502, code: "upstream_unavailable" });
    expect(gateway.upstream.requests).toEqual([]);
  });

  test("redirects: it is not followed, and the key goes nowhere else", async () => {
    const elsewhere = await startFakeUpstream();
    elsewhere.replyWith(chatAnswers.plain());
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: `${elsewhere.baseUrl}/chat/completions` };
      gateway.upstream.replyWith(httpReply({ status, headers, body: [], framing: "length" }));
      const response = await call("one");
      await expectRefusal(response.clone(), { status: 502 });
      expect(response.headers.has("location")).toBe(false);
    }
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.stop();
  });
});

describe("an error that comes as the first event of a stream", () => {
  for (const [code, expected] of [
    ["context_length_exceeded", tooLong],
    ["content_filter", filtered],
    ["insufficient_quota", unavailable],
    ["rate_limit_exceeded", limited(2)],
    ["overloaded_error", overloaded(2)],
    ["model_error", failed],
  ] as const)
    test(`means what its code says: ${code}`, async () => {
      gateway.upstream.replyOnce(
        chatStream({ events: [{ error: { message: "x", type: null, code } }] }),
      );
      const response = await call("one", true);
      expect(response.status).toBe(expected.status);
      expect(await response.json()).toMatchObject({ error: { code: expected.code } });
    });
});

for (const [status, atMost] of [
  ["200 OK", 100_000_000],
  ["500 Internal Server Error", 20_000_000],
] as const)
  test(`a reply without end is read no further than its bound: ${status}`, async () => {
    const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    const arrival = gateway.upstream.nextRequest();
    gateway.upstream.replyOnce([
      { send: head },
      { flood: 1_000_000_000, chunk: httpChunk(Buffer.alloc(1_000_000, " ")) },
    ]);
    const response = await call("one");
    expect(response.status).toBe(502);
    const request = await arrival;
    await request.closed;
    expect(request.bytesSent).toBeLessThan(atMost);
  });
