/** Documents, audio and images in results of tools: who gets them, and what is held for them. */

import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { chatAnswers } from "../../fake/recordings.ts";
import { geminiJson, geminiReply } from "../../fake/vendors/gemini-replies.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { nativeWhole } from "../../setup/messages-home.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  vendor: { kind: anthropic, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  google: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  reader: { endpoint: chat, price: { input: 3, output: 15 }, routes: [{ provider: vendor, model: claude-sonnet-4-5 }] }
  hearer: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: google, model: gemini-3-flash }] }
  other: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: plain, model: gpt-4o }] }
`,
});

const pdf: JsonObject = {
  type: "file",
  file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjcK" },
};
const audio: JsonObject = {
  type: "input_audio",
  input_audio: { data: "UklGRg==", format: "wav" },
};
const asking = (model: string, ...content: readonly JsonObject[]) => ({
  model,
  messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, ...content] }],
  max_tokens: 100,
});
const sent = () => gateway.upstream.requests.at(-1)?.json as JsonObject;
const anthropic = (input_tokens: number) =>
  nativeWhole({
    blocks: [{ type: "text", text: "A report." }],
    usage: { input_tokens, output_tokens: 5 },
  });

test("a small document may be many pages: all that the model can read is held, what it read is paid", async () => {
  gateway.upstream.replyWith(anthropic(150_000));
  const payer = await openPayer(gateway);
  expect((await payer.chat(asking("reader", pdf))).status).toBe(200);
  const { charged, cost } = await payer.receipt();
  expect([charged, cost]).toEqual([150_000n * 3_000n + 5n * 15_000n, charged]);
  const poor = await openPayer(gateway, { credit: 200_000n * 3_000n });
  expect(await refusalOf(poor.chat(asking("reader", pdf)))).toMatchObject({
    status: 402,
    code: "insufficient_quota",
  });
  expect(gateway.upstream.requests).toHaveLength(1);
});

test("a document that is text is held by its size", async () => {
  gateway.upstream.replyWith(anthropic(20));
  const text: JsonObject = { type: "file", file: { file_data: "data:text/plain;base64,SGk=" } };
  const payer = await openPayer(gateway, { credit: 5_000_000n });
  expect((await payer.chat(asking("reader", text))).status).toBe(200);
});

test("Gemini hears, and reads documents", async () => {
  gateway.upstream.replyWith(
    geminiJson(
      geminiReply({
        parts: [{ text: "A song." }],
        finishReason: "STOP",
        usage: { promptTokenCount: 70, candidatesTokenCount: 3, totalTokenCount: 73 },
      }),
    ),
  );
  expect((await gateway.call("/chat/completions", asking("hearer", audio, pdf))).status).toBe(200);
  expect(sent()["contents"]).toEqual([
    {
      role: "user",
      parts: [
        { text: "What is it?" },
        { inlineData: { mimeType: "audio/wav", data: "UklGRg==" } },
        { inlineData: { mimeType: "application/pdf", data: "JVBERi0xLjcK" } },
      ],
    },
  ]);
});

test("compatible servers get parts as they are", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  const body = asking("other", pdf, audio);
  expect((await gateway.call("/chat/completions", body)).status).toBe(200);
  expect(sent()["messages"]).toEqual(body.messages);
});

test("what cannot be taken is refused by its field, before anybody is asked", async () => {
  const content = "messages[0].content[1]";
  for (const [model, part, param] of [
    ["reader", audio, `${content}.input_audio`],
    ["other", { type: "file", file: { file_id: "file-1" } }, `${content}.file.file_id`],
    [
      "other",
      { type: "file", file: { file_id: "file-1", file_data: "data:application/pdf;base64,JVBE" } },
      `${content}.file.file_id`,
    ],
    ["other", { type: "file", file: { file_data: "JVBE" } }, `${content}.file.file_data`],
    [
      "other",
      { type: "input_audio", input_audio: { data: "AA==", format: "ogg" } },
      `${content}.input_audio.format`,
    ],
  ] as const)
    expect(await refusalOf(gateway.call("/chat/completions", asking(model, part)))).toMatchObject({
      status: 400,
      param,
    });
  expect(gateway.upstream.requests).toEqual([]);
});
