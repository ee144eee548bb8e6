import { expect, test } from "bun:test";
import { systemClock } from "../../../base/clock.ts";
import type { ChatPart, ChatStream } from "../../../call/chat.ts";
import { ChatEventWriter } from "../../../wire/v1/chat/events.ts";
import { ChatSource } from "./chat-source.ts";
import type { OpenedChat } from "./open-chat.ts";

const identity = { id: "chatcmpl-1", createdS: 1, clock: systemClock, model: "m", modelId: "m" };
const first: readonly ChatPart[] = [{ type: "text-delta", index: 0, text: "Hi" }];

function open() {
  const opening = Promise.withResolvers<OpenedChat>();
  const cancelled = Promise.withResolvers<string>();
  const parts: ChatStream = {
    read: async () => undefined,
    cancel: () => cancelled.resolve("cancelled"),
  };
  const source = new ChatSource({
    opening: opening.promise,
    writer: new ChatEventWriter(identity, { includeUsage: false, choices: 1 }),
    call: { isFinishing: false, isReadingOn: false, hear() {} },
    charge: { deliver: () => {}, settle: async () => {} },
    cap: undefined,
    count: async () => ({ inputTokens: 0, outputTokens: 0, estimated: true }),
  });
  source.startsSilent = true;
  return {
    source,
    speak: () => opening.resolve({ parts, first }),
    fail: () => opening.reject(new Error("no answer")),
    cancelled: cancelled.promise,
  };
}

test("a caller who leaves before the upstream has spoken frees it once it does", async () => {
  const { source, speak, cancelled } = open();
  await source.next();
  source.cancel();
  speak();
  expect(await cancelled).toBe("cancelled");
});

test("also when the next bytes are being waited for", async () => {
  const { source, speak, cancelled } = open();
  await source.next();
  const next = source.next();
  source.cancel();
  speak();
  expect(await cancelled).toBe("cancelled");
  await next;
});

test("and an upstream that never opens leaves nothing to free", async () => {
  const { source, fail } = open();
  await source.next();
  source.cancel();
  fail();
  await expect(source.next()).rejects.toThrow("no answer");
});
