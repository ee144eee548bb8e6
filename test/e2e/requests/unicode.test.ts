/** Half of a surrogate pair is no text: it is refused with its field, and never reaches an upstream. */

import { afterEach, describe, expect, test } from "bun:test";
import { chatAnswers, embeddingsReply } from "../../fake/recordings.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const half = "a\ud800b";
const user = { role: "user", content: "hi" };
const tool = (fields: object) => ({ type: "function", function: { name: "f", ...fields } });
const call = { id: "c", type: "function", function: { name: "f", arguments: half } };

describe("half of a surrogate pair is 400, and its field is named:", () => {
  afterEach(() => expect(gateway.upstream.requests).toEqual([]));

  const chats: readonly (readonly [object, string])[] = [
    [{ messages: [{ role: "user", content: half }] }, "messages[0].content"],
    [{ messages: [user, { role: "user", content: "\udc00" }] }, "messages[1].content"],
    [
      { messages: [{ role: "user", content: [{ type: "text", text: half }] }] },
      "messages[0].content[0].text",
    ],
    [{ messages: [{ ...user, name: half }] }, "messages[0].name"],
    [
      { messages: [user, { role: "assistant", content: null, tool_calls: [call] }] },
      "messages[1].tool_calls[0].function.arguments",
    ],
    [{ messages: [user], tools: [tool({ description: half })] }, "tools[0].function.description"],
    [
      { messages: [user], tools: [tool({ parameters: { properties: { [half]: {} } } })] },
      "tools[0].function.parameters.properties",
    ],
    [{ messages: [user], stop: ["x", half] }, "stop[1]"],
    [{ messages: [user], user: half }, "user"],
  ];
  for (const [body, param] of chats)
    test(`chat: ${param}`, async () => {
      const refused = gateway.call("/chat/completions", { model: "svc-3-flash", ...body });
      const told = { status: 400, code: "invalid_request", param };
      await expectRefusal(refused, told);
    });

  for (const [input, param] of [
    [half, "input"],
    [["fine", half], "input[1]"],
  ] as const)
    test(`embeddings: ${param}`, async () => {
      const refused = gateway.call("/embeddings", { model: "svc-embedding-2", input });
      await expectRefusal(refused, { status: 400, param });
    });

  test("speech: input", async () => {
    const body = { model: "svc-2.5-flash-tts", input: half, voice: "Kore" };
    const refused = gateway.call("/audio/speech", body);
    await expectRefusal(refused, { status: 400, param: "input" });
  });
});

test("whole pairs, and text that spells an escape, go on as they are", async () => {
  const content = "😀 𝒳 \\ud800";
  gateway.upstream.replyOnce(chatAnswers.plain());
  const body = { model: "svc-3-flash", messages: [{ role: "user", content }] };
  expect((await gateway.call("/chat/completions", body)).status).toBe(200);
  expect(gateway.upstream.requests[0]?.json).toMatchObject({ messages: [{ content }] });
  gateway.upstream.replyOnce(embeddingsReply());
  const input = [content, "b", "c"];
  const vectors = await gateway.call("/embeddings", { model: "svc-embedding-2", input });
  expect(vectors.status).toBe(200);
});
