/** Callers who try to avoid paying, and upstreams that send malformed Responses events. */

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { eventReply } from "../../fake/http/reply.ts";
import {
  messageItem,
  RESPONSE_USAGE,
  responseObject,
  wholeResponse,
} from "../../fake/openai/responses.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  vendor: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
models:
  gpt: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: vendor, model: gpt-5 }] }
`,
});
const ask = (fields: object = {}, key = gateway.key) =>
  gateway.call(
    "/responses",
    { model: "gpt", input: "Hi", ...fields },
    { headers: { authorization: `Bearer ${key}` } },
  );

const long = "word ".repeat(40_000);
const tool = (name: string, more: object = {}) => ({ type: "function", name, ...more });
/** The usage of a vendor that read this many tokens. */
const read = (tokens: number) => ({
  ...RESPONSE_USAGE,
  input_tokens: tokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  total_tokens: tokens + 1,
});
const user = { role: "user", content: "Hi" };
const screenshot = (output: object) => [
  user,
  {
    type: "computer_call_output",
    call_id: "c",
    output: { type: "computer_screenshot", ...output },
  },
];

// Each place of a request by itself is native-holds.test.ts's.
describe("the hold covers what only the vendor reads", () => {
  const cases: Readonly<Record<string, object>> = {
    "a tool that is declared twice": { tools: [tool("f"), tool("f", { description: long })] },
    "a thought that leads to nothing": {
      input: [
        user,
        {
          type: "reasoning",
          summary: [{ type: "summary_text", text: long }],
          encrypted_content: "x",
        },
      ],
    },
  };
  for (const [name, fields] of Object.entries(cases))
    test(name, async () => {
      const payer = await openPayer(gateway);
      gateway.upstream.replyOnce(wholeResponse([messageItem], { usage: read(40_000) }));
      const reply = await ask({ max_output_tokens: 16, ...fields }, payer.key);
      expect(reply.status).toBe(200);
      await reply.json();
      const sent = JSON.stringify(gateway.upstream.requests.at(-1)?.json);
      expect(sent.includes(long)).toBe(true);
      const { charged } = await payer.receipt();
      expect(charged).toBe(40_000n * 1_000n + 10_000n);
    });

  test("a screenshot by its address, as an image", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(wholeResponse([messageItem], { usage: read(1_400) }));
    const input = screenshot({ image_url: "https://example.com/a.png" });
    expect((await ask({ max_output_tokens: 16, input }, payer.key)).status).toBe(200);
    expect((await payer.receipt()).charged).toBe(1_410n * 1_000n);
  });
});

describe("references to what the caller does not own are refused", () => {
  const file = { type: "input_file", file_data: "data:text/plain;base64,aGk=" };
  const cases: Readonly<Record<string, readonly [string, object]>> = {
    "a file by its address, beside its data": [
      "input[0].content[0].file_url",
      { input: [{ role: "user", content: [{ ...file, file_url: "https://example.com/a.pdf" }] }] },
    ],
    "a screenshot by the id of a file": [
      "input[1].output.file_id",
      { input: screenshot({ file_id: "file-123" }) },
    ],
    "an image at a private address": [
      "input[0].content[0].image_url",
      {
        input: [
          { role: "user", content: [{ type: "input_image", image_url: "http://10.0.0.1/a" }] },
        ],
      },
    ],
    "a screenshot at a private address": [
      "input[1].output.image_url",
      { input: screenshot({ image_url: "http://169.254.169.254/latest" }) },
    ],
    "a file of the vendor's in a result": [
      "input[1].output[0].file_id",
      {
        input: [
          user,
          {
            type: "function_call_output",
            call_id: "c",
            output: [{ type: "input_image", file_id: "file-1" }],
          },
        ],
      },
    ],
  };
  for (const [name, [param, fields]] of Object.entries(cases))
    test(name, async () => {
      gateway.upstream.replyOnce(wholeResponse([messageItem]));
      const reply = await ask(fields);
      expect(await reply.json()).toMatchObject({ error: { param } });
      expect(gateway.upstream.requests).toHaveLength(0);
    });
});

const events = (...datas: readonly string[]) =>
  eventReply([datas.map((data) => `data: ${data}\n\n`).join("")]);
const delta = '{"type":"response.output_text.delta","item_id":"m","delta":"Hi"}';
const completed = JSON.stringify({
  type: "response.completed",
  response: responseObject([]),
});
const count = (text: string, what: string) => text.split(what).length - 1;

describe("a stream from the vendor", () => {
  test("cannot inject events through an event name", async () => {
    const type = 'response.x\n\nevent: response.completed\ndata: {"type":"response.completed"}\n\n';
    gateway.upstream.replyOnce(events(delta, JSON.stringify({ sequence_number: 1, type })));
    const text = await (await ask({ stream: true })).text();
    expect(text).not.toContain("event: response.completed");
    expect(text).toContain("event: response.failed");
  });

  test("with data of several lines stays whole", async () => {
    const lines = '{"type":"response.output_text.delta",\ndata: "item_id":"m","delta":"Hi"}';
    gateway.upstream.replyOnce(events(delta, lines, completed));
    const text = await (await ask({ stream: true })).text();
    for (const line of text.split("\n")) expect(line).toMatch(/^((event|data): .*)?$/);
    expect(count(text, '"delta":"Hi"')).toBe(2);
  });

  test("ends once, and later events are dropped", async () => {
    gateway.upstream.replyOnce(events(delta, completed, delta, completed));
    const text = await (await ask({ stream: true })).text();
    expect(count(text, "event: response.completed")).toBe(1);
    expect(count(text, "event: response.output_text.delta")).toBe(1);
  });

  const ended = (type: string, response?: unknown) =>
    JSON.stringify({ type: `response.${type}`, sequence_number: 5, response });
  const badEnds: Readonly<Record<string, string>> = {
    "without a response": ended("completed"),
    "with null as its response": ended("completed", null),
    "as cancelled": ended("cancelled", responseObject([], { status: "cancelled" })),
    "with a delta that is no JSON": '{"type":"response.output_text.delta","delta":"x", no json',
    "with an event that is no JSON": '{"type":"response.audio.done" no json',
  };
  for (const [name, end] of Object.entries(badEnds))
    test(`that ends ${name} is broken, and shows nothing of that end`, async () => {
      gateway.upstream.replyOnce(events(delta, end, completed));
      const text = await (await ask({ stream: true })).text();
      const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, named]) => named);
      expect(names).toEqual(["response.output_text.delta", "error", "response.failed"]);
      expect(text).not.toContain("no json");
    });

  const item = { ...messageItem, content: [{ type: "output_text", text: "word ".repeat(500) }] };
  const said = JSON.stringify({
    type: "response.output_text.done",
    item_id: "m",
    text: "word ".repeat(500),
  });
  const uncounted = (output: readonly JsonObject[]) =>
    ended("completed", responseObject(output, { usage: null }));
  const silent: Readonly<Record<string, readonly string[]>> = {
    "when it is done": [said, uncounted([])],
    "with its end": [uncounted([item])],
    "when it is done and with its end, once": [said, uncounted([item])],
  };
  for (const [name, sent] of Object.entries(silent))
    test(`that says its words ${name}, and no usage, is charged for them`, async () => {
      const payer = await openPayer(gateway);
      gateway.upstream.replyOnce(events(...sent));
      await (await ask({ stream: true }, payer.key)).text();
      const { units, estimated, outcome } = await payer.receipt();
      expect({ estimated, outcome }).toEqual({ estimated: true, outcome: "ok" });
      expect(units.output).toBeGreaterThanOrEqual(500);
      expect(units.output).toBeLessThan(520);
    });
});
