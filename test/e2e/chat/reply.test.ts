/** Chat completions answered in one piece: their shape, and what of the upstream's reply they keep. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { CHAT_USAGE, chatAnswers, jsonReply, TOOL_CALL } from "../../fake/recordings.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const path = "/chat/completions";
const model = "svc-3-flash";
const hello = { model, messages: [{ role: "user" as const, content: "Say hello" }] };

function ask(body: Partial<ChatCompletionCreateParamsNonStreaming> = {}) {
  return gateway.client().chat.completions.create({ ...hello, ...body });
}

interface Completion {
  readonly choices: readonly {
    readonly index: number;
    readonly message: Readonly<Record<string, unknown>>;
    readonly logprobs: unknown;
    readonly finish_reason: string;
  }[];
  readonly usage: Readonly<Record<string, unknown>>;
}

async function completion(fields: object = {}): Promise<Completion> {
  const reply = await gateway.call(path, { ...hello, ...fields });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("application/json");
  return (await reply.json()) as Completion;
}

async function answered(message: object, more: object = {}): Promise<Completion> {
  const choice = { index: 0, message, finish_reason: "stop", ...more };
  gateway.upstream.replyOnce(chatAnswers.plain({ choices: [choice] }));
  return completion();
}

describe("the SDK", () => {
  test("gets a whole completion with ids of ours and none of the vendor's", async () => {
    const beforeS = Math.floor(Date.now() / 1000);
    const completion = await ask();
    const { id, created, _request_id: requestId, ...rest } = completion;
    expect(rest as object).toEqual({
      object: "chat.completion",
      model,
      system_fingerprint: "fp_44709d6fcb",
      service_tier: "default",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Hello! How can I help you today?",
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: CHAT_USAGE.prompt_tokens,
        completion_tokens: CHAT_USAGE.completion_tokens,
        total_tokens: CHAT_USAGE.total_tokens,
        prompt_tokens_details: { ...CHAT_USAGE.prompt_tokens_details },
        completion_tokens_details: { ...CHAT_USAGE.completion_tokens_details },
      },
    });
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(requestId).toMatch(/^req_[0-9a-f]{32}$/);
    expect(created).toBeGreaterThanOrEqual(beforeS);
    expect(created).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  test("gets every choice it asked for, in order", async () => {
    const choice = (index: number) => ({
      index,
      message: { role: "assistant", content: `answer ${index}` },
      finish_reason: "stop",
    });
    gateway.upstream.replyWith(chatAnswers.plain({ choices: [choice(0), choice(1)] }));
    const { choices } = await ask({ n: 2 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, "answer 0"],
      [1, "answer 1"],
    ]);
    expect(gateway.upstream.requests[0]?.json).toHaveProperty("n", 2);
  });
});

describe("a reply", () => {
  test("carries no header of the vendor", async () => {
    const { headers } = await gateway.call(path, hello);
    expect([...headers.keys()].sort()).toEqual([
      "content-length",
      "content-type",
      "date",
      "x-request-id",
    ]);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-request-id")).not.toContain("vendor");
  });
  test("ends with tool_calls only if it has some", async () => {
    for (const [calls, finishReason, reason] of [
      [[TOOL_CALL], "stop", "tool_calls"],
      [[], "stop", "stop"],
      [[], "", "stop"],
    ] as const) {
      const message = { tool_calls: calls };
      gateway.upstream.replyOnce(chatAnswers.plain({ finishReason, message }));
      expect((await ask()).choices[0]?.finish_reason).toBe(reason);
    }
  });
});

describe("the whole shape of a reply is there", () => {
  test("however little the upstream sends", async () => {
    const scant = { choices: [{ message: { content: "Hi" } }] };
    gateway.upstream.replyOnce(jsonReply({ body: scant }));
    const reply = await completion();
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
    for (const count of [input, output, total]) {
      expect(count).toBeInteger();
      expect(count).toBeGreaterThan(0);
    }
    expect(total).toBe(Number(input) + Number(output));
  });

  test("with a role and an index of ours, whatever the upstream's", async () => {
    const odd = [
      { message: { role: "model", content: "one" }, finish_reason: null },
      { message: { role: null, content: "two" }, finish_reason: "STOP" },
    ];
    gateway.upstream.replyOnce(chatAnswers.plain({ choices: odd }));
    const { choices } = await completion({ n: 2 });
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

  test("a refusal", async () => {
    const { choices } = await answered({ role: "assistant", content: null, refusal: "I may not." });
    expect(choices[0]?.message).toMatchObject({ content: null, refusal: "I may not." });
  });

  test("reasoning under each of the names that vendors have for it", async () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "s" }];
    const thoughts = { reasoning_content: "hm", reasoning: "hm", reasoning_details: details };
    const { choices } = await answered({ role: "assistant", content: "42", ...thoughts });
    expect(choices[0]?.message).toMatchObject(thoughts);
    gateway.upstream.replyOnce(chatAnswers.reasoning());
    expect((await ask()).choices[0]?.message).toMatchObject({
      content: "42",
      reasoning_content: "Six times seven, so forty-two.",
    } as object);
  });
});
