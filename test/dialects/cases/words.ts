/** What is said: the answers, how they end, what they used and what that costs. */

import { describe, expect, test } from "bun:test";
import { finishReasons } from "../../../src/call/chat.ts";
import {
  clockCall,
  clockTool,
  fullCounts,
  plainAnswer,
  plainText,
  toolAnswer,
  weatherCall,
  weatherTool,
} from "../../providers/calls.ts";
import type { Answer, Counts } from "../../providers/dialect.ts";
import { packetsUntil } from "../../providers/stage.ts";
import { forms, reply, type Stage } from "../stage.ts";
import { isScene, type Pair, prices } from "../vendors.ts";

export const tools = [weatherTool.function, clockTool.function];

export function answerCases(stage: Stage, pair: Pair): void {
  describe("what the caller hears", () => {
    paidCases(stage, pair);
    if (pair.driver.can.tools) parallelCases(stage, pair);
    if (!isScene(pair)) return;
    textCases(stage, pair);
    endCases(stage, pair);
    if (pair.driver.can.tools) toolCases(stage, pair);
    if (pair.driver.can.tools && pair.wire.can.mixedCalls) mixedCases(stage, pair);
    if (pair.driver.can.thinking) thoughtCases(stage, pair);
    if (pair.isNative && pair.driver.name !== "completions") nativeCases(stage, pair);
  });
}

/** The counts that both the vendor's format and the caller's have a place for. */
export function sharedCounts({ driver, wire }: Pair, counts: Counts): Counts {
  const { input, output, cached, written, reasoning } = counts;
  return {
    input,
    output,
    ...(driver.can.cachedTokens && wire.can.cachedTokens && cached !== undefined ? { cached } : {}),
    ...(driver.can.writtenTokens && wire.can.writtenTokens && written !== undefined
      ? { written }
      : {}),
    ...(driver.can.reasoningTokens && wire.can.reasoningTokens && reasoning !== undefined
      ? { reasoning }
      : {}),
  };
}

/** Nano-USD, by hand. */
export function costOf({ input, output, cached = 0, written = 0 }: Counts): bigint {
  return (
    BigInt(input - cached - written) * prices.input +
    BigInt(cached) * prices.cached +
    BigInt(written) * prices.written +
    BigInt(output) * prices.output
  );
}

function paidCases(stage: Stage, pair: Pair): void {
  const { driver, vendor, wire } = pair;
  for (const form of forms)
    test(`${form}: the text, the end, the usage, and a receipt of just that`, async () => {
      const caller = await stage.caller(pair);
      const counts = fullCounts(wire.can);
      stage.answer(pair, reply(pair, form, plainAnswer(wire.can)));
      const heard = await caller.hear({}, form);
      expect(heard).toMatchObject({
        text: plainText,
        reasoning: "",
        calls: [],
        finish: "stop",
        model: vendor.name,
      });
      expect(heard.id).toMatch(driver.idForm);
      expect(heard.usage).toMatchObject(sharedCounts(pair, counts));
      const { outcome, charged, cost, estimated } = await caller.payer.receipt();
      expect({ outcome, estimated }).toEqual({ outcome: "ok", estimated: false });
      expect([charged, cost]).toEqual([costOf(counts), costOf(counts)]);
    });
}

function textCases(stage: Stage, pair: Pair): void {
  const { wire } = pair;
  for (const form of forms) {
    test(`${form}: spaces and line ends are kept`, async () => {
      const texts = [" ", "\n\n", "  data: x\r\n", "\t", "\u2028", '\\"quoted\\"', "end "];
      const pieces = texts.map((text) => ({ text }));
      const answer: Answer = { pieces, finish: "stop", usage: fullCounts(wire.can) };
      const caller = await stage.caller(pair);
      stage.answer(pair, reply(pair, form, answer));
      expect((await caller.hear({}, form)).text).toBe(texts.join(""));
    });

    test(`${form}: an empty answer is a valid answer`, async () => {
      const answer: Answer = { pieces: [], finish: "stop", usage: { input: 41, output: 5 } };
      const caller = await stage.caller(pair);
      stage.answer(pair, reply(pair, form, answer));
      const heard = await caller.hear({}, form);
      expect(heard).toMatchObject({ text: "", calls: [], finish: "stop" });
    });
  }
}

function endCases(stage: Stage, pair: Pair): void {
  for (const form of forms)
    for (const finish of finishReasons)
      if (finish !== "tool_calls")
        test(`${form}: the finish reason is ${finish}`, async () => {
          const usage = fullCounts(pair.wire.can);
          const caller = await stage.caller(pair);
          stage.answer(pair, reply(pair, form, { pieces: [{ text: "Once" }], finish, usage }));
          expect(await caller.hear({}, form)).toMatchObject({ text: "Once", finish });
          expect((await caller.payer.receipt()).outcome).toBe("ok");
        });
}

