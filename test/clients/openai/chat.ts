import { expect } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { tinyPng } from "../chat-client.ts";
import { type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Say hello" }];

/** Chat answered in one piece. */
export function chatChecks(check: Check, stage: Stage): void {
  check("returns n choices", async () => {
    const choice = (index: number) => ({
      index,
      message: { role: "assistant", content: `answer ${index}` },
      finish_reason: "stop",
    });
    stage.gateway.upstream.replyWith(chatAnswers.plain({ choices: [choice(0), choice(1)] }));
    const client = stage.gateway.client();
    const { choices } = await client.chat.completions.create({ model, messages, n: 2 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, "answer 0"],
      [1, "answer 1"],
    ]);
    expect(sentUpstream(stage.gateway)["n"]).toBe(2);
  });

  check("returns the requested log probabilities", async () => {
    const content = [{ token: "Hi", logprob: -0.25, bytes: [72, 105], top_logprobs: [] }];
    const message = { role: "assistant", content: "Hi", refusal: null };
    stage.gateway.upstream.replyWith(
      chatAnswers.plain({
        choices: [
          { index: 0, message, logprobs: { content, refusal: null }, finish_reason: "stop" },
        ],
      }),
    );
    const { choices } = await stage.gateway
      .client()
      .chat.completions.create({ model, messages, logprobs: true, top_logprobs: 2 });
    expect(choices[0]?.logprobs?.content).toEqual(content);
    expect(sentUpstream(stage.gateway)).toMatchObject({ logprobs: true, top_logprobs: 2 });
  });

  conversationChecks(check, stage);
}

/** What the model gets of a conversation. */
function conversationChecks(check: Check, stage: Stage): void {
  check("forwards images in messages unchanged", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image_url" as const, image_url: { url: tinyPng, detail: "low" as const } },
      { type: "image_url" as const, image_url: { url: "https://example.com/cat.png" } },
    ];
    const asked = [{ role: "user" as const, content }];
    await stage.gateway.client().chat.completions.create({ model, messages: asked });
    expect(sentUpstream(stage.gateway)["messages"]).toEqual(asked);
  });

  check("forwards developer, assistant and tool messages unchanged", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const call = { id: "call_1", type: "function" as const };
    const asked = [
      { role: "developer" as const, content: "Be brief." },
      { role: "user" as const, content: [{ type: "text" as const, text: "Weather in Bern?" }] },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: [{ ...call, function: { name: "get_weather", arguments: '{"city":"Bern"}' } }],
      },
      { role: "tool" as const, tool_call_id: "call_1", content: "7 degrees" },
    ];
    await stage.gateway.client().chat.completions.create({ model, messages: asked });
    expect(sentUpstream(stage.gateway)["messages"]).toEqual(asked);
  });

  check(
    "accepts the newer name of the output cap, and fields that the gateway does not use",
    async () => {
      stage.gateway.upstream.replyWith(chatAnswers.plain());
      const { choices } = await stage.gateway.client().chat.completions.create({
        model,
        messages,
        max_completion_tokens: 17,
        store: false,
        metadata: { purpose: "test" },
        service_tier: "auto",
        seed: 7,
        stop: ["END"],
      });
      expect(choices[0]?.finish_reason).toBe("stop");
      const sent = sentUpstream(stage.gateway);
      expect([sent["max_tokens"], sent["max_completion_tokens"]]).toContain(17);
      expect(sent).toMatchObject({ seed: 7, stop: ["END"] });
    },
  );
}
