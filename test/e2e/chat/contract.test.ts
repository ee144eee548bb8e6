/** Chat beyond the contract's own fields: each is taken, passed on, and its answer handed back. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chatAnswers,
  chatChunk,
  chatStream,
  chatStreams,
  DONE,
  jsonReply,
  TOOL_CALL,
} from "../../fake/recordings.ts";
import type { Reply } from "../../fake/script.ts";
import { expectWellFormed, readStream, reasoningOf, textOf } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.reset();
  gateway.upstream.replyWith(chatAnswers.plain());
});

const path = "/chat/completions";
const model = "svc-3-flash";
const hello = { model, messages: [{ role: "user", content: "Say hello" }] };

interface Completion {
  readonly choices: readonly {
    readonly index: number;
    readonly message: Readonly<Record<string, unknown>>;
    readonly logprobs: unknown;
    readonly finish_reason: string;
  }[];
  readonly usage: Readonly<Record<string, unknown>>;
}

async function ask(fields: object = {}): Promise<Completion> {
  const reply = await gateway.call(path, { ...hello, ...fields });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("application/json");
  return (await reply.json()) as Completion;
}

const lastSent = () => gateway.upstream.requests.at(-1)?.json as Record<string, unknown>;

async function answered(message: object, more: object = {}): Promise<Completion> {
  const choice = { index: 0, message, finish_reason: "stop", ...more };
  gateway.upstream.replyOnce(chatAnswers.plain({ choices: [choice] }));
  return ask();
}

describe("a field that has more than one form goes upstream in each:", () => {
  const named = { type: "function", function: { name: "f" } };
  const forms: Readonly<Record<string, readonly unknown[]>> = {
    tool_choice: ["none", "auto", "required", named],
    response_format: [
      { type: "text" },
      { type: "json_object" },
      {
        type: "json_schema",
        json_schema: { name: "s", strict: true, schema: { type: "object", properties: {} } },
      },
    ],
    stop: ["\n", ["a"], ["a", "b", "c", "d"]],
    parallel_tool_calls: [true, false],
    logprobs: [true],
    n: [1, 2, 128],
    seed: [0, -1, 2 ** 53 - 1],
    temperature: [0, 0.7, 2],
    top_p: [0, 1],
    presence_penalty: [-2, 0, 2],
    frequency_penalty: [-2, 0, 2],
    user: ["", "someone"],
    reasoning_effort: ["none", "minimal", "high"],
    tools: [[], [{ ...named, function: { name: "f", description: null, parameters: null } }]],
  };
  for (const [field, values] of Object.entries(forms))
    test(field, async () => {
      for (const value of values) {
        await ask({ ...(value === named ? { tools: [named] } : {}), [field]: value });
        expect(lastSent()[field]).toEqual(value);
      }
    });
});

test("what only the vendor's own platform would use is taken, and not refused", async () => {
  for (const fields of [
    { store: true },
    { store: false },
    { service_tier: "auto" },
    { metadata: { run: "7" } },
    { stream: false, stream_options: { include_usage: true } },
    { stream_options: { include_usage: true } },
    { stream_options: null },
  ])
    expect((await ask(fields)).choices.length).toBe(1);
});

describe("the whole shape of a reply is there", () => {
  test("however little the upstream sends", async () => {
    const scant = { choices: [{ message: { content: "Hi" } }] };
    gateway.upstream.replyOnce(jsonReply({ body: scant }));
    const reply = await ask();
    expect(Object.keys(reply)).toEqual(["id", "object", "created", "model", "choices", "usage"]);
    expect(reply.choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Hi", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
    const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = reply.usage;
    for (const count of [input, output, total]) expect(count).toBeInteger();
    expect(total).toBe(Number(input) + Number(output));
  });

  test("with a role and an index of ours, whatever the upstream's", async () => {
    const odd = [
      { message: { role: "model", content: "one" }, finish_reason: null },
      { message: { role: null, content: "two" }, finish_reason: "STOP" },
    ];
    gateway.upstream.replyOnce(chatAnswers.plain({ choices: odd }));
    const { choices } = await ask({ n: 2 });
    expect(
      choices.map(({ index, message, finish_reason: finish }) => [
        index,
        message["role"],
        message["content"],
        finish,
      ]),
    ).toEqual([
      [0, "assistant", "one", "stop"],
      [1, "assistant", "two", "stop"],
    ]);
  });

  test("and content is text or null, never a list", async () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
    ];
    for (const [content, expected] of [
      [parts, "Hello"],
      ["", ""],
      [null, null],
      [undefined, null],
    ])
      expect((await answered({ content })).choices[0]?.message["content"]).toBe(expected as string);
  });
});

describe("what the model made reaches the caller:", () => {
  test("logprobs of a whole reply", async () => {
    const token = { token: "Hi", logprob: -0.25, bytes: [72, 105], top_logprobs: [] };
    const logprobs = { content: [token], refusal: null };
    const { choices } = await answered({ role: "assistant", content: "Hi" }, { logprobs });
    expect(choices[0]?.logprobs).toEqual(logprobs);
  });

  test("parallel tool calls of a whole reply, in their order", async () => {
    const calls = [TOOL_CALL, { ...TOOL_CALL, id: "call_vendor_b2" }];
    const { choices } = await answered({ role: "assistant", content: null, tool_calls: calls });
    expect(choices[0]?.message["tool_calls"]).toEqual(calls);
    expect(choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("a refusal", async () => {
    const { choices } = await answered({ role: "assistant", content: null, refusal: "I may not." });
    expect(choices[0]?.message).toMatchObject({ content: null, refusal: "I may not." });
  });

  test("reasoning under each of the names that vendors have for it", async () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "s" }];
    const thoughts = { reasoning_content: "hm", reasoning: "hm", reasoning_details: details };
    const { choices } = await answered({ role: "assistant", content: "42", ...thoughts });
    expect(choices[0]?.message).toMatchObject(thoughts);
  });
});

describe("in a stream", () => {
  async function relay(reply: Reply, fields: object = {}) {
    gateway.upstream.replyOnce(reply);
    const response = await gateway.call(path, { ...hello, stream: true, ...fields });
    const stream = await readStream(response);
    expectWellFormed(stream, { model, includeUsage: false });
    return stream;
  }

  test("include_usage:false, null or left out means no usage", async () => {
    for (const stream_options of [{ include_usage: false }, { include_usage: null }, {}, null])
      await relay(chatStreams.openai(), { stream_options });
  });

  test("content in parts becomes text", async () => {
    const deltas = [
      { role: "assistant", content: [{ type: "text", text: "Hel" }] },
      { content: [{ type: "text", text: "lo" }] },
    ];
    const events = [...deltas.map((delta) => chatChunk({ delta })), chatChunk({ finish: "stop" })];
    expect(textOf(await relay(chatStream({ events: [...events, DONE] })))).toBe("Hello");
  });

  test("reasoning under another name comes whole and in order, under both names", async () => {
    const deltas = [{ reasoning: "Six times " }, { reasoning: "seven." }, { content: "42" }];
    const events = [...deltas.map((delta) => chatChunk({ delta })), chatChunk({ finish: "stop" })];
    const stream = await relay(chatStream({ events: [...events, DONE] }));
    const thoughts = stream.chunks.map(({ choices }) => choices[0]?.delta["reasoning"] ?? "");
    expect(thoughts.join("")).toBe("Six times seven.");
    expect([reasoningOf(stream), textOf(stream)]).toEqual(["Six times seven.", "42"]);
  });

  test("a whole reply with parallel tool calls, sent instead of events, becomes a stream", async () => {
    const calls = ["call_a", "call_b"].map((id) => ({ ...TOOL_CALL, id, index: 0 }));
    const message = { role: "assistant", content: null, tool_calls: calls };
    const choice = { index: 0, message, finish_reason: "tool_calls" };
    const { chunks } = await relay(chatAnswers.plain({ choices: [choice] }));
    const sent = chunks.flatMap(({ choices }) => choices[0]?.delta["tool_calls"] ?? []);
    expect(sent).toEqual(calls.map((call, index) => ({ ...call, index })));
  });
});
