/** Encrypted reasoning that a vendor cannot read, because another model, key or organization made it. */

import { describe, expect, test } from "bun:test";
import { jsonReply, type Recording } from "../../fake/http/reply.ts";
import {
  answerEvents,
  callItem,
  messageItem,
  reasoningItem,
  responseEvents,
  wholeResponse,
} from "../../fake/openai/responses.ts";
import { lastResponse, readResponseEvents, typesOf } from "../../replies/response-events.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  first: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  second: { kind: openai, vendor: azure, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  own: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, responses: true }
models:
  gpt: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: first, model: gpt-5 }] }
  azure: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: second, model: gpt-5 }] }
  mini: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: first, model: gpt-4o-mini }] }
  nano: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: first, model: gpt-4.1-nano }] }
  small: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: first, model: gpt-4o }] }
  own: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: own, model: grok }] }
  old: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, output: 10 }, routes: [{ provider: own, model: grok-2 }] }
`,
});

const wanted = "reasoning.encrypted_content";
const unreadable = {
  message:
    "The encrypted content gAAA...nHDC could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
  type: "invalid_request_error",
  param: null,
  code: "invalid_encrypted_content",
};
const unsupported = {
  message: "Encrypted content is not supported with this model.",
  type: "invalid_request_error",
  param: "include",
  code: null,
};
const refusal = (error: unknown) => jsonReply({ status: 400, body: { error } });
const result = { type: "function_call_output", call_id: callItem["call_id"], output: "7" };
const question = { type: "message", role: "user", content: "The weather?" };
const input = [question, reasoningItem, callItem, result];
interface Sent {
  readonly input: readonly { readonly type: string }[];
  readonly include?: readonly string[];
}
const called = () => gateway.upstream.requests.map(({ json }) => json as unknown as Sent);
const typesIn = (body: Sent | undefined) => body?.input.map(({ type }) => type);
const withReasoning = ["message", "reasoning", "function_call", "function_call_output"];
const withoutReasoning = ["message", "function_call", "function_call_output"];

async function answers(fields: object, ...replies: readonly Recording[]): Promise<Response> {
  for (const reply of replies) gateway.upstream.replyOnce(reply);
  return gateway.call("/responses", { model: "azure", input, store: false, ...fields });
}

describe("reasoning that the vendor cannot read", () => {
  test("is left out of a second request, and the caller gets one reply and one receipt", async () => {
    gateway.upstream.replyOnce(wholeResponse([reasoningItem, callItem]));
    const first = await (
      await gateway.call("/responses", { model: "gpt", input: "The weather?", include: [wanted] })
    ).json();
    const payer = await openPayer(gateway);
    gateway.upstream.reset();
    gateway.upstream.replyOnce(refusal(unreadable));
    gateway.upstream.replyOnce(wholeResponse([messageItem]));
    const moved = { model: "azure", input: [question, ...first.output, result], include: [wanted] };
    const reply = await payer.call("/responses", moved);
    expect(reply.status).toBe(200);
    expect((await reply.json()).output).toEqual([messageItem]);
    const [refused, served] = called();
    expect(typesIn(refused)).toEqual(withReasoning);
    expect(typesIn(served)).toEqual(withoutReasoning);
    const input = refused?.input.filter((_, at) => at !== 1);
    expect(served).toEqual({ ...refused, input } as Sent);
    expect((await payer.receipts()).map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  test("is left out of a second streamed request, whether the refusal is a status or an event", async () => {
    const flat = [{ ...unreadable, type: "error" }];
    const failed = {
      type: "response.failed",
      response: { id: "resp_1", status: "failed", error: unreadable, output: [] },
    };
    const nested = [{ type: "error", error: unreadable }];
    for (const refused of [
      refusal(unreadable),
      responseEvents(flat),
      responseEvents(nested),
      responseEvents([...answerEvents.slice(0, 2), failed]),
    ]) {
      gateway.upstream.reset();
      const payer = await openPayer(gateway);
      gateway.upstream.replyOnce(refused);
      gateway.upstream.replyOnce(responseEvents(answerEvents));
      const reply = await payer.call("/responses", { model: "azure", input, stream: true });
      const all = await readResponseEvents(reply);
      expect(typesOf(all)).toEqual(answerEvents.map(({ type }) => String(type)));
      expect(lastResponse(all).output).toEqual([reasoningItem, messageItem]);
      expect(called().map(typesIn)).toEqual([withReasoning, withoutReasoning]);
      expect((await payer.receipts()).map(({ outcome }) => outcome)).toEqual(["ok"]);
    }
  });

  test("is recognized by the words of other vendors", async () => {
    for (const body of [
      {
        code: "invalid-argument",
        error:
          "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response.",
      },
      { error: { ...unreadable, code: "bad_request" } },
      { error: { message: "Encrypted content could not be decrypted or parsed." } },
    ]) {
      gateway.upstream.reset();
      const refused = jsonReply({ status: 400, body });
      const reply = await answers({ model: "own" }, refused, wholeResponse([messageItem]));
      expect(reply.status).toBe(200);
      expect(called().map(typesIn)).toEqual([withReasoning, withoutReasoning]);
    }
  });

  test("is left out only once", async () => {
    const reply = await answers({}, refusal(unreadable), refusal(unreadable));
    expect(reply.status).toBe(400);
    expect((await reply.json()).error.code).toBe("upstream_rejected");
    expect(called()).toHaveLength(2);
  });

  test("stays in a request that the vendor refuses for another reason", async () => {
    for (const error of [
      { ...unreadable, code: "invalid_value", message: "Invalid value: 'x'." },
      { ...unreadable, code: null, message: "Item said 'The encrypted content is lost'." },
    ])
      for (const stream of [false, true]) {
        gateway.upstream.reset();
        expect((await answers({ stream }, refusal(error))).status).toBe(400);
        expect(called()).toHaveLength(1);
      }
  });

  test("causes no second request if there is none, and a compaction, which is the conversation, stays", async () => {
    const compaction = { type: "compaction", encrypted_content: "gAAAAABoISQ24OyVRYbk" };
    for (const items of [[question], [compaction, question]]) {
      gateway.upstream.reset();
      expect((await answers({ input: items }, refusal(unreadable))).status).toBe(400);
      expect(called()).toHaveLength(1);
    }
  });

  test("causes no second request after the stream has begun", async () => {
    const begun = [...answerEvents.slice(0, 12), { ...unreadable, type: "error" }];
    const reply = await answers({ stream: true }, responseEvents(begun));
    expect(typesOf(await readResponseEvents(reply)).slice(-2)).toEqual([
      "error",
      "response.failed",
    ]);
    expect(called()).toHaveLength(1);
  });
});

describe("a model without encrypted reasoning", () => {
  const more = "message.output_text.logprobs";

  for (const [model, error] of [
    ["small", unsupported],
    [
      "mini",
      {
        ...unsupported,
        message:
          "Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.",
        param: "input",
      },
    ],
    ["old", { message: "Unknown value.", type: "invalid_request_error", param: "include[0]" }],
  ] as const)
    test(`gets no reasoning and is not asked for any, and later requests need no second attempt (${model})`, async () => {
      const moved = { model, include: [wanted, more] };
      const reply = await answers(moved, refusal(error), wholeResponse([messageItem]));
      expect(reply.status).toBe(200);
      const again = await answers(moved, wholeResponse([messageItem]));
      expect(again.status).toBe(200);
      expect(called().map(typesIn)).toEqual([withReasoning, withoutReasoning, withoutReasoning]);
      expect(called().map(({ include }) => include)).toEqual([[wanted, more], [more], [more]]);
    });

  test("is not remembered if the second request is refused as well", async () => {
    await answers({ model: "nano", include: [wanted] }, refusal(unsupported), refusal(unsupported));
    expect(called()).toHaveLength(2);
    await answers({ model: "nano", include: [wanted] }, wholeResponse([messageItem]));
    expect(called().at(-1)?.include).toEqual([wanted]);
  });
});
