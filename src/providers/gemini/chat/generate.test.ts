import { expect, test } from "bun:test";
import { geminiReply } from "../../../../test/fake/vendors/gemini-replies.ts";
import type { JsonObject } from "../../../call/chat.ts";
import { FetchReply } from "../../kit/reply.ts";
import { createGenerateCalls } from "./generate.ts";

async function bodyOf(options: JsonObject, hasCallIds?: boolean): Promise<JsonObject> {
  let sent = "";
  const { chat } = createGenerateCalls({
    name: "up",
    ...(hasCallIds === undefined ? {} : { hasCallIds }),
    async send({ body }) {
      sent = body;
      const reply = geminiReply({ parts: [{ text: "a" }], finishReason: "STOP" });
      return new FetchReply(Response.json(reply));
    },
  });
  const called = { id: "x", function: { name: "f", arguments: "{}" } };
  await chat({
    call: {
      messages: [
        { role: "assistant", content: null, tool_calls: [called] },
        { role: "tool", tool_call_id: "x", content: "1" },
      ],
      maxOutputTokens: undefined,
      options,
    },
    target: { model: "gemini-2.5-flash" },
    signal: new AbortController().signal,
    onAccepted: () => {},
  });
  return JSON.parse(sent) as JsonObject;
}

test("ids of calls go only to a service that is known to take them", async () => {
  expect(JSON.stringify(await bodyOf({}, true))).toContain('"id":"x"');
  expect(JSON.stringify(await bodyOf({}))).not.toContain('"id"');
});

test("a choice of tools without tools is left out: the vendor refuses it", async () => {
  for (const options of [{ tool_choice: "auto" }, { tool_choice: "none", tools: [] }]) {
    const body = await bodyOf(options);
    expect(Object.keys(body)).toEqual(["contents"]);
  }
});

test("a tool may do without a description and parameters", async () => {
  const tools = [
    { type: "function", function: { name: "f", description: null, parameters: null } },
  ];
  expect((await bodyOf({ tools }))["tools"]).toEqual([{ functionDeclarations: [{ name: "f" }] }]);
});
