/** Vendors that speak the Responses format: requests and replies pass through. */

import { describe, expect, test } from "bun:test";
import { toOpaque } from "../../../src/wire/v1/carried.ts";
import {
  answerEvents,
  callEvents,
  callItem,
  failedEvents,
  messageItem,
  RESPONSE_USAGE,
  reasoningItem,
  responseEvents,
  wholeResponse,
} from "../../fake/openai/responses.ts";
import { chatAnswers } from "../../fake/recordings.ts";
import { lastResponse, readResponseEvents, typesOf } from "../../replies/response-events.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  vendor: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  own: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, responses: true }
  off: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, responses: false }
models:
  gpt: { endpoint: chat, max_output_tokens: 4096, price: { input: 1, cached_input: "0.1", output: 10 }, routes: [{ provider: vendor, model: gpt-5 }] }
  plain: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: plain, model: any }] }
  own: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: own, model: any }] }
  off: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: off, model: any }] }
  both: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: vendor, model: gpt-5 }, { provider: plain, model: any, priority: 2 }] }
`,
});
const ask = (fields: object = {}) =>
  gateway.call("/responses", { model: "gpt", input: "The weather?", ...fields });
const sent = () => gateway.upstream.requests.at(-1)?.json as Record<string, unknown>;
const pathOf = () => gateway.upstream.requests.at(-1)?.path;

describe("a request", () => {
  test("reaches the vendor with its own fields, and stores nothing there", async () => {
    gateway.upstream.replyOnce(wholeResponse([messageItem]));
    const tools = [{ type: "function", name: "f", parameters: {}, strict: true, odd: 1 }];
    const fields = { tools, truncation: "auto", include: ["reasoning.encrypted_content"] };
    const ignored = { metadata: { a: "b" }, service_tier: "flex", client_metadata: { x: "y" } };
    await (await ask({ ...fields, ...ignored })).json();
    expect(pathOf()).toBe("/v1/responses");
    expect(sent()).toEqual({
      model: "gpt-5",
      input: "The weather?",
      ...fields,
      max_output_tokens: 4_096,
      store: false,
    });
  });

  test("reaches the vendor without ids and the gateway's own strings, and with what the vendor encrypted", async () => {
    gateway.upstream.replyOnce(wholeResponse([messageItem]));
    const ours = toOpaque("gpt", {
      details: [{ type: "reasoning.text", text: "x", signature: "y" }],
    });
    const user = { type: "message", id: "msg_1", role: "user", content: "Hi", phase: "x" };
    const input = [user, { ...reasoningItem, encrypted_content: ours }, reasoningItem, callItem];
    await (await ask({ input })).json();
    const { id: _user, ...said } = user;
    const { id: _thought, ...thought } = reasoningItem;
    const { id: _call, ...called } = callItem;
    expect(sent()["input"]).toEqual([said, thought, called]);
  });

  test("keeps the sources of an earlier answer, even if URLs are not allowed, because nobody fetches them", async () => {
    const sources = ["https://news.example/a?b=1", "http://wiki.internal/page", "doc:7"];
    const annotations = sources.map((url) => ({
      type: "url_citation",
      start_index: 0,
      end_index: 2,
      title: "A page",
      url,
    }));
    const answer = {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "So.", annotations }],
    };
    const question = { role: "user", content: "Why?" };
    for (const model of ["gpt", "own"]) {
      gateway.upstream.replyOnce(wholeResponse([messageItem]));
      const reply = await ask({ model, input: [answer, question] });
      expect({ model, status: reply.status }).toEqual({ model, status: 200 });
      expect(sent()["input"]).toEqual([answer, expect.objectContaining(question)]);
    }
    // Only in answers: in other parts, a vendor may fetch them.
    const [, inside] = annotations;
    const part = { type: "input_text", text: "?", annotations: [inside] };
    const refused = await ask({ input: [{ role: "user", content: [part] }] });
    expect(refused.status).toBe(400);
    expect((await refused.json()).error.param).toBe("input[0].content[0].annotations[0].url");
  });

  test("with a cap below the vendor's minimum uses chat completions", async () => {
    gateway.upstream.replyOnce(chatAnswers.plain());
    await (await ask({ max_output_tokens: 5 })).json();
    expect(pathOf()).toBe("/v1/chat/completions");
  });

  test("follows the operator's setting", async () => {
    gateway.upstream.replyOnce(wholeResponse([messageItem]));
    await (await ask({ model: "own" })).json();
    expect(pathOf()).toBe("/v1/responses");
    gateway.upstream.replyOnce(chatAnswers.plain());
    await (await ask({ model: "off" })).json();
    expect(pathOf()).toBe("/v1/chat/completions");
  });

  test("with a vendor's own tool goes to that vendor alone", async () => {
    const tools = [{ type: "local_shell" }];
    gateway.upstream.replyOnce(wholeResponse([messageItem]));
    expect((await ask({ model: "both", tools })).status).toBe(200);
    const refused = await ask({ model: "plain", tools });
    expect(refused.status).toBe(400);
    expect((await refused.json()).error.param).toBe("tools[0].type");
  });

  test("with a tool that is billed separately is refused everywhere", async () => {
    const function_ = { type: "function", name: "f" };
    for (const type of ["web_search", "code_interpreter", "file_search", "mcp"]) {
      const reply = await ask({ tools: [function_, { type }] });
      expect(reply.status).toBe(400);
      expect((await reply.json()).error.param).toBe("tools[1].type");
    }
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});

describe("a whole reply", () => {
  test("is the vendor's, with our id, the model that was asked for and the caller's own fields", async () => {
    gateway.upstream.replyOnce(wholeResponse([reasoningItem, messageItem]));
    const reply = await (await ask({ metadata: { a: "b" } })).json();
    expect(reply).toMatchObject({
      model: "gpt",
      output: [reasoningItem, messageItem],
      usage: RESPONSE_USAGE,
      max_output_tokens: null,
      metadata: { a: "b" },
      reasoning: { effort: "medium" },
    });
    expect(reply.id).toMatch(/^resp_[0-9a-f]{32}$/);
  });

  test("whose usage has no details, or ones of the wrong type, gets details that clients can read", async () => {
    const counts = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
    for (const details of [undefined, null, "none"]) {
      const wrong = { input_tokens_details: details, output_tokens_details: details };
      gateway.upstream.replyOnce(wholeResponse([messageItem], { usage: { ...counts, ...wrong } }));
      expect((await (await ask()).json()).usage).toEqual({
        ...counts,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      });
    }
  });
});

describe("a stream", () => {
  test("passes unchanged, except for the response's id, model and usage", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(responseEvents(answerEvents));
    const reply = await payer.call("/responses", { model: "gpt", input: "Hi", stream: true });
    const all = await readResponseEvents(reply);
    expect(typesOf(all)).toEqual(answerEvents.map(({ type }) => String(type)));
    for (const [at, event] of all.entries()) {
      if (event["response"] !== undefined) continue;
      expect(event as object).toEqual({ ...answerEvents[at], sequence_number: at });
    }
    expect(lastResponse(all)).toMatchObject({ model: "gpt", usage: RESPONSE_USAGE });
    expect(lastResponse(all)["id"]).toMatch(/^resp_[0-9a-f]{32}$/);
    expect((await payer.receipt()).units).toMatchObject({ input: 20, output: 87 });
  });

  test("of a call keeps the vendor's encrypted reasoning", async () => {
    gateway.upstream.replyOnce(responseEvents(callEvents));
    const all = await readResponseEvents(await ask({ stream: true }));
    expect(lastResponse(all).output).toEqual([reasoningItem, callItem]);
  });

  test("that fails before its first output is tried on the next target", async () => {
    gateway.upstream.replyOnce(responseEvents(failedEvents));
    gateway.upstream.replyOnce(chatAnswers.plain());
    const all = await readResponseEvents(await ask({ model: "both", stream: true }));
    expect(all.at(-1)?.type).toBe("response.completed");
    expect(pathOf()).toBe("/v1/chat/completions");
  });

  test("past its cap is cut: the open item ends, and is listed with the finished ones", async () => {
    const delta = answerEvents[10];
    const many = Array.from({ length: 300 }, () => ({ ...delta, delta: "word word word " }));
    gateway.upstream.replyOnce(responseEvents([...answerEvents.slice(0, 10), ...many]));
    const all = await readResponseEvents(await ask({ stream: true, max_output_tokens: 16 }));
    expect(typesOf(all).slice(-4)).toEqual([
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.incomplete",
    ]);
    const deltas = all.filter(({ type }) => type === "response.output_text.delta");
    const text = deltas.map(({ delta }) => delta).join("");
    expect(text).toContain("word word word ");
    const item = { ...messageItem, status: "incomplete", content: [{ type: "output_text", text }] };
    expect(all.at(-2)?.["item"]).toMatchObject(item);
    expect(lastResponse(all)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [reasoningItem, item],
      usage: { output_tokens: 16 },
    });
  });

  test("past its cap within a call ends the call as incomplete", async () => {
    const at = callEvents.findIndex(({ type }) => String(type).endsWith("arguments.delta"));
    const many = Array.from({ length: 300 }, () => ({ ...callEvents[at], delta: "1234567890" }));
    gateway.upstream.replyOnce(responseEvents([...callEvents.slice(0, at), ...many]));
    const all = await readResponseEvents(await ask({ stream: true, max_output_tokens: 16 }));
    expect(typesOf(all).slice(-3)).toEqual([
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.incomplete",
    ]);
    const { arguments: text, status } = lastResponse(all).output.at(-1) ?? {};
    expect(status).toBe("incomplete");
    expect(text).toMatch(/^(1234567890)+$/);
    expect(all.at(-3)?.["arguments"]).toBe(text);
  });
});
