/** What goes to Responses beyond the contract that all providers have in common. */

import { describe, expect, test } from "bun:test";
import { ask, weatherTool } from "../../../../test/providers/calls.ts";
import { apiErrorOf } from "../../../../test/providers/failure-of.ts";
import { newModel, OpenAiScene, withTools } from "../../../../test/providers/openai-scene.ts";
import type { ChatCall, JsonObject } from "../../../call/chat.ts";

const scene = new OpenAiScene();

describe("what goes there", () => {
  const bodyOf = async (call: ChatCall) => {
    scene.serve();
    await scene.bridge.chat(call, newModel());
    return scene.bridge.asked;
  };

  test("options have their counterparts, and nothing is stored", async () => {
    const body = await bodyOf(
      ask("Weather?", {
        cap: 500,
        tools: [weatherTool, { type: "function", function: { name: "now", strict: true } }],
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "now" } }] },
        },
        parallel_tool_calls: false,
        reasoning: { effort: "low" },
        verbosity: "low",
        response_format: { type: "json_object" },
        logprobs: true,
        top_logprobs: 3,
        user: "u1",
        prompt_cache_key: "k1",
        service_tier: "priority",
        metadata: { a: "b" },
        presence_penalty: 0,
      }),
    );
    const { name, description, parameters } = weatherTool.function;
    expect(body).toEqual({
      model: expect.any(String),
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "Weather?" }] },
      ],
      max_output_tokens: 500,
      tools: [
        { type: "function", name, description, parameters, strict: false },
        {
          type: "function",
          name: "now",
          parameters: { type: "object", properties: {} },
          strict: true,
        },
      ],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "now" }],
      },
      parallel_tool_calls: false,
      text: { format: { type: "json_object" }, verbosity: "low" },
      // The field asks to see the thoughts, too.
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      top_logprobs: 3,
      user: "u1",
      prompt_cache_key: "k1",
      store: false,
    });
  });

  for (const [name, value] of Object.entries({
    n: 2,
    stop: "END",
    seed: 7,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    logit_bias: { "5": 10 },
    top_k: 3,
  }))
    test(`${name} would change the answer and has no counterpart: it is refused by its name`, async () => {
      scene.serve();
      const { code, param } = await apiErrorOf(
        scene.bridge.chat(withTools({ [name]: value }), newModel()),
      );
      expect({ code, param }).toEqual({ code: "invalid_request", param: name });
      expect(scene.paths).toEqual(["/chat/completions"]);
    });

  test("images, files and failures in results of tools go along; audio is refused by its field", async () => {
    const url = "data:image/png;base64,AAAA";
    const file = { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" };
    const call = (content: JsonObject[]) => ({
      ...withTools(),
      messages: [
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: [{ type: "refusal", refusal: "No." }],
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "" } }],
        },
        { role: "tool", tool_call_id: "c1", is_error: true, content },
      ],
    });
    const parts = [
      { type: "text", text: "A chart:" },
      { type: "image_url", image_url: { url } },
      { type: "file", file },
    ];
    const { input } = await bodyOf(call(parts));
    expect(input).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Look." }] },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "Error:" },
          { type: "input_text", text: "A chart:" },
          { type: "input_image", image_url: url, detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: file.file_data },
        ],
      },
    ]);
    const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    const spoken = { ...withTools(), messages: [{ role: "user", content: [sound] }] };
    scene.serve();
    const extra = newModel();
    const { param } = await apiErrorOf(scene.bridge.chat(spoken, extra));
    await scene.bridge.chat(withTools(), extra);
    expect(param).toBe("messages[0].content[0].input_audio");
    const inside = { type: "image_url", image_url: { url: "http://169.254.169.254/a.png" } };
    const near = { ...withTools(), messages: [{ role: "user", content: [inside] }] };
    const refused = await apiErrorOf(scene.bridge.chat(near, extra));
    expect(refused.param).toBe("messages[0].content[0].image_url.url");
  });
});
