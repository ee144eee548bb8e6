import { expect, test } from "bun:test";
import type { ChatPart, ChatStream } from "../../../call/chat.ts";
import { openChat } from "./open-chat.ts";

/** Says this, and then neither more nor its end. */
function openEnded(batches: readonly (readonly ChatPart[])[]) {
  const left = [...batches];
  const cancelled = Promise.withResolvers<string>();
  const stream: ChatStream = {
    read: async () => left.shift() ?? new Promise(() => {}),
    cancel: () => cancelled.resolve("cancelled"),
  };
  return { stream, cancelled: cancelled.promise };
}

test("a stream that is done before it has said a word has failed, and its end is not waited for", async () => {
  const usage = { inputTokens: 1, outputTokens: 0, estimated: false };
  for (const batches of [
    [[{ type: "done" }]],
    [[{ type: "usage", usage }, { type: "done" }]],
    [[{ type: "usage", usage }], [{ type: "done" }]],
  ] as const) {
    const { stream, cancelled } = openEnded(batches);
    await expect(openChat(stream, "vendor")).rejects.toThrow("The model failed to respond.");
    expect(await cancelled).toBe("cancelled");
  }
});

test("a stream that has said a word is opened, although no more has come", async () => {
  const { stream } = openEnded([[{ type: "text-delta", index: 0, text: "Hi" }]]);
  expect((await openChat(stream, "vendor")).first).toEqual([
    { type: "text-delta", index: 0, text: "Hi" },
  ]);
});
