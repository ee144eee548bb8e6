/** Stored responses: reading, continuing, listing and deleting them, only by their own account. */

import { describe, expect, test } from "bun:test";
import { jsonReply } from "../../fake/http/reply.ts";
import {
  answerEvents,
  callEvents,
  callItem,
  messageItem,
  reasoningItem,
  responseEvents,
  responseObject,
  wholeResponse,
} from "../../fake/openai/responses.ts";
import { chatAnswers, chatJson, chatStreams } from "../../fake/recordings.ts";
import { lastResponse, readResponseEvents } from "../../replies/response-events.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const manifest = `
providers:
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  vendor: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  plain: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: plain, model: any }] }
  gpt: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: vendor, model: gpt-5 }] }
  small: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: vendor, model: gpt-4o }] }
`;
const gateway = useTestGateway({ manifest, environment: { SVC_STORE_RESPONSES: "on" } });
const ask = (fields: object = {}) =>
  gateway.call("/responses", { model: "plain", input: "Hi", ...fields });
const manage = (path: string, method = "GET", key = gateway.key) =>
  fetch(`${gateway.baseUrl}/responses/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
const sent = () => gateway.upstream.requests.at(-1)?.json as Record<string, object[]>;

async function stored(
  fields: object = {},
): Promise<{ readonly id: string; readonly output: never[] }> {
  gateway.upstream.replyOnce(chatAnswers.plain());
  return (await ask(fields)).json();
}

test("a reply is read again as it was sent, whole and streamed", async () => {
  const reply = await stored();
  expect(reply).toMatchObject({ store: true });
  expect(await (await manage(reply.id)).json()).toEqual(reply);
  gateway.upstream.replyOnce(chatStreams.openai());
  const last = lastResponse(await readResponseEvents(await ask({ stream: true })));
  expect(await (await manage(String(last["id"]))).json()).toEqual(last);
});

test("a reply with store set to false is not found", async () => {
  const reply = await stored({ store: false });
  expect(reply).toMatchObject({ store: false });
  expect((await manage(reply.id)).status).toBe(404);
});

test("previous_response_id continues a conversation, without its earlier instructions", async () => {
  const first = await stored({ instructions: "Be brief." });
  const second = await stored({ input: "More", previous_response_id: first.id });
  await stored({ input: "Still more", previous_response_id: second.id });
  expect(sent()["messages"]).toMatchObject([
    { role: "user", content: "Hi" },
    { role: "assistant" },
    { role: "user", content: "More" },
    { role: "assistant" },
    { role: "user", content: "Still more" },
  ]);
});

test("calls of a stored reply are answered by their ids", async () => {
  gateway.upstream.replyOnce(chatAnswers.toolCall());
  const { id, output } = await (await ask()).json();
  const result = { type: "function_call_output", call_id: output[0].call_id, output: "7" };
  await stored({ previous_response_id: id, input: [result] });
  expect(sent()["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", tool_calls: [{ id: output[0].call_id }] },
    { role: "tool", content: "7" },
  ]);
});

describe("a reference to an item", () => {
  test("stands for the item, whichever vendor created it", async () => {
    const { output } = await stored();
    gateway.upstream.replyOnce(wholeResponse([messageItem, callItem]));
    const native = await (await ask({ model: "gpt" })).json();
    gateway.upstream.replyOnce(responseEvents(answerEvents));
    const events = await readResponseEvents(await ask({ model: "gpt", stream: true }));
    const last = lastResponse(events);
    const names = new Set(
      events.flatMap(({ item_id: id }) => (typeof id === "string" ? [id] : [])),
    );
    expect([...names]).toEqual(last.output.map(({ id }) => String(id)));
    const all = [...output, ...native.output, ...last.output] as { readonly id: string }[];
    const input = [
      { role: "user", content: "Hi" },
      ...all.map(({ id }) => ({ type: "item_reference", id })),
      { type: "function_call_output", call_id: callItem["call_id"], output: "7" },
    ];
    await stored({ input });
    const said = JSON.stringify(sent()["messages"]);
    expect(said).toContain("get_weather");
    expect(said.split('It is \\"7°\\".')).toHaveLength(3);
  });

  test("to an item that does not exist is refused with its field", async () => {
    for (const id of ["msg_1", `msg_${"0".repeat(32)}_0`]) {
      const reply = await ask({ input: [{ role: "user", content: "Hi" }, { id }] });
      expect(reply.status).toBe(400);
      expect((await reply.json()).error.param).toBe("input[1].id");
    }
  });
});

test("input is listed in pages", async () => {
  const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
  const { id } = await stored({ input });
  const page = async (query: string) => (await manage(`${id}/input_items?${query}`)).json();
  const first = await page("limit=2");
  expect(first).toMatchObject({ object: "list", has_more: true });
  const texts = (list: { readonly data: { readonly content: { readonly text: string }[] }[] }) =>
    list.data.map(({ content }) => content[0]?.text);
  expect(texts(first)).toEqual(["c", "b"]);
  expect(texts(await page(`limit=2&after=${first.last_id}`))).toEqual(["a"]);
  expect(texts(await page("order=asc"))).toEqual(["a", "b", "c"]);
  for (const [query, param] of [
    ["limit=0", "limit"],
    ["order=up", "order"],
    ["after=x", "after"],
  ] as const) {
    const { error } = await page(query);
    expect(error.param).toBe(param);
  }
});

