/** Replies of upstreams that say one thing and mean another: never a clean end, never a wrong type. */

import { describe, expect, test } from "bun:test";
import { chatAnswers, httpReply, jsonReply, type Recording } from "../../fake/recordings.ts";
import { problemsOf } from "../../replies/conformance.ts";
import { parseStream } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const ask = (fields: object = {}) =>
  gateway.call("/chat/completions", {
    model: "svc-3-flash",
    messages: [{ role: "user", content: "hi" }],
    ...fields,
  });
const whole = (choice: object, rest: object = {}) =>
  jsonReply({ body: { choices: [{ index: 0, finish_reason: "stop", ...choice }], ...rest } });
const events = (...data: readonly (object | string)[]): Recording =>
  httpReply({
    headers: { "content-type": "Text/Event-Stream" },
    body: data.map((one) =>
      Buffer.from(typeof one === "string" ? one : `data: ${JSON.stringify(one)}\n\n`),
    ),
    framing: "chunked",
  });
const chunk = (choice: object) => ({ choices: [{ index: 0, ...choice }] });
const hello = chunk({ delta: { content: "Hello" } });
const done = "data: [DONE]\n\n";

describe("a failure told inside a reply of status 200 is a failure:", () => {
  const message = { role: "assistant", content: "half" };
  const wholes: Readonly<Record<string, readonly [Recording, number]>> = {
    "an error beside choices": [whole({ message }, { error: { message: "no" } }), 502],
    "an error with the code 429": [jsonReply({ body: { error: { code: 429 } } }), 429],
    "a choice that finished in error": [whole({ message, finish_reason: "error" }), 502],
    "a choice with an error": [whole({ message, error: { code: 503 } }), 503],
    "a choice without a message": [whole({}), 502],
    "a choice of another kind": [whole({ text: "hello" }), 502],
    "no choices": [chatAnswers.emptyChoices(), 502],
    "no JSON": [chatAnswers.brokenJson(), 502],
    "choices that are none": [chatAnswers.plain({ choices: [null, "x"] }), 502],
    "a tool call without a name": [whole({ message: { ...message, tool_calls: [null] } }), 502],
  };
  for (const [name, [reply, status]] of Object.entries(wholes))
    test(`${name}, whole`, async () => {
      gateway.upstream.replyWith(reply);
      const refusal = await refusalOf(ask());
      expect(refusal.status).toBe(status);
      if (status === 502) expect(refusal.code).toBe("upstream_error");
    });

  const streams: Readonly<Record<string, readonly (object | string)[]>> = {
    "a finish in error": [hello, chunk({ delta: {}, finish_reason: "error" }), done],
    "an error in a choice": [hello, chunk({ delta: {}, error: { code: 502 } }), done],
    "an event called error": [hello, 'event: error\ndata: {"message":"no"}\n\n', done],
    "an event called error that says so": [hello, 'event: error\ndata: {"error":{}}\n\n', done],
    "a tool call that never gets a name": [
      chunk({ delta: { tool_calls: [{ index: 0, id: "a", function: { arguments: "{}" } }] } }),
      chunk({ delta: {}, finish_reason: "tool_calls" }),
      done,
    ],
  };
  for (const [name, data] of Object.entries(streams))
    test(`${name}, streamed`, async () => {
      gateway.upstream.replyWith(events(...data));
      const { error, isDone } = parseStream(await (await ask({ stream: true })).text());
      expect({ isDone, code: error?.code }).toEqual({ isDone: false, code: "upstream_error" });
    });

  test("one of two answers that never came, streamed", async () => {
    gateway.upstream.replyWith(events(hello, chunk({ delta: {}, finish_reason: "stop" })));
    const cut = parseStream(await (await ask({ stream: true, n: 2 })).text());
    expect([cut.isDone, cut.error?.code]).toEqual([false, "upstream_error"]);
    const one = parseStream(await (await ask({ stream: true })).text());
    expect([one.isDone, one.error]).toEqual([true, undefined]);
  });
});

