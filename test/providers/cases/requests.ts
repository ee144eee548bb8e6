import { describe, expect, test } from "bun:test";
import type { ChatCall, JsonObject } from "../../../src/call/chat.ts";
import {
  ask,
  callersWords,
  clockTool,
  expectBothResults,
  pixelPng as pixel,
  plainAnswer,
  plainCall,
  weatherTool,
} from "../calls.ts";
import { type Asked, operatorKey } from "../dialect.ts";
import { apiErrorOf } from "../failure-of.ts";
import { type Stage } from "../stage.ts";

export function requestCases(stage: Stage): void {
  describe("what the vendor is asked", () => {
    wordCases(stage);
    settingCases(stage);
    if (stage.dialect.can.stops === false) refusedStopCases(stage);
    else stopCases(stage);
    credentialCases(stage);
    if (stage.dialect.can.tools) toolCases(stage);
    if (stage.dialect.can.images) imageCases(stage);
    formCases(stage);
  });
}

/** How a call arrives: the same whether the answer is streamed or not. */
async function arrivalOf(stage: Stage, call: ChatCall): Promise<Asked> {
  const { dialect } = stage;
  const { can } = dialect;
  stage.answer(dialect.whole(plainAnswer(can)));
  const before = structuredClone(call);
  const frozen = deepFrozen(structuredClone(call));
  await stage.chat(frozen);
  stage.answer(dialect.streamed(plainAnswer(can)));
  await stage.hearStream(frozen);
  expect(frozen).toEqual(before);
  const [whole, streamed, ...more] = stage.calls.map((request) => dialect.asked(request));
  if (whole === undefined || streamed === undefined) throw new Error("a request is missing");
  expect(more).toEqual([]);
  expect([whole.streamed, streamed.streamed]).toEqual([false, true]);
  expect({ ...streamed, streamed: false }).toEqual(whole);
  return whole;
}

const asks = (stage: Stage, ...asked: Parameters<typeof ask>) => arrivalOf(stage, ask(...asked));

function deepFrozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(deepFrozen);
    Object.freeze(value);
  }
  return value;
}

function wordCases(stage: Stage): void {
  test("a question reaches the model that was named, word for word", async () => {
    const text = `Grüße an "${callersWords}" 👋\n\tund <mehr> & \\ \u2028`;
    const asked = await asks(stage, text);
    expect(asked.model).toBe(stage.dialect.model);
    expect(asked.pieces).toEqual([{ by: "user", text }]);
    expect(asked.system).toEqual([]);
    expect(asked.tools).toEqual([]);
  });

  test("a conversation of many turns keeps its speakers and its order", async () => {
    const asked = await asks(stage, [
      { role: "user", content: "One?" },
      { role: "assistant", content: "One." },
      { role: "user", content: "Two?" },
      { role: "assistant", content: "Two." },
      { role: "user", content: "Three?" },
    ]);
    expect(asked.pieces).toEqual([
      { by: "user", text: "One?" },
      { by: "assistant", text: "One." },
      { by: "user", text: "Two?" },
      { by: "assistant", text: "Two." },
      { by: "user", text: "Three?" },
    ]);
  });

  test("a message made of several texts keeps each of them", async () => {
    const content = [
      { type: "text", text: "First part." },
      { type: "text", text: "Second part." },
    ];
    const asked = await asks(stage, [{ role: "user", content }]);
    expect(asked.pieces).toEqual([
      { by: "user", text: "First part." },
      { by: "user", text: "Second part." },
    ]);
  });

  for (const role of ["system", "developer"])
    test(`what a ${role} message says is told as such, and not as the user's`, async () => {
      const asked = await asks(stage, [
        { role, content: "Answer in French." },
        { role: "user", content: "Hello?" },
      ]);
      expect(asked.system).toEqual(["Answer in French."]);
      expect(asked.pieces).toEqual([{ by: "user", text: "Hello?" }]);
    });

  test("several system messages are all told, in their order", async () => {
    const asked = await asks(stage, [
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      { role: "developer", content: "Be kind." },
      { role: "user", content: "Hello?" },
    ]);
    expect(asked.system.join("\n")).toBe("Be brief.\nBe kind.");
    expect(asked.pieces).toEqual([{ by: "user", text: "Hello?" }]);
  });
}