test("a response can be deleted once, only by its own account, for free", async () => {
  const { id } = await stored();
  const stranger = await openPayer(gateway);
  for (const method of ["GET", "DELETE"])
    expect((await manage(id, method, stranger.key)).status).toBe(404);
  const theirs = await stranger.call("/responses", {
    model: "plain",
    input: "Hi",
    previous_response_id: id,
  });
  expect((await theirs.json()).error).toMatchObject({ param: "previous_response_id" });
  const deleted = await manage(id, "DELETE");
  expect(await deleted.json()).toEqual({ id, object: "response", deleted: true });
  expect((await manage(id, "DELETE")).status).toBe(404);
  expect((await manage(id, "GET", "sk-svc-wrong")).status).toBe(401);
  expect(await stranger.receipts()).toHaveLength(0);
});

test("operations that stored responses do not support are refused", async () => {
  const { id } = await stored();
  expect((await manage(`${id}?stream=true`)).status).toBe(400);
  expect((await manage(`${id}/cancel`, "POST")).status).toBe(400);
  expect((await manage(`${id}/cancel`)).status).toBe(405);
  expect((await manage(`${id}/other`)).status).toBe(404);
});

test("nothing is stored at a vendor, and it gets no ids", async () => {
  gateway.upstream.replyOnce(wholeResponse([messageItem]));
  const first = await (await ask({ model: "gpt" })).json();
  expect(first).toMatchObject({ store: true });
  gateway.upstream.replyOnce(wholeResponse([messageItem]));
  const next = { model: "gpt", input: "More", previous_response_id: first.id };
  expect(await (await ask(next)).json()).toMatchObject({ previous_response_id: first.id });
  expect(sent()).toMatchObject({ store: false });
  expect(sent()).not.toHaveProperty("previous_response_id");
  expect(sent()["input"]).toHaveLength(3);
  expect(JSON.stringify(sent()["input"])).not.toContain('"id"');
});

test("a vendor's reasoning is stored, and goes back to it with the result of a call", async () => {
  const wanted = "reasoning.encrypted_content";
  const tools = [{ type: "function", name: "get_weather", parameters: {} }];
  for (const stream of [false, true]) {
    const called = stream ? responseEvents(callEvents) : wholeResponse([reasoningItem, callItem]);
    gateway.upstream.replyOnce(called);
    const include = stream ? ["message.output_text.logprobs"] : undefined;
    const reply = await ask({ model: "gpt", tools, stream, include });
    const { id } = stream ? lastResponse(await readResponseEvents(reply)) : await reply.json();
    expect(sent()).toMatchObject({ store: false, include: [...(include ?? []), wanted] });
    gateway.upstream.replyOnce(wholeResponse([messageItem]));
    const result = { type: "function_call_output", call_id: callItem["call_id"], output: "7" };
    await (await ask({ model: "gpt", previous_response_id: id, input: [result] })).json();
    const { id: _thought, ...thought } = reasoningItem;
    const { id: _call, ...call } = callItem;
    expect(sent()["input"]).toEqual([
      expect.objectContaining({ role: "user" }),
      thought,
      call,
      result,
    ]);
  }
});

test("a vendor is not asked for encrypted reasoning that neither caller nor store wants", async () => {
  gateway.upstream.replyOnce(wholeResponse([messageItem]));
  await (await ask({ model: "gpt", store: false })).json();
  expect(sent()).not.toHaveProperty("include");
});

test("a model that refuses to encrypt reasoning serves a request that is stored", async () => {
  const message = "Encrypted content is not supported with this model.";
  const error = { message, type: "invalid_request_error", param: "include", code: null };
  gateway.upstream.replyOnce(jsonReply({ status: 400, body: { error } }));
  gateway.upstream.replyOnce(wholeResponse([messageItem]));
  const reply = await ask({ model: "small" });
  expect(await reply.json()).toMatchObject({ store: true, output: [{ type: "message" }] });
  expect(sent()).not.toHaveProperty("include");
});

test("a stream with more items than any answer has ends in an error, and is not stored", async () => {
  const item = (at: number) => ({ ...messageItem, id: `msg_${at}`, content: [] });
  const added = Array.from({ length: 10_001 }, (_, at) => ({
    type: "response.output_item.added",
    output_index: at,
    item: item(at),
  }));
  gateway.upstream.replyOnce(responseEvents([...answerEvents.slice(0, 2), ...added]));
  const text = await (await ask({ model: "gpt", stream: true })).text();
  expect(text).toContain("event: error\n");
  expect(text.split("\n\n").at(-2)).toStartWith("event: response.failed\n");
  expect(text.split("event: response.output_item.added\n").length).toBeLessThanOrEqual(10_001);
  const [id] = /resp_[0-9a-f]{32}/.exec(text) ?? [];
  expect((await manage(String(id))).status).toBe(404);
});

