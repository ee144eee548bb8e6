import { expect, test } from "bun:test";
import { type Bridge, expectRefused, useBridge } from "../../../../test/providers/bridge.ts";
import type { JsonObject } from "../../../call/chat.ts";

const anthropic = useBridge({ kind: "anthropic" });
const bedrock = useBridge({ kind: "bedrock" });

const pdf = "JVBERi0xLjcK";
const text = Buffer.from("plain words").toString("base64");
const file = (type: string, data: string): JsonObject => ({
  type: "file",
  file: { filename: "report.pdf", file_data: `data:${type};base64,${data}` },
});
const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const audio = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
const question = { type: "text", text: "What is it?" };
const look = { type: "function", function: { name: "look", parameters: { type: "object" } } };

const asking = (...content: JsonObject[]) => ({
  messages: [{ role: "user", content: [question, ...content] }],
  maxOutputTokens: 100,
  options: {},
});
const resulting = (content: readonly JsonObject[], options: JsonObject = { tools: [look] }) => ({
  messages: [
    { role: "user", content: "Look!" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_1", content },
  ],
  maxOutputTokens: 100,
  options,
});
const lastOf = ({ asked }: Bridge) => (asked["messages"] as JsonObject[]).at(-1)?.["content"];

test("Anthropic gets documents as such", async () => {
  await anthropic.chat(asking(file("application/pdf", pdf), file("text/plain", text)));
  expect(lastOf(anthropic)).toMatchObject([
    { type: "text" },
    {
      type: "document",
      title: "report.pdf",
      source: { type: "base64", media_type: "application/pdf", data: pdf },
    },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "plain words" } },
  ]);
});

test("Anthropic gets images and documents in the result of a tool", async () => {
  await anthropic.chat(resulting([question, image, file("application/pdf", pdf)]));
  expect(lastOf(anthropic)).toMatchObject([
    {
      type: "tool_result",
      tool_use_id: "call_1",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", source: { type: "base64", media_type: "image/png" } },
        { type: "document", source: { type: "base64", data: pdf } },
      ],
    },
  ]);
});

test("Bedrock gets documents, and images in the result of a tool", async () => {
  await bedrock.chat(asking(file("text/csv", text)));
  expect(lastOf(bedrock)).toEqual([
    { text: "What is it?" },
    { document: { format: "csv", name: "report", source: { bytes: text } } },
  ]);
  await bedrock.chat(resulting([question, image]));
  expect(lastOf(bedrock)).toMatchObject([
    { toolResult: { content: [{ text: "What is it?" }, { image: { format: "png" } }] } },
  ]);
});

test("an image in the result of a tool reaches Bedrock where no tool may be called, too", async () => {
  await bedrock.chat(resulting([question, image], {}));
  expect(lastOf(bedrock)).toMatchObject([
    { text: "Result of the tool call call_1:\nWhat is it?" },
    { image: { format: "png" } },
  ]);
});

test("what a vendor cannot take is refused by its field", async () => {
  for (const bridge of [anthropic, bedrock]) {
    await expectRefused(bridge, asking(audio), "messages[0].content[1].input_audio");
    const zip = asking(file("application/zip", pdf));
    await expectRefused(bridge, zip, "messages[0].content[1].file.file_data");
  }
});