function settingCases(stage: Stage): void {
  test("the cap of the answer goes along", async () => {
    expect((await asks(stage, "Hello?", { cap: 123 })).cap).toBe(123);
  });

  for (const temperature of [0, 0.5])
    test(`a temperature of ${temperature} goes along`, async () => {
      const asked = await asks(stage, "Hello?", { temperature });
      expect(asked.temperature).toBe(temperature);
      expect(asked.topP).toBeUndefined();
    });

  test("top_p goes along", async () => {
    const asked = await asks(stage, "Hello?", { top_p: 0.25 });
    expect(asked.topP).toBe(0.25);
    expect(asked.temperature).toBeUndefined();
  });

  test("what was not asked for is not made up", async () => {
    const asked = await arrivalOf(stage, plainCall);
    expect(asked).toMatchObject({ tools: [] });
    expect([asked.temperature, asked.topP, asked.stop, asked.toolChoice]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(asked.answerForm).toBeUndefined();
  });
}

function stopCases(stage: Stage): void {
  for (const stop of ["END", ["END", "HALT"]] as const)
    test(`${typeof stop === "string" ? "one stop word goes" : "several stop words go"} along`, async () => {
      const asked = await asks(stage, "Hello?", { stop });
      expect(asked.stop).toEqual(typeof stop === "string" ? [stop] : stop);
    });
}

function refusedStopCases(stage: Stage): void {
  test("stop words are refused by their name, and the vendor is not asked", async () => {
    stage.answer(stage.dialect.whole(plainAnswer(stage.dialect.can)));
    await stage.chat(plainCall);
    const call = ask("Hello?", { stop: ["END"] });
    for (const form of ["chat", "hearStream"] as const) {
      const { code, param } = await apiErrorOf(stage[form](call));
      expect({ code, param }).toEqual({ code: "invalid_request", param: "stop" });
    }
    expect(stage.calls).toHaveLength(1);
  });
}

/** Those of HTTP, which any client sends. */
const httpHeaders = [
  "host",
  "connection",
  "content-type",
  "content-length",
  "accept",
  "accept-encoding",
  "user-agent",
];

function credentialCases(stage: Stage): void {
  test("the operator's key goes along, and no header that the vendor has no use for", async () => {
    await arrivalOf(stage, plainCall);
    const known = new Set([...httpHeaders, ...stage.dialect.headers]);
    for (const request of stage.calls) {
      expect(stage.dialect.credential(request)).toBe(operatorKey);
      expect(Object.keys(request.headers).filter((name) => !known.has(name))).toEqual([]);
      expect(request.headers["host"]).toBe(new URL(stage.origin).host);
      expect(request.path).not.toContain(operatorKey);
    }
    expect(stage.calls).toHaveLength(2);
  });
}

const askedWeather = {
  name: weatherTool.function.name,
  description: weatherTool.function.description,
  parameters: weatherTool.function.parameters,
};

function toolCases(stage: Stage): void {
  test("tools go along with their names, descriptions and parameters", async () => {
    const asked = await asks(stage, "Weather?", { tools: [weatherTool, clockTool] });
    const { name, description, parameters } = clockTool.function;
    expect(asked.tools).toEqual([askedWeather, { name, description, parameters }]);
  });

  const named = { type: "function", function: { name: "get_weather" } };
  for (const { choice, expected } of [
    { choice: "auto", expected: "auto" },
    { choice: "required", expected: "required" },
    { choice: named, expected: { name: "get_weather" } },
  ])
    test(`the choice of tools goes along: ${JSON.stringify(choice)}`, async () => {
      const tools = [weatherTool, clockTool];
      const asked = await asks(stage, "Weather?", { tools, tool_choice: choice });
      expect(asked.toolChoice).toEqual(expected as Asked["toolChoice"]);
    });

  test("a choice of no tool keeps the model from calling any", async () => {
    const call = ask("Weather?", { tools: [weatherTool], tool_choice: "none" });
    const { tools, toolChoice } = await arrivalOf(stage, call);
    expect(toolChoice === "none" || tools.length === 0).toBe(true);
  });

  resultCases(stage);
  plainResultCases(stage);
}

const call = (id: string, name: string, city: string): JsonObject => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify({ city }) },
});