const weather = { name: "get_weather", arguments: { city: "Zürich", days: 2 } };
const clock = { name: "get_time", arguments: { city: "Oslo" } };

function parallelCases(stage: Stage, pair: Pair): void {
  const { can } = pair.wire;
  for (const form of forms)
    test(`${form}: parallel tool calls stay separate, each with its own id`, async () => {
      const again = { ...weatherCall, id: "call_w3", pieces: ['{"city":"Bern","days":1}'] };
      const caller = await stage.caller(pair);
      stage.answer(pair, reply(pair, form, toolAnswer(can, [weatherCall, clockCall, again])));
      const heard = await caller.hear({ tools }, form);
      const third = { name: "get_weather", arguments: { city: "Bern", days: 1 } };
      expect(heard).toMatchObject({ calls: [weather, clock, third], finish: "tool_calls" });
      expect(new Set(heard.calls.map(({ id }) => id)).size).toBe(3);
    });
}

function toolCases(stage: Stage, pair: Pair): void {
  const { can } = pair.wire;
  for (const form of forms) {
    test(`${form}: a tool call after text has its name, its arguments and an id`, async () => {
      const pieces = [{ text: "I look." }, { call: weatherCall }];
      const caller = await stage.caller(pair);
      const answer: Answer = { pieces, finish: "tool_calls", usage: fullCounts(can) };
      stage.answer(pair, reply(pair, form, answer));
      const heard = await caller.hear({ tools }, form);
      expect(heard).toMatchObject({ text: "I look.", calls: [weather], finish: "tool_calls" });
      expect(heard.calls[0]?.id).not.toBe("");
    });

    test(`${form}: a call without arguments has arguments that parse`, async () => {
      const call = { id: "call_n", name: "get_time", pieces: ["{}"] };
      const caller = await stage.caller(pair);
      stage.answer(pair, reply(pair, form, toolAnswer(can, [call])));
      const { calls } = await caller.hear({ tools }, form);
      expect(calls).toMatchObject([{ name: "get_time", arguments: {} }]);
    });
  }
}

/** Some servers send line breaks, or go on thinking, while a call is not complete. */
function mixedCases(stage: Stage, pair: Pair): void {
  test("text and reasoning between the pieces of a call leave its arguments intact", async () => {
    const between = [{ text: "\n" }, { reasoning: "Rain?" }, { text: "I look." }];
    const call = { ...weatherCall, between };
    const pieces = [{ reasoning: "Hm. " }, { text: "Let me see." }, { call }, { call: clockCall }];
    const caller = await stage.caller(pair);
    const answer: Answer = { pieces, finish: "tool_calls", usage: fullCounts(pair.wire.can) };
    stage.answer(pair, reply(pair, "streamed", answer));
    const heard = await caller.hear({ tools, thinks: true, cap: 4_096 }, "streamed");
    expect(heard).toMatchObject({
      text: "Let me see.\nI look.",
      reasoning: "Hm. Rain?",
      calls: [
        { name: "get_weather", arguments: { city: "Zürich", days: 2 } },
        { name: "get_time", arguments: { city: "Oslo" } },
      ],
      finish: "tool_calls",
    });
  });
}

function thoughtCases(stage: Stage, pair: Pair): void {
  if (!pair.wire.can.reasoning) return;
  for (const form of forms)
    test(`${form}: reasoning is separate from the answer`, async () => {
      const caller = await stage.caller(pair);
      const pieces = [{ reasoning: "Six times " }, { reasoning: "seven." }, { text: "42" }];
      const usage = fullCounts(pair.wire.can);
      stage.answer(pair, reply(pair, form, { pieces, finish: "stop", usage }));
      const heard = await caller.hear({ thinks: true, cap: 4_096 }, form);
      expect(heard).toMatchObject({ text: "42", reasoning: "Six times seven.", finish: "stop" });
    });
}

/** What needs no change is not rebuilt: fields that are not known here reach the caller. */
function nativeCases(stage: Stage, pair: Pair): void {
  test("an event that needs no change goes through as the vendor wrote it", async () => {
    const said = pair.wire.streamed(plainAnswer(pair.wire.can));
    const event = String(said.packets[packetsUntil(said, "Grüße") - 1]).replace(
      '"type"',
      '"field_of_tomorrow":{"a":[1, 2]},"type"',
    );
    // The line that names the event stands before its data.
    const data = event.slice(event.indexOf("data: "));
    expect(data).toContain("field_of_tomorrow");
    stage.answer(pair, {
      ...said,
      packets: said.packets.map((packet) =>
        String(packet).includes("Grüße") && !String(packet).includes("you!") ? event : packet,
      ),
    });
    const caller = await stage.caller(pair);
    const response = await caller.send({}, "streamed");
    expect(await response.text()).toContain(data);
  });
}
