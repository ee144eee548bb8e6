import { expect } from "bun:test";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { chatAnswers, chatStreams, TOOL_CALL } from "../../fake/recordings.ts";

import { type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Weather in Zürich?" }];
const place = z.object({ city: z.string(), unit: z.enum(["celsius", "fahrenheit"]) });
const name = "get_weather";
const description = "The weather of a city";

/** The schema that the upstream must have got, unchanged. */
const placeSchema = {
  type: "object",
  properties: { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
  required: ["city", "unit"],
  additionalProperties: false,
};

export function toolChecks(check: Check, stage: Stage): void {
  for (const stream of [false, true])
    check(`runs tools until the final reply${stream ? ", streamed" : ""}`, async () => {
      const { upstream } = stage.gateway;
      upstream.replyOnce(stream ? chatStreams.toolCall() : chatAnswers.toolCall());
      upstream.replyOnce(stream ? chatStreams.openai() : chatAnswers.plain());
      const asked: unknown[] = [];
      const tool = zodFunction({
        name,
        description,
        parameters: place,
        function: (place) => {
          asked.push(place);
          return "7 degrees";
        },
      });
      const { completions } = stage.gateway.client().chat;
      const body = { model, messages, tools: [tool] };
      const runner = stream
        ? completions.runTools({ ...body, stream })
        : completions.runTools(body);
      expect(await runner.finalContent()).toStartWith("Hello!");
      expect(asked).toEqual([{ city: "Zürich", unit: "celsius" }]);
      expect(sentUpstream(stage.gateway, 0)["tools"]).toMatchObject([
        { type: "function", function: { name, description, parameters: placeSchema } },
      ]);
      expect(sentUpstream(stage.gateway, 1)["messages"]).toMatchObject([
        ...messages,
        { role: "assistant", tool_calls: [TOOL_CALL] },
        { role: "tool", tool_call_id: TOOL_CALL.id, content: "7 degrees" },
      ]);
      expect(upstream.requests.length).toBe(2);
    });

  check("forwards tool_choice", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.toolCall());
    const tool = { type: "function" as const, function: { name, parameters: placeSchema } };
    for (const choice of [
      "auto",
      "none",
      "required",
      { type: "function", function: { name } },
    ] as const) {
      await stage.gateway.client().chat.completions.create({
        model,
        messages,
        tools: [tool],
        tool_choice: choice,
        parallel_tool_calls: false,
      });
      expect(sentUpstream(stage.gateway)).toMatchObject({
        tools: [tool],
        tool_choice: choice,
        parallel_tool_calls: false,
      });
    }
  });
}

/** Answers in a shape that the caller chose. */
export function structureChecks(check: Check, stage: Stage): void {
  const wanted = { city: "Bern", unit: "celsius" };
  const format = () => zodResponseFormat(place, "place");

  check("parses a reply that matches a zod schema", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain({ text: JSON.stringify(wanted) }));
    const { choices } = await stage.gateway
      .client()
      .chat.completions.parse({ model, messages, response_format: format() });
    expect(choices[0]?.message.parsed as object).toEqual(wanted);
    expect(sentUpstream(stage.gateway)["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "place", strict: true, schema: placeSchema },
    });
  });

  check("parses a streamed reply that matches a zod schema", async () => {
    const pieces = ['{"city":"Be', 'rn","unit":', '"celsius"}'];
    stage.gateway.upstream.replyWith(chatStreams.openai({ pieces }));
    const { choices } = await stage.gateway
      .client()
      .chat.completions.stream({ model, messages, response_format: format() })
      .finalChatCompletion();
    expect(choices[0]?.message.parsed as object).toEqual(wanted);
  });

  check("parses the arguments of zod tools", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.toolCall());
    const { choices } = await stage.gateway.client().chat.completions.parse({
      model,
      messages,
      tools: [zodFunction({ name, parameters: place })],
    });
    expect(choices[0]?.message.tool_calls as object[]).toMatchObject([
      { function: { parsed_arguments: { city: "Zürich", unit: "celsius" } } },
    ]);
    expect(sentUpstream(stage.gateway)["tools"]).toMatchObject([{ function: { strict: true } }]);
  });
}
