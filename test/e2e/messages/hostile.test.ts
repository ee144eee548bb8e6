/** Callers who want something for nothing, and vendors that speak the Messages format badly. */

import { describe, expect, test } from "bun:test";
import { eventReply } from "../../fake/http/reply.ts";
import { httpChunk } from "../../fake/recordings.ts";
import { messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });

const user = { role: "user", content: "Hi" };
const ask = (fields: object = {}, key = gateway.key) =>
  gateway.call(
    "/messages",
    { model: "claude", max_tokens: 10, messages: [user], ...fields },
    { headers: { "x-api-key": key, authorization: `Bearer ${key}` } },
  );

const long = "word ".repeat(40_000);
const tool = { name: "f", input_schema: { type: "object" } };
const asking = (block: object) => ({ messages: [{ role: "user", content: [block] }] });
const answer = (block: object) => ({
  messages: [user, { role: "assistant", content: [block] }, user],
});

describe("the hold covers what only the vendor reads", () => {
  const cases: Readonly<Record<string, object>> = {
    "examples of a tool": { tools: [{ ...tool, input_examples: [{ text: long }] }] },
    "sources of a text": answer({ type: "text", text: "x", citations: [{ cited_text: long }] }),
    "a thought that leads to nothing": answer({ type: "thinking", thinking: long, signature: "x" }),
    "sources of a block of instructions": {
      system: [{ type: "text", text: "x", citations: [{ cited_text: long }] }],
    },
    "the title of a document": asking({
      type: "document",
      title: long,
      source: { type: "content", content: [{ type: "text", text: "x" }] },
    }),
    "settings of a vendor's own tool": {
      tools: [{ type: "memory_20250818", name: "memory", input_examples: [{ text: long }] }],
    },
  };
  for (const [name, fields] of Object.entries(cases))
    test(name, async () => {
      const payer = await openPayer(gateway);
      const usage = { input_tokens: 40_000, output_tokens: 1 };
      gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "x" }], usage }));
      const reply = await ask(fields, payer.key);
      expect(reply.status).toBe(200);
      await reply.json();
      const sent = JSON.stringify(gateway.upstream.requests.at(-1)?.json);
      expect(sent.includes(long)).toBe(true);
      const { charged } = await payer.receipt();
      expect(charged).toBe(40_000n * 3_000n + 15_000n);
    });
});

describe("unknown fields are not forwarded", () => {
  const cases: Readonly<Record<string, object>> = {
    "fields of a source that is another's": asking({
      type: "document",
      source: { type: "text", data: "x", media_type: "text/plain", content: long },
    }),
    "the choice of a tool": { tools: [tool], tool_choice: { type: "tool", name: "f", odd: long } },
    "fields of thinking": { thinking: { type: "disabled", odd: long } },
  };
  for (const [name, fields] of Object.entries(cases))
    test(name, async () => {
      gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "x" }] }));
      expect((await ask(fields)).status).toBe(200);
      const sent = JSON.stringify(gateway.upstream.requests.at(-1)?.json);
      expect(sent.includes(long)).toBe(false);
    });
});

describe("addresses of a private network are rejected", () => {
  const url = "http://169.254.169.254/latest";
  const image = { type: "image", source: { type: "url", url } };
  const pdf = { type: "document", source: { type: "url", url } };
  const places: Readonly<Record<string, object>> = {
    image,
    pdf,
    "image in a document": { type: "document", source: { type: "content", content: [image] } },
    "image in a result": { type: "tool_result", tool_use_id: "t", content: [image] },
    "pdf in a result": { type: "tool_result", tool_use_id: "t", content: [pdf] },
    "image in a document in a result": {
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "document", source: { type: "content", content: [image] } }],
    },
  };
  for (const model of ["claude", "local"])
    for (const [name, block] of Object.entries(places))
      test(`${model}: ${name}`, async () => {
        const call = { type: "tool_use", id: "t", name: "f", input: {} };
        const turn = { role: "assistant", content: [call] };
        const messages = [user, turn, ...asking(block).messages];
        const reply = await ask({ model, messages });
        expect(reply.status).toBe(400);
        expect((await reply.json()).error.param).toMatch(/^messages\[2\]\.content\[0\]\..*source/);
        expect(gateway.upstream.requests).toHaveLength(0);
      });
});

const events = (...datas: readonly object[]) =>
  eventReply([datas.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("")]);
const begin = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "x",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  },
};
const start = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } };
const stop = { type: "content_block_stop", index: 0 };
const last = {
  type: "message_delta",
  delta: { stop_reason: "end_turn", stop_sequence: null },
  usage: { output_tokens: 3 },
};
const end = { type: "message_stop" };
const count = (text: string, what: string) => text.split(what).length - 1;

describe("a stream from the vendor", () => {
  test("ends once, and later events are dropped", async () => {
    gateway.upstream.replyOnce(
      events(begin, start, delta, stop, last, end, start, delta, last, end),
    );
    const text = await (await ask({ stream: true })).text();
    expect(count(text, "event: message_stop")).toBe(1);
    expect(count(text, "event: message_delta")).toBe(1);
    expect(count(text, '"Hi"')).toBe(1);
  });

  test("that counts several times has its last count", async () => {
    const later = { ...last, usage: { output_tokens: 7 } };
    gateway.upstream.replyOnce(events(begin, start, delta, stop, last, later, end));
    const text = await (await ask({ stream: true })).text();
    expect(count(text, "event: message_delta")).toBe(1);
    expect(text).toContain('"output_tokens":7');
    expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  });

  test("that only repeats its end is broken, and is not kept", async () => {
    const payer = await openPayer(gateway);
    const huge = { ...last, more: "x".repeat(100_000) };
    gateway.upstream.replyOnce([
      { send: events(begin, start, delta, stop).bytes.subarray(0, -5) },
      { flood: 400 * 1024 * 1024, chunk: httpChunk(`data: ${JSON.stringify(huge)}\n\n`) },
    ]);
    const text = await (await ask({ stream: true }, payer.key)).text();
    expect(count(text, "event: message_delta")).toBe(0);
    expect(count(text, "event: error")).toBe(1);
    expect((await payer.receipt()).outcome).toBe("upstream_error");
  });
});
