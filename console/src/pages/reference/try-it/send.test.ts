import { describe, expect, test } from "bun:test";
import type { Endpoint } from "../document.ts";
import { pretty } from "./pretty.ts";
import { toQuestion } from "./question.ts";
import { ChatWords, toPlayable } from "./send.ts";

const endpoint = (change: Partial<Endpoint>): Endpoint => ({
  id: "chat",
  api: "gateway",
  method: "POST",
  path: "/chat/completions",
  tag: "Chat",
  summary: "",
  description: "",
  scope: undefined,
  isPreview: false,
  isDeprecated: false,
  isStream: false,
  canStream: false,
  parameters: [],
  body: undefined,
  replies: [],
  ...change,
});

describe("what would be sent", () => {
  const draft = { baseUrl: "http://h/v1", values: {}, body: undefined, key: "svc_x" };

  test("goes to the gateway with the key and the body as it is written", () => {
    expect(toQuestion({ ...draft, endpoint: endpoint({}), body: '{ "a": 1 }' })).toEqual({
      method: "POST",
      url: "http://h/v1/chat/completions",
      headers: { authorization: "Bearer svc_x", "content-type": "application/json" },
      body: '{ "a": 1 }',
    });
  });

  test("goes to the platform without a key, with every parameter in its place", () => {
    const platform = endpoint({
      api: "platform",
      method: "GET",
      path: "/api/accounts/{account}/models/{model}",
      parameters: [
        { name: "account", in: "path", required: true, schema: {} },
        { name: "model", in: "path", required: true, schema: {} },
        { name: "after", in: "query", schema: {} },
        { name: "empty", in: "query", schema: {} },
        { name: "x-name", in: "header", schema: {} },
      ],
    });
    const values = { account: "acct_1", model: "vendor/m", after: "a&b", "x-name": "y" };
    expect(toQuestion({ ...draft, baseUrl: "", endpoint: platform, values })).toEqual({
      method: "GET",
      url: "/api/accounts/acct_1/models/vendor%2Fm?after=a%26b",
      headers: { "x-name": "y" },
      body: undefined,
    });
    expect(toQuestion({ ...draft, endpoint: platform })).toBe("Fill in account first.");
  });

  test("is not sent without a key, or with a body that is no JSON", () => {
    expect(toQuestion({ ...draft, endpoint: endpoint({}), key: "" })).toBe(
      "Paste or create a key first.",
    );
    expect(toQuestion({ ...draft, endpoint: endpoint({}), body: "{" })).toContain("not valid JSON");
  });
});

test("a streamed chat is put together, wherever its packets end", () => {
  const event = (text: string) =>
    `data: {"choices":[{"delta":{"content":${JSON.stringify(text)}}}]}\n\n`;
  const all = `${event("Hel")}${event("lo")}data: {"choices":[],"usage":{}}\n\ndata: [DONE]\n\n`;
  const words = new ChatWords();
  let said = "";
  for (const letter of all) said = words.add(letter);
  expect(said).toBe("Hello");
});

test("a vector is shown by its beginning and how much more there is", () => {
  const vector = Array.from({ length: 3072 }, () => 0.5);
  expect(pretty(JSON.stringify({ data: [{ embedding: vector }], n: [] }))).toBe(
    `{\n  "data": [\n    {\n      "embedding": [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, … 3064 more]\n    }\n  ],\n  "n": []\n}`,
  );
  expect(pretty("no JSON")).toBe("no JSON");
});

describe("audio can be played", () => {
  const lengths = async (blob: Blob) => {
    const view = new DataView(await blob.arrayBuffer());
    return [view.byteLength, view.getUint32(4, true), view.getUint32(40, true)];
  };

  test("bare samples get a header", async () => {
    const blob = toPlayable(new Uint8Array(480), "audio/pcm");
    expect(await lengths(blob)).toEqual([524, 516, 480]);
    expect((await blob.slice(0, 4).text()) + (await blob.slice(36, 40).text())).toBe("RIFFdata");
  });

  test("a streamed file gets its real length, and a whole one stays as it is", async () => {
    const whole = new Uint8Array(await toPlayable(new Uint8Array(480), "audio/pcm").arrayBuffer());
    const streamed = new Uint8Array(whole).fill(0xff, 4, 8).fill(0xff, 40, 44);
    expect(await lengths(toPlayable(streamed, "audio/wav"))).toEqual([524, 516, 480]);
    expect(new Uint8Array(await toPlayable(whole, "audio/wav").arrayBuffer())).toEqual(whole);
  });
});

test("the words of a stream are put together in every format", () => {
  const events = [
    { choices: [{ delta: { content: "a" } }] },
    { choices: [{ text: "b" }] },
    { type: "response.output_text.delta", delta: "c" },
    { type: "response.function_call_arguments.delta", delta: "{}" },
    { type: "content_block_delta", delta: { type: "text_delta", text: "d" } },
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "transcript.text.delta", delta: "e" },
  ];
  const words = new ChatWords();
  for (const event of events) words.add(`event: x\ndata: ${JSON.stringify(event)}\n\n`);
  expect(words.add("")).toBe("abcde");
});
