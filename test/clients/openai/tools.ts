import { expect } from "bun:test";
import { zodFunction } from "openai/helpers/zod";
import { chatAnswers } from "../../fake/recordings.ts";

import { type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";
import { place, placeSchema } from "./client.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Weather in Zürich?" }];
const name = "get_weather";

export function toolChecks(check: Check, stage: Stage): void {
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
    expect(sentUpstream(stage.gateway)["tools"]).toMatchObject([
      { function: { strict: true, parameters: placeSchema } },
    ]);
  });
}
