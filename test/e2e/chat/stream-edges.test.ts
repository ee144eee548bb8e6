import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
import {
  type EventStream,
  expectWellFormed,
  readStream,
  textOf,
} from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const model = "svc-3-flash";
const chat = { model, messages: [{ role: "user", content: "Hi" }], stream: true };
const text = (content: string) => chatChunk({ delta: { content } });
const finish = chatChunk({ finish: "stop" });

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

async function streamOf(
  events: Parameters<typeof chatStream>[0]["events"],
  fields: object = {},
): Promise<EventStream> {
  gateway.upstream.replyOnce(chatStream({ events }));
  return readStream(await gateway.call("/chat/completions", { ...chat, ...fields }));
}

const deltasOf = ({ chunks }: EventStream) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));

describe("a choice that has finished", () => {
  for (const [what, delta] of Object.entries({
    text: { content: "late" },
    reasoning: { reasoning_content: "late" },
    "a tool call": {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
    },
  }))
    test(`says nothing more, although its upstream sends ${what}`, async () => {
      const stream = await streamOf([text("Hello"), finish, chatChunk({ delta }), finish, DONE]);
      expectWellFormed(stream, { model, includeUsage: false });
      expect(deltasOf(stream)).toEqual([{ role: "assistant", content: "Hello" }, {}]);
    });

  test("does not keep another from going on", async () => {
    const events = [
      text("one"),
      finish,
      chatChunk({ index: 1, delta: { content: "two" } }),
      text("late"),
      chatChunk({ index: 1, finish: "length" }),
      DONE,
    ];
    const stream = await streamOf(events, { n: 2 });
    expectWellFormed(stream, { model, includeUsage: false });
    expect([textOf(stream, 0), textOf(stream, 1)]).toEqual(["one", "two"]);
  });
});

test("pieces without a letter are not sent on, but for the one that brings the role", async () => {
  const stream = await streamOf([
    chatChunk({ delta: { role: "assistant", content: "" } }),
    text(""),
    text("Hel"),
    text(""),
    chatChunk({ delta: { content: null } }),
    text("lo"),
    finish,
    DONE,
  ]);
  expect(deltasOf(stream)).toEqual([
    { role: "assistant", content: "" },
    { content: "Hel" },
    { content: "lo" },
    {},
  ]);
});

test("a stream of nothing but a finish still says who speaks", async () => {
  const bare = chatChunk({ choices: [{ index: 0, finish_reason: "length" }] });
  const stream = await streamOf([bare, DONE]);
  expectWellFormed(stream, { model, includeUsage: false });
  expect(deltasOf(stream)).toEqual([{ role: "assistant", content: "" }]);
});

describe("where no upstream counts, the tokenizer", () => {
  const long = " word".repeat(1_000);
  const call = (fields: object) => ({
    tool_calls: [{ index: 0, function: { arguments: long }, ...fields }],
  });
  for (const [what, deltas] of Object.entries({
    text: [{ content: long }],
    reasoning: [{ reasoning_content: long }],
    "the arguments of a tool call": [
      call({ id: "a", type: "function", function: { name: "f", arguments: long } }),
    ],
    "each piece of the arguments": [
      call({ id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call({}),
    ],
  }))
    test(`counts ${what}`, async () => {
      const { chunks } = await streamOf(
        [...deltas.map((delta) => chatChunk({ delta })), finish, DONE],
        { stream_options: { include_usage: true } },
      );
      const tokens = Number(chunks.at(-1)?.usage?.["completion_tokens"]);
      expect(tokens).toBeGreaterThanOrEqual(1_000);
      // Names and ids beside it are few; should the tokenizer be slow to start, it is an estimate.
      expect(tokens).toBeLessThan(1_300);
    });
});

test("an upstream that says [DONE] at once and keeps the line open is a 502 at once", async () => {
  const { head, parts } = chatStream({ events: [DONE] });
  gateway.upstream.replyOnce([{ send: Buffer.concat([head, ...parts]) }, { hang: true }]);
  const arrival = gateway.upstream.nextRequest();
  expect(await refusalOf(gateway.call("/chat/completions", chat))).toMatchObject({
    status: 502,
    code: "upstream_error",
  });
  const request = await arrival;
  await request.closed;
  expect(request.abortedByClient).toBe(true);
});

describe("the code of an error event", () => {
  const failed = (error: object) => {
    gateway.upstream.replyOnce(chatStream({ events: [{ error }] }));
    return refusalOf(gateway.call("/chat/completions", chat));
  };

  test("is no status where it is a number of the vendor's own: its type tells", async () => {
    for (const code of [0, 20, 200, 399, 600, 1_305, -1]) {
      expect(await failed({ message: "x", type: "rate_limit_error", code })).toMatchObject({
        status: 429,
        code: "upstream_rate_limited",
      });
      expect(await failed({ message: "x", type: "overloaded_error", code })).toMatchObject({
        status: 503,
        code: "upstream_overloaded",
      });
    }
  });

  test("is one from 400 to 599, whatever the type says", async () => {
    for (const [code, status] of [
      [400, 400],
      [429, 429],
      [504, 504],
      [599, 502],
    ] as const)
      expect((await failed({ message: "x", type: "overloaded_error", code })).status).toBe(status);
  });
});

describe("tool calls of two choices", () => {
  const bare = (name: string) => ({ type: "function", function: { name, arguments: "{}" } });
  const idsOf = (calls: unknown) =>
    (calls as readonly { readonly id?: string }[]).flatMap(({ id = [] }) => id);

  function expectApart(ids: readonly string[]): void {
    expect(ids).toHaveLength(4);
    for (const id of ids) expect(id).toMatch(/^call_\w+$/);
    expect(new Set(ids).size).toBe(4);
  }

  const choices = [0, 1].map((index) => ({
    index,
    message: { role: "assistant", content: null, tool_calls: [bare("f"), bare("g")] },
    finish_reason: "tool_calls",
  }));

  test("get ids of their own in a whole reply, where the upstream gives none", async () => {
    gateway.upstream.replyOnce(chatJson({ choices }));
    const reply = await gateway.call("/chat/completions", { ...chat, n: 2, stream: false });
    const { choices: given } = (await reply.json()) as { choices: typeof choices };
    expectApart(given.flatMap(({ message }) => idsOf(message.tool_calls)));
  });

  test("and in a stream", async () => {
    const events = [0, 1].flatMap((index) => [
      ...["f", "g"].map((name, at) =>
        chatChunk({ index, delta: { tool_calls: [{ index: at, ...bare(name) }] } }),
      ),
      chatChunk({ index, finish: "tool_calls" }),
    ]);
    const stream = await streamOf([...events, DONE], { n: 2 });
    expectWellFormed(stream, { model, includeUsage: false });
    expectApart(deltasOf(stream).flatMap(({ tool_calls: calls = [] }) => idsOf(calls)));
  });

  test("and in a stream that the upstream answers with a whole reply", async () => {
    gateway.upstream.replyOnce(chatJson({ choices }));
    const stream = await readStream(await gateway.call("/chat/completions", { ...chat, n: 2 }));
    expectWellFormed(stream, { model, includeUsage: false });
    expectApart(deltasOf(stream).flatMap(({ tool_calls: calls = [] }) => idsOf(calls)));
  });
});
