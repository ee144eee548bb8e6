/** What the vendor is asked: the same, in whichever dialect the caller asks. */

import { describe, expect, test } from "bun:test";
import { expectBothResults, pixelPng, plainAnswer, weatherTool } from "../../providers/calls.ts";
import { type Asked, operatorKey } from "../../providers/dialect.ts";
import type { CalledTool, Picture } from "../driver.ts";
import { type Ask, forms, reply, type Stage } from "../stage.ts";
import { isScene, type Pair, upstreamModel } from "../vendors.ts";
import { tools } from "./words.ts";

const pixel: Picture = { mediaType: "image/png", base64: pixelPng };

export function questionCases(stage: Stage, pair: Pair): void {
  describe("what the vendor is asked", () => {
    const ask = (question: Ask) => arrivalOf(stage, pair, question);
    if (pair.driver.can.tools) resultCases(ask);
    if (pair.driver.can.images && pair.wire.can.images) imageCases(stage, pair, ask);
    if (!isScene(pair)) return;
    wordCases(pair, ask);
    settingCases(pair, ask);
    if (pair.driver.can.tools) toolCases(ask);
  });
}

type Arrival = (question: Ask) => Promise<Asked>;

/** The same whether the answer is streamed or not. */
async function arrivalOf(stage: Stage, pair: Pair, question: Ask): Promise<Asked> {
  const caller = await stage.caller(pair);
  const asked: Asked[] = [];
  for (const form of forms) {
    stage.answer(pair, reply(pair, form, plainAnswer(pair.wire.can)));
    await caller.hear(question, form);
    asked.push(caller.asked());
  }
  const [whole, streamed] = asked;
  if (whole === undefined || streamed === undefined) throw new Error("a request is missing");
  expect([whole.streamed, streamed.streamed]).toEqual([false, true]);
  expect({ ...streamed, streamed: false }).toEqual(whole);
  expect(stage.calls.map(({ body }) => body).join("")).not.toContain(operatorKey);
  return whole;
}

function wordCases({ driver, vendor }: Pair, ask: Arrival): void {
  test("a question reaches the requested model word for word", async () => {
    const text = 'Grüße an "alle" 👋\n\tund <mehr> & \\ \u2028';
    const asked = await ask({ turns: [{ by: "user", content: [text] }] });
    expect(asked.model).toBe(upstreamModel(vendor));
    expect(asked.pieces).toEqual([{ by: "user", text }]);
    expect([asked.system, asked.tools, asked.answerForm]).toEqual([[], [], undefined]);
    expect([asked.temperature, asked.topP, asked.stop]).toEqual([undefined, undefined, undefined]);
  });

  if (!driver.can.turns) return;
  test("a conversation keeps its instructions, its speakers and its order", async () => {
    const asked = await ask({
      system: "Answer in French.",
      turns: [
        { by: "user", content: ["One?"] },
        { by: "assistant", text: "One." },
        { by: "user", content: ["Two?", "Or three?"] },
      ],
    });
    expect(asked.system).toEqual(["Answer in French."]);
    expect(asked.pieces).toEqual([
      { by: "user", text: "One?" },
      { by: "assistant", text: "One." },
      { by: "user", text: "Two?" },
      { by: "user", text: "Or three?" },
    ]);
  });
}

function settingCases({ driver, wire }: Pair, ask: Arrival): void {
  test("the output cap and the sampling options are forwarded", async () => {
    const asked = await ask({ cap: 123, temperature: 0.5 });
    expect([asked.cap, asked.temperature, asked.topP]).toEqual([123, 0.5, undefined]);
    const other = await ask({ cap: 77, topP: 0.25 });
    expect([other.cap, other.temperature, other.topP]).toEqual([77, undefined, 0.25]);
  });

  if (driver.can.stop && wire.can.stops !== false)
    test("stop sequences are forwarded", async () => {
      expect((await ask({ stop: ["END", "HALT"] })).stop).toEqual(["END", "HALT"]);
    });

  if (driver.can.schemas && wire.can.schemas)
    test("a schema for the answer is forwarded", async () => {
      const schema = weatherTool.function.parameters;
      expect((await ask({ schema })).answerForm).toEqual({ schema });
    });
}

const call = (id: string, name: string, city: string): CalledTool => ({
  id,
  name,
  arguments: JSON.stringify({ city }),
});

function toolCases(ask: Arrival): void {
  test("tools are forwarded with their names, descriptions and parameters", async () => {
    expect((await ask({ tools })).tools).toEqual(tools);
  });

  for (const toolChoice of ["auto", "required", { name: "get_weather" }] as const)
    test(`the tool choice is forwarded: ${JSON.stringify(toolChoice)}`, async () => {
      expect((await ask({ tools, toolChoice })).toolChoice).toEqual(toolChoice);
    });

  test('the tool choice "none" keeps the model from calling tools', async () => {
    const { tools: sent, toolChoice } = await ask({ tools, toolChoice: "none" });
    expect(toolChoice === "none" || sent.length === 0).toBe(true);
  });
}

function resultCases(ask: Arrival): void {
  test("results of several tools go back to their own calls", async () => {
    const asked = await ask({
      tools,
      turns: [
        { by: "user", content: ["Both?"] },
        {
          by: "assistant",
          text: "I look.",
          calls: [call("call_1", "get_weather", "Bern"), call("call_2", "get_time", "Oslo")],
        },
        { by: "tool", id: "call_2", content: ["noon"] },
        { by: "tool", id: "call_1", content: ["7 degrees"] },
        { by: "assistant", text: "Seven, at noon." },
        { by: "user", content: ["Thanks."] },
      ],
    });
    expectBothResults(asked.pieces);
  });
}

function imageCases(stage: Stage, pair: Pair, ask: Arrival): void {
  test("an image is forwarded in its place in the text", async () => {
    const asked = await ask({
      turns: [{ by: "user", content: ["What is this?", pixel, "Be brief."] }],
    });
    expect(asked.pieces).toEqual([
      { by: "user", text: "What is this?" },
      { by: "user", image: pixel },
      { by: "user", text: "Be brief." },
    ]);
  });

  // In chat completions the result of a tool is text alone.
  if (pair.driver.name === "chat") return;
  test("an image in a tool result reaches the vendor", async () => {
    await ask({
      tools,
      turns: [
        { by: "user", content: ["Weather?"] },
        { by: "assistant", calls: [call("call_1", "get_weather", "Bern")] },
        { by: "tool", id: "call_1", content: ["A chart:", pixel] },
      ],
    });
    const [request] = stage.calls;
    expect(request?.body).toContain(pixel.base64);
    expect(request?.body).toContain("A chart:");
  });
}