describe("fields of the wrong type are made right or left out:", () => {
  const odd: Readonly<Record<string, object>> = {
    "a refusal that is a number": { refusal: 5 },
    "reasoning in a list": { reasoning_content: ["hm"] },
    "a tool call of another type": {
      tool_calls: [{ id: "a", type: "custom", function: { name: "f", arguments: "{}" } }],
    },
    "content in an object": { content: { type: "text", text: "Hello" } },
    "a function call of old": { function_call: { name: "f", arguments: "{}" } },
    "a function call of old that is null": { function_call: null },
  };
  for (const [name, fields] of Object.entries(odd))
    test(name, async () => {
      gateway.upstream.replyOnce(whole({ message: { content: "Hello", ...fields } }));
      const reply = await (await ask()).json();
      expect(problemsOf.chat(reply)).toEqual([]);
      expect(reply.choices[0].message).not.toHaveProperty("function_call");
      expect(reply.choices[0].message.content).toBe("Hello");
      gateway.upstream.replyOnce(events(chunk({ delta: { content: "Hello", ...fields } }), done));
      const { chunks } = parseStream(await (await ask({ stream: true })).text());
      expect(chunks.flatMap(problemsOf.chunk)).toEqual([]);
      expect(chunks[0]?.choices[0]?.delta["content"]).toBe("Hello");
      expect(chunks[0]?.choices[0]?.delta).not.toHaveProperty("function_call");
    });

  test("places of choices that are no places, or the same", async () => {
    const message = { content: "x" };
    for (const indexes of [
      [-1, 0],
      [0, 0],
      [0.5, 1],
    ]) {
      const choices = indexes.map((index) => ({ index, message, finish_reason: "stop" }));
      gateway.upstream.replyOnce(jsonReply({ body: { choices } }));
      const reply = await (await ask({ n: 2 })).json();
      expect(reply.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
    }
    gateway.upstream.replyOnce(events({ choices: [{ index: -1, delta: { content: "a" } }] }, done));
    const { chunks } = parseStream(await (await ask({ stream: true })).text());
    expect(chunks[0]?.choices[0]?.index).toBe(0);
  });
});

test("a message stands for a delta", async () => {
  const said = chunk({ message: { content: "Hello" }, finish_reason: "stop" });
  gateway.upstream.replyOnce(events(said, "data:\n\n", "data: [DONE] \n\n"));
  const { chunks, isDone } = parseStream(await (await ask({ stream: true })).text());
  expect([chunks[0]?.choices[0]?.delta["content"], isDone]).toEqual(["Hello", true]);
});

test("vectors are parsed, however many numbers they have", async () => {
  const embedding = Array.from({ length: 3_072 }, (_none, at) => at / 3_072);
  const data = Array.from({ length: 100 }, (_none, index) => ({ index, embedding }));
  gateway.upstream.replyWith(jsonReply({ body: { data, usage: { prompt_tokens: 9 } } }));
  const input = Array.from({ length: 100 }, () => "a");
  const response = await gateway.call("/embeddings", { model: "svc-embedding-2", input });
  expect(response.status).toBe(200);
});

test("a reply that is no JSON is logged without a word of it", async () => {
  const lines: string[] = [];
  const talkative = await startTestGateway({
    environment: { SVC_LOG_LEVEL: "debug" },
    writeLog: (line) => lines.push(line),
  });
  talkative.upstream.replyOnce(
    httpReply({
      headers: { "content-type": "application/json" },
      body: [Buffer.from("SECRET-REPLY more")],
      framing: "length",
    }),
  );
  const code = { message: "x", code: "the caller said SECRET-REPLY" };
  talkative.upstream.replyOnce(jsonReply({ status: 400, body: { error: code } }));
  const body = { model: "svc-3-flash", messages: [{ role: "user", content: "hi" }] };
  for (const status of [502, 400])
    expect((await talkative.call("/chat/completions", body)).status).toBe(status);
  await talkative.stop();
  expect(lines.join("")).toContain("sent invalid JSON");
  expect(lines.join("")).not.toContain("SECRET");
});
