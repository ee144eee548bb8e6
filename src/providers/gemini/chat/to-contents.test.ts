import { expect, test } from "bun:test";
import { apiErrorIn } from "../../../../test/providers/failure-of.ts";
import type { JsonObject } from "../../../call/chat.ts";
import { toContents } from "./to-contents.ts";

const translate = (
  messages: readonly JsonObject[],
  model = "gemini-2.5-flash",
  hasCallIds = true,
) => toContents(messages, { model, hasCallIds });

const refusalOf = (messages: readonly JsonObject[]) => apiErrorIn(() => translate(messages));

const call = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: "function",
  function: { name: `tool_${id}`, arguments: '{"a":1}' },
  ...more,
});
const signed = (signature: string) => ({
  extra_content: { google: { thought_signature: signature } },
});

test("turns of one role that follow each other become one", () => {
  const { contents, systemInstruction } = translate([
    { role: "user", content: "a" },
    { role: "user", content: [{ type: "text", text: "b" }] },
    { role: "assistant", content: "c" },
    { role: "assistant", content: "d" },
    { role: "user", content: "e" },
  ]);
  expect(systemInstruction).toBeUndefined();
  expect(contents).toEqual([
    { role: "user", parts: [{ text: "a" }, { text: "b" }] },
    { role: "model", parts: [{ text: "c" }, { text: "d" }] },
    { role: "user", parts: [{ text: "e" }] },
  ]);
});

test("results of parallel calls make one turn, and the user's words behind them another", () => {
  const { contents } = translate([
    { role: "assistant", content: null, tool_calls: [call("x"), call("y")] },
    { role: "tool", tool_call_id: "y", content: '{"b":[2]}' },
    { role: "tool", tool_call_id: "x", content: "[1,2]" },
    { role: "user", content: "and?" },
  ]);
  expect(contents.slice(1)).toEqual([
    {
      role: "user",
      parts: [
        { functionResponse: { id: "y", name: "tool_y", response: { b: [2] } } },
        { functionResponse: { id: "x", name: "tool_x", response: { result: "[1,2]" } } },
      ],
    },
    { role: "user", parts: [{ text: "and?" }] },
  ]);
});

test("signatures of thoughts go back on the call and on the text that they came with", () => {
  const { contents } = translate(
    [
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: "t",
        ...signed("s1"),
        tool_calls: [call("x", signed("s2")), call("y")],
      },
    ],
    "gemini-3-flash",
  );
  expect(contents[1]?.parts).toEqual([
    { text: "t", thoughtSignature: "s1" },
    { functionCall: { id: "x", name: "tool_x", args: { a: 1 } }, thoughtSignature: "s2" },
    { functionCall: { id: "y", name: "tool_y", args: { a: 1 } } },
  ]);
});

test("calls of another model get the vendor's word for an unknown signature, where one is wanted", () => {
  const messages = [{ role: "assistant", content: null, tool_calls: [call("x"), call("y")] }];
  const signatures = (model: string) =>
    translate(messages, model).contents[0]?.parts.map(({ thoughtSignature }) => thoughtSignature);
  for (const model of ["gemini-3-flash", "models/gemini-3.1-pro-preview", "gemini-flash-latest"])
    expect(signatures(model)).toEqual(["skip_thought_signature_validator", undefined]);
  for (const model of ["gemini-2.5-pro", "models/gemini-2.0-flash", "gemma-3-27b-it"])
    expect(signatures(model)).toEqual([undefined, undefined]);
});

test("a signature without words goes back as a part of no words", () => {
  const { contents } = translate([{ role: "assistant", content: "", ...signed("s") }]);
  expect(contents).toEqual([{ role: "model", parts: [{ text: "", thoughtSignature: "s" }] }]);
});

test("a refusal goes back as words, and an answer of nothing not at all", () => {
  const { contents } = translate([
    { role: "user", content: "a" },
    { role: "assistant", content: null, refusal: "No." },
    { role: "user", content: "b" },
    { role: "assistant", content: "" },
    { role: "user", content: "c" },
  ]);
  expect(contents).toEqual([
    { role: "user", parts: [{ text: "a" }] },
    { role: "model", parts: [{ text: "No." }] },
    { role: "user", parts: [{ text: "b" }, { text: "c" }] },
  ]);
});

test("instructions alone are asked as a question", () => {
  expect(translate([{ role: "system", content: "Say hi." }])).toEqual({
    contents: [{ role: "user", parts: [{ text: "Say hi." }] }],
  });
});

test("a model without instructions reads them in front of the question", () => {
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Why?" },
  ];
  expect(translate(messages, "models/gemma-3-27b-it")).toEqual({
    contents: [{ role: "user", parts: [{ text: "Be brief." }, { text: "Why?" }] }],
  });
});

test("an image that is an address is refused with its field: nobody fetches it", () => {
  for (const url of ["https://a.example/cat.png", "data:image/png,%89PNG", "data:;base64,AA=="]) {
    const image = { type: "image_url", image_url: { url } };
    const content = [{ type: "text", text: "?" }, image];
    const error = refusalOf([
      { role: "system", content: "s" },
      { role: "user", content },
    ]);
    expect(error.code).toBe("invalid_request");
    expect(error.param).toBe("messages[1].content[1].image_url.url");
    expect(error.message).toContain("data URI");
    expect(error.message).not.toContain(url);
  }
});

test("a data URI is read whatever its case and parameters", () => {
  const url = "DATA:Image/PNG;name=a.png;BASE64,QUJD";
  const content = [{ type: "image_url", image_url: { url } }];
  expect(translate([{ role: "user", content }]).contents[0]?.parts).toEqual([
    { inlineData: { mimeType: "image/png", data: "QUJD" } },
  ]);
});

test("arguments that are no JSON object are refused with their field", () => {
  // What is nested without end would take seconds to write.
  const deep = `{"a":${"[".repeat(12_000)}${"]".repeat(12_000)}}`;
  for (const text of ["{", "[1]", "7", "null", deep]) {
    const bad = { id: "y", function: { name: "f", arguments: text } };
    const error = refusalOf([{ role: "assistant", content: null, tool_calls: [call("x"), bad] }]);
    expect(error.code).toBe("invalid_request");
    expect(error.param).toBe("messages[0].tool_calls[1].function.arguments");
  }
});

test("a result whose call is not known is refused, unless it names the tool itself", () => {
  const result = { role: "tool", tool_call_id: "gone", content: "1" };
  expect(refusalOf([result]).param).toBe("messages[0].tool_call_id");
  expect(translate([{ ...result, name: "f" }]).contents[0]?.parts).toEqual([
    { functionResponse: { id: "gone", name: "f", response: { result: "1" } } },
  ]);
});

test("images in the result of a tool go within it, or beside it to models that know no such place", () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
  const content = [
    { type: "text", text: "a map" },
    { type: "image_url", image_url: { url } },
  ];
  const messages = [
    { role: "user", content: "Look!" },
    { role: "assistant", content: null, tool_calls: [call("call_1")] },
    { role: "tool", tool_call_id: "call_1", content },
  ];
  const result = { name: "tool_call_1", response: { result: "a map" } };
  const lastOf = (model: string) =>
    toContents(messages, { model, hasCallIds: false }).contents.at(-1)?.parts;
  expect(lastOf("gemini-3-flash")).toEqual([
    { functionResponse: { ...result, parts: [{ inlineData }] } },
  ]);
  expect(lastOf("gemini-2.5-flash")).toEqual([{ functionResponse: result }, { inlineData }]);
});
