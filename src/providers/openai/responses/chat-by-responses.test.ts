/** Which calls go to Responses, and what becomes of encrypted reasoning. */

import { describe, expect, test } from "bun:test";
import { ask } from "../../../../test/providers/calls.ts";
import type { VendorReply } from "../../../../test/providers/dialect.ts";
import { apiErrorOf } from "../../../../test/providers/failure-of.ts";
import {
  newModel,
  OpenAiScene,
  refusal,
  withTools,
} from "../../../../test/providers/openai-scene.ts";
import { isJsonObject, type JsonObject } from "../../../call/chat.ts";

const scene = new OpenAiScene();
const chats = "/chat/completions";
const responses = "/responses";

const noChats = refusal(404, {
  message: "This model is only supported in v1/responses and not in v1/chat/completions.",
  param: "model",
});
const unread = refusal(400, {
  message: "The encrypted content gAAA...DQ== could not be verified.",
  code: "invalid_encrypted_content",
});

describe("which calls go to Responses", () => {
  for (const form of ["chat", "hear"] as const)
    test(`${form}: a refusal of tools sends the same call there, and the next ones at once`, async () => {
      scene.serve();
      const extra = newModel();
      await scene.bridge[form](withTools(), extra);
      await scene.bridge[form](withTools(), extra);
      expect(scene.paths).toEqual([chats, responses, responses]);
    });

  test("calls without tools, and those that ask for no reasoning, stay chat completions", async () => {
    scene.serve();
    const extra = newModel();
    await scene.bridge.chat(withTools(), extra);
    scene.bridge.upstream.reset();
    scene.serve();
    await scene.bridge.chat(ask("Hello"), extra);
    await scene.bridge.chat(withTools({ reasoning_effort: "none" }), extra);
    await scene.bridge.chat(withTools({ thinking: { type: "disabled" } }), extra);
    expect(scene.paths).toEqual([chats, chats, chats]);
  });

  test("a model that has Responses only gets all calls there", async () => {
    scene.serve(({ path }) => (path.endsWith("completions") ? noChats : undefined));
    const extra = newModel();
    await scene.bridge.chat(ask("Hello"), extra);
    await scene.bridge.hear(ask("Hello"), extra);
    expect(scene.paths).toEqual([chats, responses, responses]);
  });

  test("nothing is learned of one model for another", async () => {
    scene.serve();
    await scene.bridge.chat(withTools(), newModel());
    await scene.bridge.chat(withTools(), newModel());
    expect(scene.paths).toEqual([chats, responses, chats, responses]);
  });

  test("another refusal is the caller's answer, and nothing is sent twice", async () => {
    scene.serve(() => refusal(400, { message: "Invalid 'temperature'.", param: "temperature" }));
    expect((await apiErrorOf(scene.bridge.chat(withTools(), newModel()))).code).toBe(
      "upstream_rejected",
    );
    expect(scene.paths).toEqual([chats]);
  });

  test("a server without Responses keeps its first refusal, and is asked as before", async () => {
    scene.serve(({ path }) => (path.endsWith("responses") ? refusal(404, {}) : undefined));
    const extra = newModel();
    for (let call = 0; call < 2; call++)
      expect((await apiErrorOf(scene.bridge.chat(withTools(), extra))).code).toBe(
        "upstream_rejected",
      );
    expect(scene.paths).toEqual([chats, responses, chats, responses]);
  });

  test("a cap below the vendor's least is refused by its name: more could cost more than is held", async () => {
    scene.serve();
    const call = { ...withTools(), maxOutputTokens: 15 };
    const { code, param } = await apiErrorOf(scene.bridge.chat(call, newModel()));
    expect({ code, param }).toEqual({ code: "invalid_request", param: "max_tokens" });
    expect(scene.paths).toEqual([chats]);
  });

  test("a call of a disconnected caller is not sent again", async () => {
    const leaving = new AbortController();
    const reason = new Error("left");
    scene.serve((_request, { tools }) => {
      if (tools !== undefined) leaving.abort(reason);
      return undefined;
    });
    const call = scene.bridge.chat(withTools(), { ...newModel(), signal: leaving.signal });
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect(scene.paths).toEqual([chats]);
  });
});

