import { expect, test } from "bun:test";
import { GEMINI_USAGE, geminiReply } from "../../../../test/fake/vendors/gemini-replies.ts";
import { apiErrorIn } from "../../../../test/providers/failure-of.ts";
import type { JsonObject } from "../../../call/chat.ts";
import { fromGenerateReply } from "./from-candidates.ts";

const messageOf = (parts: readonly JsonObject[]) =>
  fromGenerateReply(geminiReply({ parts, finishReason: "STOP" }), "up").choices[0]?.message;

const failureOf = (reply: JsonObject) => apiErrorIn(() => fromGenerateReply(reply, "up"));

test("signatures of thoughts are carried beside the call and the text that they came with", () => {
  const google = (thought_signature: string) => ({ google: { thought_signature } });
  expect(
    messageOf([
      { text: "I look.", thoughtSignature: "s1" },
      { functionCall: { id: "f1", name: "f", args: { a: 1 } }, thoughtSignature: "s2" },
      { functionCall: { id: "f2", name: "g" } },
    ]),
  ).toEqual({
    role: "assistant",
    content: "I look.",
    refusal: null,
    extra_content: google("s1"),
    tool_calls: [
      {
        id: "f1",
        type: "function",
        function: { name: "f", arguments: '{"a":1}' },
        extra_content: google("s2"),
      },
      { id: "f2", type: "function", function: { name: "g", arguments: "{}" } },
    ],
  });
});

test("a call without an id gets one of its own; content is null beside calls alone", () => {
  const message = messageOf([{ functionCall: { name: "f" } }, { functionCall: { name: "f" } }]);
  expect(message?.["content"]).toBeNull();
  const calls = message?.["tool_calls"] as readonly { readonly id: string }[];
  expect(calls.map(({ id }) => /^call_\w{20,}$/.test(id))).toEqual([true, true]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
});

test("each candidate is a choice", () => {
  const candidate = (text: string, finishReason: string) => ({
    content: { parts: [{ text }], role: "model" },
    finishReason,
  });
  const candidates = [candidate("a", "STOP"), { ...candidate("b", "MAX_TOKENS"), index: 1 }];
  const { choices } = fromGenerateReply({ candidates }, "up");
  expect(choices.map(({ index, message }) => [index, message["content"]])).toEqual([
    [0, "a"],
    [1, "b"],
  ]);
  expect(choices.map(({ finishReason }) => finishReason)).toEqual(["stop", "length"]);
});

test("what thinking has used up is an answer of no words, cut for its length", () => {
  const reply = geminiReply({ finishReason: "MAX_TOKENS", usage: GEMINI_USAGE });
  const { choices } = fromGenerateReply(reply, "up");
  expect(choices[0]).toMatchObject({ finishReason: "length", message: { content: "" } });
});

test("pictures are left out of an answer; one of nothing else has failed", () => {
  const picture = { inlineData: { mimeType: "image/png", data: "AAAA" } };
  expect(messageOf([{ text: "Here:" }, picture])).toMatchObject({ content: "Here:" });
  expect(failureOf(geminiReply({ parts: [picture], finishReason: "STOP" }))).toMatchObject({
    code: "upstream_error",
    detail: "up ended with STOP and sent only images",
  });
});

test("a reason that is no plain word stays out of the detail", () => {
  const detail = failureOf(geminiReply({ finishReason: "SECRET words of a prompt" })).detail;
  expect(detail).toBe("up ended with an unknown reason and sent no content");
});

test("a call without a name is a broken reply", () => {
  const parts = [{ functionCall: { args: {} } }];
  expect(failureOf(geminiReply({ parts, finishReason: "STOP" })).code).toBe("upstream_error");
});

test("how likely the tokens were is told in our form", () => {
  const token = (token: string, logProbability?: number) => ({ token, logProbability, tokenId: 1 });
  const logprobsResult = {
    chosenCandidates: [token("é", -0.5), token("!")],
    topCandidates: [{ candidates: [token("é", -0.5), token("e", -2)] }],
  };
  const reply = geminiReply({
    parts: [{ text: "é!" }],
    finishReason: "STOP",
    more: { logprobsResult },
  });
  expect(fromGenerateReply(reply, "up").choices[0]?.logprobs).toEqual({
    content: [
      {
        token: "é",
        logprob: -0.5,
        bytes: [0xc3, 0xa9],
        top_logprobs: [
          { token: "é", logprob: -0.5, bytes: [0xc3, 0xa9] },
          { token: "e", logprob: -2, bytes: [0x65] },
        ],
      },
      { token: "!", logprob: 0, bytes: [0x21], top_logprobs: [] },
    ],
    refusal: null,
  });
});

test("the prompt of an answer that was stopped before its first word is counted", () => {
  const usage = { promptTokenCount: 9, totalTokenCount: 9 };
  const reply = (parts: readonly JsonObject[]) =>
    fromGenerateReply(geminiReply({ parts, finishReason: "SAFETY", usage }), "up").usage;
  expect(reply([])).toMatchObject({ inputTokens: 9, outputTokens: 0, estimated: false });
  // Words that nobody counted would be free.
  expect(reply([{ text: "I" }])).toBeUndefined();
});
