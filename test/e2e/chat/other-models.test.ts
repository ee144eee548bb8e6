/** What a model thought and its vendor signed goes back to that model, and to no other. */

import { describe, expect, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";
import type { Driver, Heard, Question } from "../../dialects/driver.ts";
import { chatDriver } from "../../dialects/drivers/chat.ts";
import { messagesDriver } from "../../dialects/drivers/messages.ts";
import { responsesDriver } from "../../dialects/drivers/responses.ts";
import { type Form, forms } from "../../dialects/stage.ts";
import { jsonReply } from "../../fake/http/reply.ts";
import { callItem, reasoningItem, wholeResponse } from "../../fake/openai/responses.ts";
import { chatAnswers, chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
import type { Reply } from "../../fake/script.ts";
import type { AnthropicBlock } from "../../fake/vendors/anthropic-messages.ts";
import {
  GEMINI_USAGE,
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../fake/vendors/gemini-replies.ts";
import { nativeStream, nativeWhole } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const provider = (terms: string) =>
  `{ ${terms}, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }`;
const model = (routes: string, more = "") =>
  `{ endpoint: chat, max_output_tokens: 8192, price: { input: 1, output: 10 }, ${more} routes: [${routes}] }`;

const gateway = useTestGateway({
  manifest: `
providers:
  openai: ${provider("kind: openai, vendor: openai")}
  router: ${provider("kind: openai, vendor: openrouter")}
  deepseek: ${provider("kind: openai, vendor: deepseek")}
  plain: ${provider("kind: openai")}
  anthropic: ${provider("kind: anthropic")}
  spare: ${provider("kind: anthropic")}
  google: ${provider("kind: gemini")}
models:
  gpt: ${model("{ provider: openai, model: gpt-5.5 }")}
  routed: ${model("{ provider: router, model: any }")}
  other-routed: ${model("{ provider: router, model: other }")}
  deepseek: ${model("{ provider: deepseek, model: deepseek-chat }")}
  plain: ${model("{ provider: plain, model: any }")}
  claude: ${model("{ provider: anthropic, model: claude-sonnet-4-5 }, { provider: spare, model: claude-sonnet-4-5, priority: 2 }", "aliases: [best],")}
  pro: ${model("{ provider: google, model: gemini-3-pro }")}
`,
});

const thought = "The secret thought.";
const blocks: readonly AnthropicBlock[] = [
  { type: "thinking", thinking: thought, signature: "c2lnbmVkIDE=" },
  { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
  { type: "tool_use", id: "toolu_1", name: "look", input: {} },
];
const claudeSigns = (form: Form): Reply =>
  form === "whole"
    ? nativeWhole({ blocks, stopReason: "tool_use" })
    : nativeStream({ blocks, stopReason: "tool_use" });
const ofClaude = [thought, "c2lnbmVkIDE=", "ZW5jcnlwdGVk"];

const googleParts = [
  { text: thought, thought: true },
  { functionCall: { name: "look", args: {} }, thoughtSignature: "Z29vZ2xl" },
];
function googleSigns(form: Form): Reply {
  const said = geminiReply({ parts: googleParts, finishReason: "STOP", usage: GEMINI_USAGE });
  return form === "whole" ? geminiJson(said) : geminiStream([geminiEvent(said)]);
}
const ofGoogle = [thought, "Z29vZ2xl"];

const called = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };
const routedDetail = {
  type: "reasoning.text",
  text: thought,
  format: "anthropic-claude-v1",
  signature: "cm91dGVk",
  index: 0,
};
const inChat =
  (message: JsonObject) =>
  (form: Form): Reply =>
    form === "whole"
      ? chatJson({ message: { content: null, ...message }, finishReason: "tool_calls" })
      : chatStream({
          events: [
            chatChunk({ delta: { ...message, tool_calls: indexed(message["tool_calls"]) } }),
            chatChunk({ finish: "tool_calls" }),
            DONE,
          ],
        });
const indexed = (calls: Json | undefined): Json =>
  Array.isArray(calls) ? calls.map((call, index) => ({ index, ...(call as JsonObject) })) : [];
const routerSigns = inChat({
  reasoning: thought,
  reasoning_details: [routedDetail],
  tool_calls: [called],
});
const unsigned = inChat({ reasoning_content: thought, tool_calls: [called] });

const googleSays = () =>
  geminiJson(
    geminiReply({ parts: [{ text: "Rain." }], finishReason: "STOP", usage: GEMINI_USAGE }),
  );
const claudeSays = () => nativeWhole({ blocks: [{ type: "text", text: "Rain." }] });
const chatSays = () => chatAnswers.plain();

const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
const base = { tools, thinks: true, cap: 4_096 };
const question = { by: "user", content: ["The weather?"] } as const;

async function hear(driver: Driver, form: Form, asked: Question): Promise<Heard> {
  const body = driver.toBody({ ...asked, ...(form === "streamed" ? { stream: true } : {}) });
  const reply = await gateway.call(driver.path, body);
  const text = await reply.text();
  expect([reply.status, text]).toEqual([200, text]);
  return form === "whole" ? driver.fromReply(JSON.parse(text)) : driver.fromStream(text);
}

interface Exchange {
  readonly driver: Driver;
  readonly form: Form;
  readonly from: string;
  readonly signs: (form: Form) => Reply;
  readonly to: string;
  readonly replies: readonly Reply[];
}

/** One model calls a tool, another gets the result. Gives what the second was sent. */
async function handOver({ driver, form, from, signs, to, replies }: Exchange): Promise<string> {
  gateway.upstream.reset();
  gateway.upstream.replyOnce(signs(form));
  const first = await hear(driver, form, { ...base, model: from, turns: [question] });
  for (const reply of replies) gateway.upstream.replyOnce(reply);
  const [call] = first.calls;
  const turns = [
    question,
    { by: "assistant", echo: first.echo },
    { by: "tool", id: call?.id ?? "", content: ["rain"] },
  ] as const;
  await hear(driver, "whole", { ...base, model: to, turns });
  const sent = gateway.upstream.requests.at(-1)?.body ?? "";
  expect(sent).toContain("rain");
  expect(sent).not.toContain("svc1.");
  return sent;
}

const drivers = [chatDriver, responsesDriver, messagesDriver];
const translating = [responsesDriver, messagesDriver];

interface Way {
  readonly from: string;
  readonly to: string;
  readonly drivers: readonly Driver[];
  readonly signs: (form: Form) => Reply;
  readonly secrets: readonly string[];
  readonly says: () => Reply;
}

const claude = { from: "claude", signs: claudeSigns, secrets: ofClaude, drivers };
const pro = { from: "pro", signs: googleSigns, secrets: ofGoogle, drivers };
const routed = {
  from: "routed",
  signs: routerSigns,
  secrets: [thought, "cm91dGVk"],
  says: chatSays,
};
const plain = { from: "plain", signs: unsigned, secrets: [thought], says: chatSays };

const leftOut: readonly Way[] = [
  ...["routed", "deepseek", "plain"].flatMap((to) => [
    { ...claude, to, says: chatSays },
    { ...pro, to, says: chatSays },
  ]),
  { ...claude, to: "pro", says: googleSays },
  { ...pro, to: "claude", says: claudeSays },
  { ...routed, to: "deepseek", drivers },
  { ...routed, to: "plain", drivers },
  // Chat completions have no place for the model: there the vendor decides.
  { ...routed, to: "other-routed", drivers: translating },
  { ...plain, to: "deepseek", drivers: translating },
];

describe("is left out for another model", () => {
  for (const { from, to, drivers: known, signs, secrets, says } of leftOut)
    for (const driver of known)
      for (const form of forms)
        test(`${driver.name}, ${form}: ${from} → ${to}`, async () => {
          const sent = await handOver({ driver, form, from, signs, to, replies: [says()] });
          for (const secret of secrets) expect(sent).not.toContain(secret);
        });

  test("and a model that must sign its thoughts does not think without them", async () => {
    const exchange = {
      driver: messagesDriver,
      form: "whole",
      from: "plain",
      to: "claude",
    } as const;
    const sent = await handOver({ ...exchange, signs: unsigned, replies: [claudeSays()] });
    expect(sent).not.toContain(thought);
    expect(JSON.parse(sent)).toMatchObject({ thinking: { type: "disabled" } });
  });

  test("what OpenAI encrypted itself, with its summary", async () => {
    const secret = String(reasoningItem["encrypted_content"]);
    const output = [
      { ...reasoningItem, summary: [{ type: "summary_text", text: thought }] },
      callItem,
    ];
    const input = [
      { role: "user", content: "Hi" },
      ...output,
      { type: "function_call_output", call_id: callItem["call_id"], output: "rain" },
    ];
    gateway.upstream.replyOnce(chatSays());
    await gateway.call("/responses", { model: "deepseek", input });
    expect(gateway.upstream.requests.at(-1)?.body).not.toContain(thought);
    gateway.upstream.replyOnce(wholeResponse(output));
    await gateway.call("/responses", { model: "gpt", input });
    expect(gateway.upstream.requests.at(-1)?.body).toContain(thought);
    expect(gateway.upstream.requests.at(-1)?.body).toContain(secret);
  });
});

describe("goes back to the model that made it", () => {
  for (const driver of drivers)
    for (const form of forms) {
      test(`${driver.name}, ${form}: by an alias`, async () => {
        const exchange = { driver, form, from: "best", signs: claudeSigns, to: "claude" };
        const sent = await handOver({ ...exchange, replies: [claudeSays()] });
        for (const words of ofClaude) expect(sent).toContain(words);
      });

      test(`${driver.name}, ${form}: on a fallback route`, async () => {
        const body = { type: "error", error: { type: "api_error", message: "x" } };
        const failure = jsonReply({ status: 500, body });
        const exchange = { driver, form, from: "claude", signs: claudeSigns, to: "best" };
        const sent = await handOver({ ...exchange, replies: [failure, claudeSays()] });
        expect(gateway.upstream.requests).toHaveLength(3);
        for (const words of ofClaude) expect(sent).toContain(words);
      });

      test(`${driver.name}, ${form}: at a vendor with details of its own`, async () => {
        const exchange = { driver, form, from: "routed", signs: routerSigns, to: "routed" };
        const sent = await handOver({ ...exchange, replies: [chatSays()] });
        const { messages } = JSON.parse(sent);
        expect(messages[1]).toMatchObject({
          reasoning: thought,
          reasoning_details: [routedDetail],
        });
      });

      test(`${driver.name}, ${form}: without a signature`, async () => {
        const exchange = { driver, form, from: "deepseek", signs: unsigned, to: "deepseek" };
        const { messages } = JSON.parse(await handOver({ ...exchange, replies: [chatSays()] }));
        expect(messages[1]).toMatchObject({ reasoning_content: thought });
      });
    }
});

describe("thoughts that nobody signed are of an unknown maker and go to every model", () => {
  const turns: Readonly<Record<string, JsonObject>> = {
    "/chat/completions": {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello", reasoning_content: thought },
        { role: "user", content: "And?" },
      ],
    },
    "/responses": {
      input: [
        { role: "user", content: "Hi" },
        { type: "reasoning", summary: [{ type: "summary_text", text: thought }] },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "And?" },
      ],
    },
    "/messages": {
      max_tokens: 64,
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: thought, signature: "" },
            { type: "text", text: "Hello" },
          ],
        },
        { role: "user", content: "And?" },
      ],
    },
  };
  for (const [path, body] of Object.entries(turns))
    test(path, async () => {
      gateway.upstream.replyOnce(chatSays());
      const reply = await gateway.call(path, { model: "deepseek", ...body });
      expect(reply.status).toBe(200);
      const sent = gateway.upstream.requests.at(-1)?.json as { messages: JsonObject[] };
      const answer = sent.messages.find(({ role }) => role === "assistant");
      expect(answer).toMatchObject({ reasoning_content: thought });
    });
});

test("OpenRouter gets its own entries from a message that has those of others besides", async () => {
  gateway.upstream.replyOnce(claudeSigns("whole"));
  const asked = { ...base, model: "claude", turns: [question] };
  const { echo } = await hear(chatDriver, "whole", asked);
  const foreign = isJsonObject(echo) ? echo["reasoning_details"] : undefined;
  expect(foreign).toHaveLength(2);
  const details = [...(foreign as Json[]), routedDetail];
  const extra = { google: { thought_signature: "Z29vZ2xl" } };
  const said = { role: "assistant", content: "Hello", reasoning_details: details };
  const messages = [
    { role: "user", content: "Hi" },
    { ...said, extra_content: extra },
    { role: "user", content: "And?" },
  ];
  gateway.upstream.replyOnce(chatSays());
  await gateway.call("/chat/completions", { model: "routed", messages });
  const sent = gateway.upstream.requests.at(-1)?.json as { messages: JsonObject[] };
  expect(sent.messages[1]).toEqual({
    role: "assistant",
    content: "Hello",
    reasoning_details: [routedDetail],
  });
});