describe("encrypted reasoning", () => {
  const sealed = (at: number) => ({
    type: "reasoning",
    id: `rs_${at}`,
    summary: [{ type: "summary_text", text: `Thought ${at}.` }],
    encrypted_content: `gAAAA${at}`,
  });
  const called = (id: string) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name: "get_weather",
    arguments: "{}",
  });
  const said = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }],
  };
  const output = [sealed(0), said, sealed(1), called("a"), sealed(2), called("b")];
  const answer: VendorReply = {
    headers: { "content-type": "application/json" },
    packets: [JSON.stringify({ status: "completed", output, usage: null })],
  };
  const tools = [
    { role: "tool", tool_call_id: "a", content: "7" },
    { role: "tool", tool_call_id: "b", content: "8" },
  ];

  async function firstMessage(extra: { readonly model: string }): Promise<JsonObject> {
    scene.serve(({ path }) => (path.endsWith("responses") ? answer : undefined));
    const { choices } = await scene.bridge.chat(withTools(), extra);
    return choices[0]?.message ?? {};
  }
  const followUp = (message: JsonObject) => ({
    ...withTools(),
    messages: [{ role: "user", content: "Weather?" }, message, ...tools],
  });
  const kinds = ({ input }: JsonObject) =>
    (Array.isArray(input) ? input.filter(isJsonObject) : []).map(
      ({ type, call_id: id, encrypted_content: data }) => String(data ?? id ?? type),
    );

  test("comes back in front of what it led to", async () => {
    const extra = newModel();
    const message = await firstMessage(extra);
    expect(message).toMatchObject({
      content: "I look.",
      reasoning_content: "Thought 0.\n\nThought 1.\n\nThought 2.",
    });
    expect(JSON.stringify(message)).not.toContain("openai");
    await scene.bridge.chat(followUp(message), extra);
    const order = "message gAAAA0 message gAAAA1 a gAAAA2 b a b";
    expect(kinds(scene.bridge.asked).join(" ")).toBe(order);
  });

  test("of another server is left out", async () => {
    const extra = newModel();
    const message = await firstMessage(extra);
    const details = JSON.parse(JSON.stringify(message["reasoning_details"])) as JsonObject[];
    const foreign = details.map((detail) => ({ ...detail, format: "another1" }));
    await scene.bridge.chat(followUp({ ...message, reasoning_details: foreign }), extra);
    expect(kinds(scene.bridge.asked).join()).not.toContain("gAAAA");
  });

  for (const form of ["chat", "hear"] as const)
    test(`${form}: that the vendor cannot read is left out in a second request`, async () => {
      const extra = newModel();
      const message = await firstMessage(extra);
      scene.bridge.upstream.reset();
      scene.serve((_request, body) =>
        JSON.stringify(body).includes("gAAAA") ? unread : undefined,
      );
      await scene.bridge[form](followUp(message), extra);
      expect(scene.paths).toEqual([responses, responses]);
      expect(scene.bridge.asked["include"]).toEqual(["reasoning.encrypted_content"]);
    });

  test("a vendor that refuses it for good is asked twice and no more", async () => {
    const extra = newModel();
    const message = await firstMessage(extra);
    scene.bridge.upstream.reset();
    scene.serve(() => unread);
    const { code } = await apiErrorOf(scene.bridge.chat(followUp(message), extra));
    expect(code).toBe("upstream_rejected");
    expect(scene.paths).toEqual([responses, responses]);
  });

  test("summaries, and the wish for encryption, are left out from then on where they are refused", async () => {
    scene.serve((_request, { reasoning, include }) => {
      if (isJsonObject(reasoning) && reasoning["summary"] !== undefined)
        return refusal(400, {
          message: "Your organization must be verified to generate reasoning summaries.",
          param: "reasoning.summary",
          code: "unsupported_value",
        });
      return include === undefined
        ? undefined
        : refusal(400, {
            message: "Encrypted content is not supported with this model.",
            param: "include",
          });
    });
    const extra = newModel();
    for (let call = 0; call < 2; call++)
      await scene.bridge.chat(withTools({ reasoning: { effort: "low" } }), extra);
    const all = [chats, responses, responses, responses, responses];
    expect(scene.paths).toEqual(all);
    expect(scene.bridge.asked["reasoning"]).toEqual({ effort: "low" });
  });
});
