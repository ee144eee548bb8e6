import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers, chatJson, chatStreams } from "../../fake/recordings.ts";
import { expectWellFormed, finishOf, readStream, toolCallsOf } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const model = "svc-3-flash";
const messages = [{ role: "user", content: "Hi" }];
const page = "https://app.example";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { SVC_CORS_ORIGINS: page } });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const chat = (fields: object = {}) =>
  gateway.call("/chat/completions", { model, messages, ...fields });

test("a long name of a model is cut to 100 letters in the refusal", async () => {
  for (const [path, body] of [
    ["/chat/completions", { messages }],
    ["/embeddings", { input: "x" }],
    ["/audio/speech", { input: "x", voice: "Kore" }],
  ] as const) {
    const call = gateway.call(path, { model: "m".repeat(5_000), ...body });
    const { code, message } = await refusalOf(call);
    expect(code).toBe("model_not_allowed");
    expect(/m{10,}/.exec(message)?.[0]).toBe("m".repeat(100));
  }
});

describe("a whole reply", () => {
  const legacy = { name: "f", arguments: "{}" };

  test("has no function_call, which clients of our contract do not know", async () => {
    for (const function_call of [legacy, null]) {
      gateway.upstream.replyOnce(chatJson({ message: { function_call } }));
      const reply = await (await chat()).json();
      expect(reply.choices[0].message).not.toHaveProperty("function_call");
      expect(reply.choices[0].message.content).toBeString();
    }
  });

  test("keeps its tool calls beside a function_call that says the same", async () => {
    const call = { id: "a", type: "function", function: legacy };
    const message = { function_call: legacy, tool_calls: [call] };
    gateway.upstream.replyOnce(chatJson({ text: null, message }));
    const reply = await (await chat()).json();
    expect(reply.choices[0].message).not.toHaveProperty("function_call");
    expect(reply.choices[0].message.tool_calls).toEqual([call]);
  });

  /** Three calls that differ, and two that are the same and take no arguments. */
  const differing = [0, 1, 2].map((at) => ({ name: `f${at}`, arguments: `{"at":${at}}` }));
  const same = [0, 1].map(() => ({ name: "now", arguments: "" }));
  const ways: Readonly<Record<string, (at: number) => object>> = {
    "ids of their own": (at) => ({ id: `call_${at}` }),
    "no ids": () => ({}),
    "one id for all": () => ({ id: "call_0" }),
    "ids, all at index 0": (at) => ({ id: `call_${at}`, index: 0 }),
    "no ids, all at index 0": () => ({ index: 0 }),
  };
  for (const [way, fieldsOf] of Object.entries(ways))
    for (const [what, called] of Object.entries({ "that differ": differing, "of one name": same }))
      test(`in place of a stream keeps tool calls ${what} apart, with ${way}`, async () => {
        const calls = called.map((one, at) => ({
          type: "function",
          function: one,
          ...fieldsOf(at),
        }));
        gateway.upstream.replyOnce(chatJson({ text: null, message: { tool_calls: calls } }));
        const stream = await readStream(await chat({ stream: true }));
        expectWellFormed(stream, { model, includeUsage: false });
        const given = toolCallsOf(stream);
        expect(given.map(({ name, text }) => ({ name, arguments: text }))).toEqual(called);
        expect(new Set(given.map(({ id }) => id)).size).toBe(called.length);
        expect(finishOf(stream)).toBe("tool_calls");
      });
});

describe("where no upstream counts, the tokenizer for a whole reply", () => {
  const long = " word".repeat(1_000);
  for (const [what, message] of Object.entries({
    text: { content: long },
    reasoning: { content: "", reasoning_content: long },
    "the arguments of a tool call": {
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: long } }],
    },
  }))
    test(`counts ${what}`, async () => {
      gateway.upstream.replyOnce(chatJson({ usage: null, message }));
      const { usage } = await (await chat()).json();
      expect(usage.completion_tokens).toBeGreaterThanOrEqual(1_000);
      // Names and ids beside it are few; should the tokenizer be slow to start, it is an estimate.
      expect(usage.completion_tokens).toBeLessThan(1_300);
    });
});

test("streams tell proxies not to collect or keep them; whole replies need not", async () => {
  gateway.upstream.replyOnce(chatStreams.openai());
  const stream = await chat({ stream: true });
  expect(stream.headers.get("cache-control")).toBe("no-cache");
  expect(stream.headers.get("x-accel-buffering")).toBe("no");
  await stream.text();
  gateway.upstream.replyOnce(chatAnswers.plain());
  expect((await chat()).headers.get("x-accel-buffering")).toBeNull();
});

test("a browser may remember a permission for ten minutes, and no foreign page gets one", async () => {
  const ask = (origin: string) =>
    fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
  expect((await ask(page)).headers.get("access-control-max-age")).toBe("600");
  expect((await ask("https://other.example")).headers.get("access-control-max-age")).toBeNull();
});

test("the link to a successor has the slash of its id percent-encoded", async () => {
  await gateway.server.operations.deprecateModel({
    id: "svc-2-flash",
    retires: "2999-01-01",
    replacement: "vendor/with-slash",
  });
  gateway.upstream.replyOnce(chatAnswers.plain());
  const reply = await chat({ model: "svc-2-flash" });
  expect(reply.headers.get("link")).toBe(
    `<${gateway.baseUrl}/models/vendor%2Fwith-slash>; rel="successor-version"`,
  );
});

describe("whatever the platform answers is not kept, and is only what its type says:", () => {
  for (const [path, method, type] of [
    ["/", "GET", "text/html"],
    ["/api/session", "GET", "application/json"],
    ["/healthz", "GET", "application/json"],
    ["/openapi.json", "GET", "application/json"],
    ["/openapi.json", "POST", "application/json"],
    ["/nothing", "GET", "application/json"],
    ["/changelog.txt", "GET", "text/plain"],
    ["/changelog", "GET", "text/html"],
  ] as const)
    test(`${method} ${path}`, async () => {
      const { headers } = await fetch(`${gateway.platformUrl}${path}`, { method });
      expect(headers.get("content-type")).toStartWith(type);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
    });
});
