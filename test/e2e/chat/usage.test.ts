/** Usage: always asked for upstream, shown to callers who ask, counted here where nobody else does. */

import { describe, expect, test } from "bun:test";
import { chatJson, chatStreams, deltaStream } from "../../fake/recordings.ts";
import { expectWellFormed, readStream } from "../../replies/event-stream.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const model = "svc-3-flash";
const messages = [{ role: "user", content: "Say hello" }];

const chat = (fields: object = {}) =>
  gateway.call("/chat/completions", { model, messages, ...fields });
const streamed = async (fields: object = {}) => readStream(await chat({ stream: true, ...fields }));
const withUsage = { stream_options: { include_usage: true } };

test("a stream has usage only where the caller asks for it; upstream it is always asked for", async () => {
  gateway.upstream.replyWith(chatStreams.openai());
  for (const stream_options of [
    undefined,
    { include_usage: false },
    { include_usage: null },
    {},
    null,
  ])
    expectWellFormed(await streamed({ stream_options }), { model, includeUsage: false });
  expectWellFormed(await streamed(withUsage), { model, includeUsage: true });
  expect(gateway.upstream.requests).toHaveLength(6);
  for (const { json } of gateway.upstream.requests)
    expect(json).toEqual({
      model: "upstream-chat",
      messages,
      max_tokens: 8192,
      stream: true,
      stream_options: { include_usage: true },
    });
});

describe("where no upstream counts, the tokenizer", () => {
  const long = " word".repeat(1_000);

  function expectCounted(tokens: number): void {
    expect(tokens).toBeGreaterThanOrEqual(1_000);
    // Names and ids beside it are few; should the tokenizer be slow to start, it is an estimate.
    expect(tokens).toBeLessThan(1_300);
  }

  test("counts the arguments of a tool call in a whole reply", async () => {
    const called = { id: "a", type: "function", function: { name: "f", arguments: long } };
    const message = { content: null, tool_calls: [called] };
    gateway.upstream.replyOnce(chatJson({ usage: null, message }));
    const { usage } = await (await chat()).json();
    expectCounted(usage.completion_tokens);
  });

  const call = (fields: object) => ({
    tool_calls: [{ index: 0, function: { arguments: long }, ...fields }],
  });
  for (const [what, deltas] of Object.entries({
    "the arguments of a tool call": [
      call({ id: "a", type: "function", function: { name: "f", arguments: long } }),
    ],
    "each piece of the arguments": [
      call({ id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call({}),
    ],
  }))
    test(`counts ${what} of a stream`, async () => {
      gateway.upstream.replyOnce(deltaStream(deltas));
      const { chunks } = await streamed(withUsage);
      expectCounted(Number(chunks.at(-1)?.usage?.["completion_tokens"]));
    });
});
