import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../base/clock.ts";
import type { JsonObject } from "../../../call/chat.ts";
import { ChatEventWriter } from "./events.ts";

const identity = { id: "chatcmpl-1", createdS: 1, clock: systemClock, model: "m", modelId: "m" };
const usage = { inputTokens: 1, outputTokens: 1, estimated: false };
const citations = ["https://example.org/a"];

const open = (includeUsage: boolean, choices = 1) =>
  new ChatEventWriter(identity, { includeUsage, choices });

const eventsOf = (text: string): readonly JsonObject[] =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice("data: ".length)));

describe("what an upstream says of the whole reply", () => {
  for (const includeUsage of [true, false])
    test(`words are in every event, lists in the last one with a choice; usage: ${includeUsage}`, () => {
      const writer = open(includeUsage, 2);
      writer.extras = { system_fingerprint: "fp_1" };
      let text = writer.write({ type: "text-delta", index: 0, text: "a" });
      writer.extras = { system_fingerprint: "fp_1", service_tier: "default", citations };
      text += writer.write({ type: "finish", index: 0, reason: "stop" });
      text += writer.write({ type: "text-delta", index: 1, text: "b" });
      text += writer.write({ type: "finish", index: 1, reason: "stop" });
      const events = eventsOf(text + writer.end(usage));
      expect(events.map((event) => event["system_fingerprint"])).toEqual(events.map(() => "fp_1"));
      expect(events.map((event) => event["service_tier"]).slice(1)).toEqual(
        events.slice(1).map(() => "default"),
      );
      const withSources = events.filter((event) => event["citations"] !== undefined);
      expect(withSources).toMatchObject([
        { citations, choices: [{ index: 1, finish_reason: "stop" }] },
      ]);
      expect(events.filter(({ usage: told }) => told !== undefined && told !== null).length).toBe(
        includeUsage ? 1 : 0,
      );
    });

  test("nothing leaves the events as they are", () => {
    const writer = open(false);
    writer.extras = undefined;
    const text = writer.write({ type: "text-delta", index: 0, text: "a" });
    expect(Object.keys(eventsOf(text)[0] ?? {})).toEqual([
      "id",
      "object",
      "created",
      "model",
      "choices",
    ]);
  });
});

describe("a piece without content", () => {
  const empty = { type: "delta", index: 0, delta: { content: null }, logprobs: null } as const;

  test("begins an answer with null, as the upstream did", () => {
    expect(eventsOf(open(false).write(empty))).toMatchObject([
      { choices: [{ delta: { role: "assistant", content: null } }] },
    ]);
  });

  test("is no event once the answer has begun, unless it has probabilities", () => {
    const writer = open(false);
    writer.write(empty);
    expect(writer.write(empty)).toBe("");
    expect(eventsOf(writer.write({ ...empty, logprobs: { content: [] } })).length).toBe(1);
  });
});
