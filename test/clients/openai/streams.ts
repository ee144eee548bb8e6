import { expect } from "bun:test";
import { APIError } from "openai";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { CHAT_USAGE, chatStreams } from "../../fake/recordings.ts";
import { cutAfter } from "../../fake/script.ts";

import { failureOf, type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Say hello" }];
const stream = true;
const asked = { model, messages, stream, stream_options: { include_usage: true } } as const;

async function chunksOf(chunks: AsyncIterable<ChatCompletionChunk>) {
  const seen: ChatCompletionChunk[] = [];
  for await (const chunk of chunks) seen.push(chunk);
  return seen;
}

/** Everything of one field of the first choice, in order. */
const fieldOf = (chunks: readonly ChatCompletionChunk[], name: string) =>
  chunks
    .map(({ choices }) => (choices[0]?.delta as Record<string, unknown> | undefined)?.[name] ?? "")
    .join("");

/** Chat answered in events. */
export function streamChecks(check: Check, stage: Stage): void {
  check("streams without a usage event unless requested", async () => {
    stage.gateway.upstream.replyWith(chatStreams.openai());
    const client = stage.gateway.client();
    const chunks = await chunksOf(
      await client.chat.completions.create({ model, messages, stream }),
    );
    expect(fieldOf(chunks, "content")).toBe("Hello! How can I help?");
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  });

  check("streams multi-byte characters and two choices at once", async () => {
    const client = stage.gateway.client();
    stage.gateway.upstream.replyOnce(chatStreams.multiByte());
    const text = fieldOf(await chunksOf(await client.chat.completions.create(asked)), "content");
    expect(text).toBe("Grüße 你好，世界 👋🏽👩‍👩‍👧 €");
    stage.gateway.upstream.replyOnce(chatStreams.twoChoices());
    const { choices } = await client.chat.completions
      .stream({ model, messages, n: 2 })
      .finalChatCompletion();
    expect(choices.map(({ message, finish_reason: reason }) => [message.content, reason])).toEqual([
      ["Heads", "stop"],
      ["Tails", "length"],
    ]);
  });

  helperChecks(check, stage);
  breakChecks(check, stage);
}

/** The SDK's own collector of streams, which throws where a loop over the chunks forgives. */
function helperChecks(check: Check, stage: Stage): void {
  check("collects a stream with its helper: text, completion and usage", async () => {
    stage.gateway.upstream.replyWith(chatStreams.openai());
    const { model: _, ...body } = asked;
    const helper = stage.gateway.client().chat.completions.stream({ ...body, model });
    const pieces: string[] = [];
    helper.on("content", (piece) => pieces.push(piece));
    expect(await helper.finalContent()).toBe("Hello! How can I help?");
    expect(pieces).toEqual(["Hello", "!", " How can I help?"]);
    const completion = await helper.finalChatCompletion();
    expect(completion).toMatchObject({ object: "chat.completion", model });
    expect(completion.choices[0]?.message).toMatchObject({ role: "assistant", refusal: null });
    const { prompt_tokens, completion_tokens, total_tokens } = CHAT_USAGE;
    expect(await helper.totalUsage()).toMatchObject({
      prompt_tokens,
      completion_tokens,
      total_tokens,
    });
    expect(sentUpstream(stage.gateway)["stream"]).toBe(true);
  });

  check("reports the arguments of streamed tool calls as they arrive", async () => {
    stage.gateway.upstream.replyWith(chatStreams.toolCallRepeated());
    const helper = stage.gateway.client().chat.completions.stream({ model, messages });
    const grown: string[] = [];
    const done: unknown[] = [];
    helper.on("tool_calls.function.arguments.delta", (event) => grown.push(event.arguments));
    helper.on("tool_calls.function.arguments.done", (event) => done.push(event));
    await helper.done();
    expect(grown.filter((text) => text !== "")).toEqual([
      '{"city":',
      '{"city":"Zürich",',
      '{"city":"Zürich","unit":"celsius"}',
    ]);
    expect(done).toMatchObject([{ name: "get_weather", index: 0, arguments: grown.at(-1) }]);
  });
}

/** Streams that do not come to their end. */
function breakChecks(check: Check, stage: Stage): void {
  check("throws when a stream breaks, after everything sent before the break", async () => {
    const seen = Promise.withResolvers<void>();
    const cut = { recording: chatStreams.openai(), parts: 2, by: "reset", until: seen.promise };
    stage.gateway.upstream.replyWith(cutAfter({ ...cut, by: "reset" }));
    const chunks = await stage.gateway.client().chat.completions.create(asked);
    let text = "";
    const failure = await failureOf(
      (async () => {
        for await (const { choices } of chunks) {
          text += choices[0]?.delta.content ?? "";
          if (text !== "") seen.resolve();
        }
      })(),
    );
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ code: "upstream_error", type: "upstream_error" });
    expect(text).toBe("Hello");
  });
}