test("every event of a stream with many items names them as the whole reply does", async () => {
  const items = Array.from({ length: 50 }, (_, at) => ({
    ...messageItem,
    id: `msg_68af40337e58819392e935fb40${at}`,
    content: [{ type: "output_text", annotations: [], text: '"id":"msg_1"' }],
  }));
  const eventsOf = (item: (typeof items)[number], at: number) => {
    const place = { item_id: item.id, output_index: at, content_index: 0 };
    return [
      { type: "response.output_item.added", output_index: at, item: { ...item, content: [] } },
      { type: "response.output_text.delta", ...place, delta: '"id":"msg_1"' },
      // In the middle of other items.
      { type: "response.output_text.delta", ...place, item_id: items[0]?.id, delta: "x" },
      { type: "response.output_item.done", output_index: at, item },
    ];
  };
  const last = { type: "response.completed", response: responseObject(items) };
  const all = [...answerEvents.slice(0, 2), ...items.flatMap(eventsOf), last];
  gateway.upstream.replyOnce(responseEvents(all));
  const reply = await ask({ model: "gpt", stream: true });
  const text = await reply.clone().text();
  expect(text).not.toContain("68af40337e58819392e935fb40");
  const events = await readResponseEvents(reply);
  const { output } = lastResponse(events);
  const added = events.filter(({ type }) => type === "response.output_item.added");
  expect(added.map(({ item }) => (item as { readonly id: string }).id)).toEqual(
    output.map(({ id }) => String(id)),
  );
  expect(JSON.stringify(output)).toContain(JSON.stringify('"id":"msg_1"'));
});

test("requests with one Idempotency-Key store one response, one after another and at the same time", async () => {
  const payer = await openPayer(gateway);
  const send = (key: string, fields: object = {}) =>
    fetch(`${gateway.baseUrl}/responses`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${payer.key}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ model: "plain", input: "Hi", ...fields }),
    });
  const ownId = ({ headers }: Response) =>
    `resp_${headers.get("x-request-id")?.slice("req_".length)}`;
  const storedOf = async (replies: readonly Response[]) => {
    const ids = new Set(replies.map(ownId));
    expect(ids.size).toBe(replies.length);
    const found: string[] = [];
    for (const id of ids) if ((await manage(id, "GET", payer.key)).status === 200) found.push(id);
    return found;
  };
  gateway.upstream.replyWith(chatAnswers.plain());
  const first = await send("a");
  const second = await send("a");
  const { id } = await first.json();
  expect((await second.json()).id).toBe(id);
  expect(await storedOf([first, second])).toEqual([id]);
  const both = await Promise.all([send("b"), send("b")]);
  const served = both.filter(({ status }) => status === 200);
  const ids = new Set(await Promise.all(served.map(async (reply) => (await reply.json()).id)));
  expect(await storedOf(both)).toEqual([...ids]);
  expect(gateway.upstream.requests).toHaveLength(2);
  expect(await payer.receipts()).toHaveLength(2);
});

test("a large request is refused before the call, unless it is not to be stored", async () => {
  const input = [
    {
      role: "user",
      content: [
        { type: "input_file", file_data: `data:application/pdf;base64,${"A".repeat(17 << 20)}` },
      ],
    },
  ];
  const reply = await ask({ input });
  expect(reply.status).toBe(400);
  expect((await reply.json()).error.param).toBe("store");
  gateway.upstream.replyOnce(chatJson());
  expect((await ask({ input, store: false })).status).toBe(200);
});

test("many references to one large item are refused", async () => {
  const { id } = await stored({ input: "word ".repeat(20_000) });
  const listed = await (await manage(`${id}/input_items`)).json();
  const input = Array.from({ length: 20_000 }, () => ({
    type: "item_reference",
    id: listed.data[0].id,
  }));
  const reply = await ask({ input });
  expect(reply.status).toBe(400);
  expect((await reply.json()).error.param).toMatch(/^input\[\d+\]\.id$/);
});

test("an unknown path after an id is not found", async () => {
  for (const action of ["constructor", "__proto__", "toString"])
    expect((await manage(`resp_1/${action}`)).status).toBe(404);
});

test("reading stored responses counts against requests per minute, but not against concurrency", async () => {
  const { operations } = gateway.server;
  const payer = await openPayer(gateway);
  await operations.keys.setLimits({ id: payer.keyId, rpm: "4", concurrency: "1" });
  gateway.upstream.replyOnce(chatAnswers.plain());
  const { id } = await (await payer.call("/responses", { model: "plain", input: "Hi" })).json();
  const statuses: number[] = [];
  for (const asked of [id, "resp_none", id, id])
    statuses.push((await manage(asked, "GET", payer.key)).status);
  expect(statuses).toEqual([200, 404, 200, 429]);
});