function plainResultCases(stage: Stage): void {
  for (const options of [{}, { tools: [weatherTool], tool_choice: "none" }])
    test(`a tool's result reaches the model where no tool may be called: ${Object.keys(options).join() || "none named"}`, async () => {
      const messages = [
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [call("call_1", "get_weather", "Bern")],
        },
        { role: "tool", tool_call_id: "call_1", content: "7 degrees" },
      ];
      const asked = await asks(stage, messages, options);
      expect(JSON.stringify(asked.pieces)).toContain("Bern");
      expect(JSON.stringify(asked.pieces)).toContain("7 degrees");
    });
}

function resultCases(stage: Stage): void {
  test("a tool's result goes back beside the call that it answers", async () => {
    const messages = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, tool_calls: [call("call_1", "get_weather", "Bern")] },
      { role: "tool", tool_call_id: "call_1", content: "7 degrees" },
    ];
    const asked = await asks(stage, messages, { tools: [weatherTool] });
    expect(asked.pieces).toEqual([
      { by: "user", text: "Weather?" },
      { by: "assistant", call: { name: "get_weather", arguments: { city: "Bern" } } },
      { by: "tool", name: "get_weather", result: "7 degrees" },
    ]);
  });

  test("results of several tools go back to their own calls, also in another order", async () => {
    const calls = [call("call_1", "get_weather", "Bern"), call("call_2", "get_time", "Oslo")];
    const messages = [
      { role: "user", content: "Both?" },
      { role: "assistant", content: "I look.", tool_calls: calls },
      { role: "tool", tool_call_id: "call_2", content: "noon" },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "7 degrees" }] },
      { role: "assistant", content: "Seven, at noon." },
      { role: "user", content: "Thanks." },
    ];
    const asked = await asks(stage, messages, { tools: [weatherTool, clockTool] });
    expectBothResults(asked.pieces);
  });

  test("a call without arguments goes back as one with none", async () => {
    const empty = { id: "call_1", type: "function", function: { name: "get_time", arguments: "" } };
    const messages = [
      { role: "user", content: "Time?" },
      { role: "assistant", content: "", tool_calls: [empty] },
      { role: "tool", tool_call_id: "call_1", content: '{"hour":12}' },
    ];
    const asked = await asks(stage, messages, { tools: [clockTool] });
    const [, sent, result] = asked.pieces;
    expect(sent).toEqual({ by: "assistant", call: { name: "get_time", arguments: {} } });
    expect(result?.by === "tool" && JSON.parse(result.result)).toEqual({ hour: 12 });
  });
}

function imageCases(stage: Stage): void {
  test("an image goes along in its place between the words", async () => {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
      { type: "text", text: "Be brief." },
    ];
    const asked = await asks(stage, [{ role: "user", content }]);
    expect(asked.pieces).toEqual([
      { by: "user", text: "What is this?" },
      { by: "user", image: { mediaType: "image/png", base64: pixel } },
      { by: "user", text: "Be brief." },
    ]);
  });

  test("several images go along, of any message", async () => {
    const image = (mediaType: string) => ({
      type: "image_url",
      image_url: { url: `data:${mediaType};base64,${pixel}`, detail: "low" },
    });
    const asked = await asks(stage, [
      { role: "user", content: [image("image/png"), image("image/jpeg")] },
      { role: "assistant", content: "Two." },
      { role: "user", content: [image("image/webp"), { type: "text", text: "And now?" }] },
    ]);
    expect(asked.pieces).toEqual([
      { by: "user", image: { mediaType: "image/png", base64: pixel } },
      { by: "user", image: { mediaType: "image/jpeg", base64: pixel } },
      { by: "assistant", text: "Two." },
      { by: "user", image: { mediaType: "image/webp", base64: pixel } },
      { by: "user", text: "And now?" },
    ]);
  });
}

function formCases(stage: Stage): void {
  const schema = weatherTool.function.parameters;
  if (stage.dialect.can.schemas)
    test("a schema for the answer goes along", async () => {
      const json_schema = { name: "place", strict: true, schema };
      const response_format = { type: "json_schema", json_schema };
      const asked = await asks(stage, "Where?", { response_format });
      expect(asked.answerForm).toEqual({ schema });
    });
  if (stage.dialect.can.anyJson)
    test("a wish for JSON of any form goes along", async () => {
      const response_format = { type: "json_object" };
      const asked = await asks(stage, "Where? In JSON.", { response_format });
      expect(asked.answerForm).toBe("json");
    });
}
