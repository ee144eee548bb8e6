/** Requests of POST /v1/responses: what a chat completions model gets, and what is refused. */

import { describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
const base = { model: "svc-3-flash", input: "Hi" };
const weather = { type: "function", name: "get_weather", parameters: { type: "object" } };
const png = "data:image/png;base64,iVBORw0KGgo=";

async function sentFor(fields: object): Promise<Record<string, unknown>> {
  gateway.upstream.replyOnce(chatAnswers.plain());
  const reply = await gateway.call("/responses", { ...base, ...fields });
  expect(reply.status).toBe(200);
  await reply.json();
  return gateway.upstream.requests.at(-1)?.json as Record<string, unknown>;
}

describe("reach the model", () => {
  test("with what only Responses say in words that chat completions have", async () => {
    const { messages } = await sentFor({
      input: [
        { role: "user", content: [{ type: "input_image", image_url: png, detail: "original" }] },
        { role: "assistant", content: [{ type: "output_text", text: "A dot." }] },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
        { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
        { type: "function_call", call_id: "a", name: "get_weather", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "a",
          output: [{ type: "input_image", image_url: png }],
        },
      ],
    });
    const call = { id: "a", type: "function", function: { name: "get_weather", arguments: "{}" } };
    const image = { type: "image_url", image_url: { url: png } };
    expect(messages).toEqual([
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: png, detail: "high" } }],
      },
      { role: "assistant", content: "A dot." },
      { role: "assistant", content: null, refusal: "No.", tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: "See the attachment below." },
      { role: "user", content: [{ type: "text", text: "Attachment of tool result a:" }, image] },
    ]);
  });

  test("without options that chat completions do not have", async () => {
    const ignored = { metadata: { a: "b" }, truncation: "auto", client_metadata: { x: "y" } };
    const body = await sentFor({ ...ignored, prompt_cache_retention: "24h", temperature: 0.5 });
    expect(Object.keys(body).toSorted()).toEqual([
      "max_tokens",
      "messages",
      "model",
      "temperature",
    ]);
  });

  test("with only the allowed tools", async () => {
    const tools = [weather, { ...weather, name: "other" }];
    const choice = {
      type: "allowed_tools",
      mode: "required",
      tools: [{ type: "function", name: "other" }],
    };
    const body = await sentFor({ tools, tool_choice: choice });
    expect(body).toMatchObject({
      tool_choice: "required",
      tools: [{ function: { name: "other" } }],
    });
    expect(body["tools"]).toHaveLength(1);
  });
});

const user = (part: object) => [
  { role: "user", content: [{ type: "input_text", text: "?" }, part] },
];
/** Each field by itself is openapi.test.ts's. */
const refused: readonly (readonly [string, object])[] = [
  ["input[0].role", { input: [{ role: "robot", content: "Hi" }] }],
  ["input[1].type", { input: [{ role: "user", content: "Hi" }, { type: "telepathy" }] }],
  ["input[0].content[1].type", { input: user({ type: "input_smell" }) }],
  ["input[0].content[1].type", { input: user({ type: "output_text", text: "x" }) }],
  ["input[0].content[1].image_url", { input: user({ type: "input_image" }) }],
  ["input[0].content[1].image_url", { input: user({ type: "input_image", image_url: "ftp://x" }) }],
  ["input[0].content[1].file_id", { input: user({ type: "input_file", file_id: "file-1" }) }],
  ["input[0].content[1].file_id", { input: user({ type: "input_image", file_id: "file-1" }) }],
  ["input[0].content[1].file_data", { input: user({ type: "input_file", file_data: "JVBE" }) }],
  ["input[0].call_id", { input: [{ type: "function_call_output", output: "x" }] }],
  [
    "input[0].content[0].type",
    { input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }] },
  ],
  [
    "input[1].type",
    {
      input: [
        { role: "user", content: "Hi" },
        { type: "item_reference", id: "msg_1" },
      ],
    },
  ],
  ["tools[0].name", { tools: [{ type: "function" }] }],
  ["tools[0].type", { tools: [{ type: "web_search" }] }],
  ["tools[0].type", { tools: [{ type: "shell" }] }],
  [
    "tools[0].environment.type",
    { tools: [{ type: "shell", environment: { type: "container_auto" } }] },
  ],
  ["input[0].tools[0].type", { input: [{ type: "additional_tools", tools: [{ type: "mcp" }] }] }],
  ["tool_choice.name", { tools: [weather], tool_choice: { type: "function", name: "x" } }],
  ["text.format.type", { text: { format: { type: "xml" } } }],
  ["store", { store: true }],
  ["previous_response_id", { previous_response_id: "resp_1" }],
  ["metadata.a", { metadata: { a: 1 } }],
  ["input", { input: "\ud800" }],
];

for (const [param, fields] of refused)
  test(`${JSON.stringify(fields).slice(0, 90)} is refused: ${param}`, async () => {
    const payer = await openPayer(gateway);
    const reply = await payer.call("/responses", { ...base, ...fields });
    expect(reply.status).toBe(400);
    const { error } = await reply.json();
    expect(error).toMatchObject({ code: "invalid_request", param });
    expect(error.message).toStartWith(param);
    expect(gateway.upstream.requests).toHaveLength(0);
    // Faults that only an adapter finds are refused after admission, and are free.
    for (const { charged } of await payer.receipts()) expect(charged).toBe(0n);
  });

test("a gateway that stores no responses returns 404 for their ids", async () => {
  const headers = { authorization: `Bearer ${gateway.key}` };
  const reply = await fetch(`${gateway.baseUrl}/responses/resp_1`, { headers });
  expect(reply.status).toBe(404);
  expect((await reply.json()).error.code).toBe("response_not_found");
});

test("a page from another origin can delete", async () => {
  const reply = await fetch(`${gateway.baseUrl}/responses/resp_1`, {
    method: "OPTIONS",
    headers: { origin: gateway.platformUrl, "access-control-request-method": "DELETE" },
  });
  expect(reply.status).toBe(204);
  expect(reply.headers.get("access-control-allow-methods")).toContain("DELETE");
});

test("a model of another kind is refused", async () => {
  const reply = await gateway.call("/responses", { ...base, model: "svc-embedding-2" });
  expect((await reply.json()).error.code).toBe("wrong_endpoint");
});

test.each([
  ["compact", "Ask the model for a summary"],
  ["input_tokens", "POST /v1/messages/count_tokens"],
])("the 404 of /responses/%s says that it is not supported, and what to use", async (name, use) => {
  const reply = await gateway.call(`/responses/${name}`, { model: "svc-3-flash", input: "x" });
  const { error } = (await reply.json()) as { error: { message: string } };
  expect(reply.status).toBe(404);
  expect(error.message).toStartWith(`/v1/responses/${name} is not supported. `);
  expect(error.message).toContain(use);
});
