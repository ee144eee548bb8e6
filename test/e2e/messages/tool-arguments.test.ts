/** What models write as the arguments of a tool, in whole replies. */

import { expect, test } from "bun:test";
import { chatJson } from "../../fake/recordings.ts";
import { anthropicAt, ask, messagesManifest } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });

test("arguments that are not an object are kept as they are", async () => {
  const call = (id: string, text: string) => ({
    id,
    type: "function",
    function: { name: "look", arguments: text },
  });
  const broken = ['{"city":"Os', "[1]", '"Oslo"'];
  gateway.upstream.replyOnce(
    chatJson({
      message: {
        role: "assistant",
        content: null,
        tool_calls: [call("empty", ""), ...broken.map((text, at) => call(`call_${at}`, text))],
      },
      finishReason: "tool_calls",
    }),
  );
  const { content } = await anthropicAt(gateway).messages.create({
    model: "local",
    max_tokens: 100,
    messages: [ask],
    tools: [{ name: "look", input_schema: { type: "object" } }],
  });
  expect(content).toMatchObject([
    { id: "empty", input: {} },
    ...broken.map((text) => ({ type: "tool_use", input: { INVALID_JSON: text } })),
  ]);
});
