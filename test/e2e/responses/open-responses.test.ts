/** Replies of POST /v1/responses against the schema of Open Responses, which its clients check strictly. */

import { expect, test } from "bun:test";
import { jsonReply } from "../../fake/http/reply.ts";
import { reasoningItem, responseObject } from "../../fake/openai/responses.ts";
import {
  chatAnswers,
  chatChunk,
  chatJson,
  chatStream,
  deltaStream,
} from "../../fake/recordings.ts";
import { lastResponse, readResponseEvents, typesOf } from "../../replies/response-events.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  vendor: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  gpt: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: vendor, model: gpt-5 }] }
  plain: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: plain, model: any }] }
`,
});
const hello = { model: "plain", input: "Say hello" };
const ask = (fields: object = {}) => gateway.call("/responses", { ...hello, ...fields });
const events = async (fields: object = {}) =>
  readResponseEvents(await ask({ stream: true, ...fields }));

type Kind = "string" | "integer" | "number" | "boolean" | "object" | "array" | "null";
/** ResponseResource of 2026-04-24: the required fields and their types. */
const required: Readonly<Record<string, readonly Kind[]>> = {
  id: ["string"],
  object: ["string"],
  created_at: ["integer"],
  completed_at: ["integer", "null"],
  status: ["string"],
  incomplete_details: ["object", "null"],
  model: ["string"],
  previous_response_id: ["string", "null"],
  instructions: ["string", "array", "null"],
  output: ["array"],
  error: ["object", "null"],
  tools: ["array"],
  tool_choice: ["string", "object"],
  truncation: ["string"],
  parallel_tool_calls: ["boolean"],
  text: ["object"],
  top_p: ["number"],
  presence_penalty: ["number"],
  frequency_penalty: ["number"],
  top_logprobs: ["integer"],
  temperature: ["number"],
  reasoning: ["object", "null"],
  user: ["string", "null"],
  usage: ["object", "null"],
  max_output_tokens: ["integer", "null"],
  max_tool_calls: ["integer", "null"],
  store: ["boolean"],
  background: ["boolean"],
  service_tier: ["string"],
  metadata: ["object"],
  safety_identifier: ["string", "null"],
  prompt_cache_key: ["string", "null"],
};

function kindsOf(value: unknown): readonly (Kind | undefined)[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  if (typeof value === "number")
    return Number.isInteger(value) ? ["integer", "number"] : ["number"];
  return [typeof value === "undefined" ? undefined : (typeof value as Kind)];
}

/** The required fields that are absent or of another type. */
function faults(value: unknown): readonly string[] {
  const response = value as Readonly<Record<string, unknown>>;
  return Object.entries(required).flatMap(([name, kinds]) =>
    kindsOf(response[name]).some((kind) => kind !== undefined && kinds.includes(kind))
      ? []
      : [name],
  );
}

const nullSettings = { temperature: null, top_p: null, top_logprobs: null, truncation: null };
const requests = [{}, nullSettings, { temperature: 0, top_p: 0.5 }] as const;

test("a whole reply has every required field", async () => {
  for (const fields of requests) {
    gateway.upstream.replyOnce(chatAnswers.reasoning());
    const reply = await (await ask(fields)).json();
    expect([fields, faults(reply)]).toEqual([fields, []]);
    expect(reply).toMatchObject({
      temperature: 1,
      top_p: 1,
      ...("top_p" in fields && fields.top_p !== null ? fields : {}),
    });
    expect(reply.completed_at).toBeGreaterThanOrEqual(reply.created_at);
  }
});

test("the response in every event of a stream has them, and is complete only at its end", async () => {
  gateway.upstream.replyOnce(deltaStream([{ content: "Hi" }]));
  gateway.upstream.replyOnce(chatStream({ events: [chatChunk({ delta: { content: "Hi" } })] }));
  const complete = await events();
  const broken = await events();
  expect(broken.at(-1)?.type).toBe("response.failed");
  for (const all of [complete, broken])
    for (const { type, response } of all) {
      if (response === undefined) continue;
      expect([type, faults(response)]).toEqual([type, []]);
      const at = (response as Record<string, unknown>)["completed_at"];
      expect([type, typeof at === "number"]).toEqual([type, type === "response.completed"]);
    }
});

test("what the upstream reports as its tier stands once", async () => {
  gateway.upstream.replyOnce(chatAnswers.plain());
  const text = await (await ask()).text();
  expect(text.match(/"service_tier":"default"/g)).toHaveLength(1);
});

test("functions and schemas have their required fields, and are otherwise as the caller sent them", async () => {
  gateway.upstream.replyOnce(chatAnswers.plain());
  const schema = { type: "object", properties: {}, additionalProperties: false };
  const tools = [
    { type: "function", name: "plain" },
    { type: "function", name: "full", description: "d", parameters: schema, strict: true },
    { type: "custom", name: "free" },
  ];
  const format = { type: "json_schema", name: "answer", schema };
  const reply = await (await ask({ tools, text: { format } })).json();
  expect(reply.tools).toEqual([
    { type: "function", name: "plain", description: null, parameters: null, strict: null },
    tools[1],
    tools[2],
  ]);
  expect(reply.text).toEqual({ format: { ...format, description: null, strict: false } });
});

const thoughts = ["Let me ", "think."];
const said = (details?: object) =>
  deltaStream([
    ...thoughts.map((reasoning_content) => ({ reasoning_content })),
    ...(details === undefined ? [] : [{ reasoning_details: [details] }]),
    { content: "42" },
  ]);
const raw = [{ type: "reasoning_text", text: "Let me think." }];
const summary = [{ type: "summary_text", text: "Let me think." }];

test("thoughts that no vendor signs are content besides a summary, whole and streamed", async () => {
  gateway.upstream.replyOnce(
    chatJson({ text: "42", message: { reasoning_content: "Let me think." } }),
  );
  const { output } = await (await ask()).json();
  expect(output[0]).toMatchObject({ type: "reasoning", summary, content: raw });

  for (const details of [undefined, { type: "reasoning.text", text: "Let me think.", index: 0 }]) {
    gateway.upstream.replyOnce(said(details));
    const all = await events();
    expect(lastResponse(all).output[0]).toMatchObject({ summary, content: raw });
    const own = all.filter(({ output_index: at }) => at === 0).slice(1, -1);
    const id = lastResponse(all).output[0]?.["id"];
    expect(own.every(({ item_id }) => item_id === id)).toBe(true);
    expect(typesOf(own).slice(-2)).toEqual([
      "response.content_part.added",
      "response.content_part.done",
    ]);
    expect(own.slice(-2)).toMatchObject([
      { content_index: 0, part: { type: "reasoning_text", text: "" } },
      { content_index: 0, part: raw[0] },
    ]);
  }
});

test("thoughts that a vendor signs, or sends as a summary, are a summary alone", async () => {
  for (const details of [
    { type: "reasoning.text", text: "Let me think.", signature: "abc", index: 0 },
    { type: "reasoning.summary", summary: "Let me think.", index: 0 },
    { type: "reasoning.encrypted", data: "abc", index: 0 },
  ]) {
    gateway.upstream.replyOnce(said(details));
    const all = await events();
    expect(lastResponse(all).output[0]).toMatchObject({ type: "reasoning", summary });
    expect(lastResponse(all).output[0]).not.toHaveProperty("content");
    expect(typesOf(all).filter((type) => type === "response.content_part.added")).toHaveLength(1);
    const message = { reasoning_content: "Let me think.", reasoning_details: [details] };
    gateway.upstream.replyOnce(chatJson({ text: "42", message }));
    const { output } = await (await ask()).json();
    expect(output[0]).not.toHaveProperty("content");
  }
});

test("a reply of a provider that speaks the format gets only the fields that it lacks", async () => {
  const vendors = { ...responseObject([reasoningItem]), temperature: 0.3, completed_at: 7 };
  const kept = ["id", "object", "status", "model", "output", "usage", "created_at", "error"];
  const bare = Object.fromEntries(Object.entries(vendors).filter(([name]) => kept.includes(name)));
  for (const body of [vendors, bare, { ...vendors, temperature: null, service_tier: null }]) {
    gateway.upstream.replyOnce(jsonReply({ body }));
    const reply = await (await ask({ model: "gpt" })).json();
    expect(faults(reply)).toEqual([]);
    expect(reply.output).toEqual([reasoningItem]);
    if (body === vendors) expect(reply).toMatchObject({ temperature: 0.3, completed_at: 7 });
  }
});
