/** What the suite asks and hears, in neutral words. */

import { expect } from "bun:test";
import type { ChatCall, Json, JsonObject } from "../../src/call/chat.ts";
import type { Usage } from "../../src/call/usage.ts";
import type { Abilities, Answer, AskedPiece, Counts, SaidCall } from "./dialect.ts";

/** Stands in every prompt: it must never be in an error, whoever reads that. */
export const callersWords = "words-that-only-the-caller-knows";

export function ask(
  messages: readonly JsonObject[] | string,
  { cap, ...options }: { readonly cap?: number } & JsonObject = {},
): ChatCall {
  return {
    messages: typeof messages === "string" ? [{ role: "user", content: messages }] : messages,
    maxOutputTokens: cap,
    options,
  };
}

export const plainCall = ask(`Say hello to ${callersWords}.`);

export const weatherTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
} as const satisfies Json;

export const clockTool = {
  type: "function",
  function: {
    name: "get_time",
    description: "The time of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
} as const satisfies Json;

export const weatherCall: SaidCall = {
  id: "call_w1",
  name: "get_weather",
  pieces: ['{"ci', 'ty":"Zü', 'rich","days":', "2}"],
};
export const clockCall: SaidCall = {
  id: "call_t2",
  name: "get_time",
  pieces: ['{"city":', '"Oslo"}'],
};

/** All that the vendor tells of; three of the counts differ from each other in every class. */
export function fullCounts(can: Abilities): Counts {
  return {
    input: 41,
    output: 17,
    ...(can.cachedTokens ? { cached: 11 } : {}),
    ...(can.writtenTokens ? { written: 7 } : {}),
    ...(can.reasoningTokens ? { reasoning: 5 } : {}),
  };
}

export function usageOf(counts: Counts): Usage {
  return {
    inputTokens: counts.input,
    outputTokens: counts.output,
    cachedInputTokens: counts.cached,
    cacheWriteTokens: counts.written,
    reasoningTokens: counts.reasoning,
    estimated: false,
  };
}

/** Two and four bytes a character, so that a cut may fall inside one. */
export function plainAnswer(can: Abilities): Answer {
  return {
    pieces: [{ text: "Grüße" }, { text: ", 👋 " }, { text: "you!" }],
    finish: "stop",
    usage: fullCounts(can),
  };
}

export const plainText = "Grüße, 👋 you!";

/** What a vendor is asked where two tools have answered, whatever order their results are in. */
export function expectBothResults(pieces: readonly AskedPiece[]): void {
  expect(pieces.filter(({ by }) => by !== "tool")).toEqual([
    { by: "user", text: "Both?" },
    { by: "assistant", text: "I look." },
    { by: "assistant", call: { name: "get_weather", arguments: { city: "Bern" } } },
    { by: "assistant", call: { name: "get_time", arguments: { city: "Oslo" } } },
    { by: "assistant", text: "Seven, at noon." },
    { by: "user", text: "Thanks." },
  ]);
  const results = pieces.flatMap((piece) => (piece.by === "tool" ? [piece] : []));
  expect(results.toSorted((one, other) => one.name.localeCompare(other.name))).toEqual([
    { by: "tool", name: "get_time", result: "noon" },
    { by: "tool", name: "get_weather", result: "7 degrees" },
  ]);
}

/** A picture of one pixel. */
export const pixelPng =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export function toolAnswer(can: Abilities, calls: readonly SaidCall[]): Answer {
  return { pieces: calls.map((call) => ({ call })), finish: "tool_calls", usage: fullCounts(can) };
}
