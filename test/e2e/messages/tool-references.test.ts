/** Tools that the model learns of in the conversation: `defer_loading` and `tool_reference`. */

import { expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/call/chat.ts";
import { chatJson } from "../../fake/recordings.ts";
import { ask, messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const sent = () => gateway.upstream.requests.at(-1)?.json as JsonObject;

const input_schema = { type: "object", properties: {} };
const search = { name: "ToolSearch", input_schema };
const fetchTool = { name: "WebFetch", description: "Fetches.", input_schema, defer_loading: true };
const placeholder = { name: "Placeholder", input_schema, defer_loading: true };
const reference = { type: "tool_reference", tool_name: "WebFetch" };
const searched = (...content: Json[]) => [
  ask,
  { role: "assistant", content: [{ type: "tool_use", id: "t", name: "ToolSearch", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content }] },
];
const base = { max_tokens: 100, tools: [placeholder, search, fetchTool] };
const betas = { headers: { "anthropic-beta": "advanced-tool-use-2025-11-20" } };

test("go unchanged to a vendor that serves the format", async () => {
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
  const messages = searched(reference);
  const reply = await gateway.call("/messages", { ...base, model: "claude", messages }, betas);
  expect(reply.status).toBe(200);
  expect(sent()).toMatchObject({ messages, tools: base.tools });
  const { headers } = gateway.upstream.requests.at(-1) ?? {};
  expect(headers?.["anthropic-beta"]).toBe("advanced-tool-use-2025-11-20");
});

test("reach other models once a result refers to them", async () => {
  const namesSent = () =>
    (sent()["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name);
  gateway.upstream.replyOnce(chatJson());
  await gateway.call("/messages", { ...base, model: "local", messages: [ask] });
  expect(namesSent()).toEqual(["ToolSearch"]);
  gateway.upstream.replyOnce(chatJson());
  const messages = searched(reference);
  const reply = await gateway.call("/messages", { ...base, model: "local", messages });
  expect(reply.status).toBe(200);
  expect(namesSent()).toEqual(["ToolSearch", "WebFetch"]);
  expect((sent()["messages"] as Json[]).at(-1)).toEqual({
    role: "tool",
    tool_call_id: "t",
    content: "The tool WebFetch is available now.",
  });
});

test("reach the model that must call them", async () => {
  gateway.upstream.replyOnce(chatJson());
  const tool_choice = { type: "tool", name: "WebFetch" };
  await gateway.call("/messages", { ...base, model: "local", messages: [ask], tool_choice });
  expect(sent()["tools"]).toMatchObject([
    { function: { name: "ToolSearch" } },
    { function: { name: "WebFetch" } },
  ]);
});

test("are part of the hold at each reference, because the vendor may read them again there", async () => {
  const payer = await openPayer(gateway, { credit: 200_000_000n });
  const large = { ...fetchTool, description: "a".repeat(10_000) };
  const body = (count: number) => ({
    ...base,
    model: "claude",
    tools: [search, large],
    messages: searched(...Array.from({ length: count }, () => reference)),
  });
  expect((await payer.call("/messages", body(20))).status).toBe(402);
  expect(gateway.upstream.requests).toHaveLength(0);
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
  expect((await payer.call("/messages", body(1))).status).toBe(200);
});

test("cannot be the only tools of a request", async () => {
  const reply = await gateway.call("/messages", {
    ...base,
    model: "local",
    messages: [ask],
    tools: [fetchTool],
  });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { param: "tools" } });
});
