import { expect, test } from "bun:test";
import { type Bytes, eventReply, httpReply, jsonReply } from "../../../../test/fake/http/reply.ts";
import {
  anthropicEvent,
  anthropicEvents,
} from "../../../../test/fake/vendors/anthropic-messages.ts";
import { bedrockEvents } from "../../../../test/fake/vendors/bedrock-converse.ts";
import { bedrockException } from "../../../../test/fake/vendors/bedrock-frames.ts";
import { useBridge } from "../../../../test/providers/bridge.ts";
import { apiErrorOf } from "../../../../test/providers/failure-of.ts";

const anthropic = useBridge({ kind: "anthropic" });
const bedrock = useBridge({ kind: "bedrock" });

const call = {
  messages: [{ role: "user", content: "words of the caller" }],
  maxOutputTokens: 100,
  options: {},
};
const frames = (body: readonly Bytes[]) =>
  httpReply({
    headers: { "content-type": "application/vnd.amazon.eventstream" },
    body,
    framing: "chunked",
  });
const usage = { input_tokens: 9, output_tokens: 5 };
const events = anthropicEvents({
  blocks: [{ type: "text", text: "Hi" }],
  stopReason: "end_turn",
  usage,
});
const cloudEvents = bedrockEvents({
  blocks: [{ text: ["Hi"] }],
  stopReason: "end_turn",
  usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 },
});

test("an event that the vendor has added since is passed over", async () => {
  const news = anthropicEvent({ type: "weather_report", index: 0, temperature: 7 });
  anthropic.upstream.replyOnce(eventReply(events.toSpliced(3, 0, news)));
  const parts = await anthropic.hear(call);
  expect(parts.map(({ type }) => type)).toEqual(["text-delta", "usage", "finish", "done"]);
});

test("an event that is larger than 4 MiB ends the call", async () => {
  const words = "a".repeat(64 * 1024);
  anthropic.upstream.replyOnce(
    eventReply([...events.slice(0, 2), "data: ", ...Array(65).fill(words)]),
  );
  const error = await apiErrorOf(anthropic.hear(call));
  expect([error.code, error.detail]).toEqual([
    "upstream_error",
    expect.stringContaining("an event that is too large"),
  ]);
});

test("a failure in the stream that the package does not know is told all the same", async () => {
  for (const [name, code] of [
    ["modelTimeoutException", "upstream_timeout"],
    ["aNewException", "upstream_error"],
  ] as const) {
    bedrock.upstream.replyOnce(
      frames([...cloudEvents.slice(0, 2), bedrockException(name, "words of the caller")]),
    );
    const error = await apiErrorOf(bedrock.hear(call));
    expect(error.code).toBe(code);
    expect(error.detail).toContain(name.toLowerCase());
    expect(error.detail).not.toContain("words of the caller");
  }
});

test("a connection is used again when a stream has come to its end", async () => {
  const numbers = new Set<number>();
  let calls = 0;
  // It rests for a few calls.
  while (numbers.size === calls && calls < 200) {
    anthropic.upstream.replyOnce(eventReply(events));
    await anthropic.hear(call);
    const request = anthropic.upstream.requests.at(-1);
    await request?.closed;
    numbers.add(request?.connection ?? 0);
    calls++;
  }
  expect(numbers.size).toBe(calls - 1);
});

test("nothing of the request is kept in an error", async () => {
  anthropic.upstream.replyWith(jsonReply({ body: {} }));
  for (const work of [anthropic.chat(call), anthropic.hear(call)]) {
    const error = await apiErrorOf(work);
    expect(error.code).toBe("upstream_error");
    expect(error.cause).toBeUndefined();
    expect(`${error.message} ${error.detail}`).not.toContain("words of the caller");
  }
});

test("a call tells how its upstream can be looked at, before it is sent", async () => {
  anthropic.upstream.replyOnce(eventReply(events));
  const problems: (string | undefined)[] = [];
  const looking: Promise<void>[] = [];
  await anthropic.hear(call, {
    onDial: (probe) =>
      void looking.push(probe(1_000).then((problem) => void problems.push(problem))),
  });
  await Promise.all(looking);
  expect(problems).toStrictEqual([undefined]);
});

test("a long answer may be longer than what may be kept of it at a time", async () => {
  const text = "long ".repeat(100_000);
  const pieces = Array<string>(40).fill(text);
  const blocks = [{ type: "text", text: pieces.join(""), pieces }] as const;
  anthropic.upstream.replyOnce(
    eventReply(anthropicEvents({ blocks, stopReason: "end_turn", usage })),
  );
  const parts = await anthropic.hear(call);
  const said = parts.filter(({ type }) => type === "text-delta");
  expect(said).toHaveLength(40);
  expect(parts.at(-1)).toEqual({ type: "done" });
});
