import { ApiError } from "../../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { toCallerUrl } from "../../kit/caller-url.ts";
import { toReasoningItems } from "./carried.ts";

export interface InputOptions {
  readonly takesUrls: boolean;
  /** Whose encrypted reasoning goes back; undefined: nobody's. */
  readonly mark: string | undefined;
}

export function refusal(param: string, problem: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}

/** A conversation as items. */
export function toInput(messages: readonly JsonObject[], options: InputOptions): JsonObject[] {
  const items: JsonObject[] = [];
  for (const [at, message] of messages.entries()) {
    const param = `messages[${at}].content`;
    const { role, content } = message;
    switch (role) {
      case "assistant":
        addAnswer(items, message, options);
        break;
      case "tool":
        items.push(toOutput(message, param, options));
        break;
      default: {
        // Both names of instructions mean the same.
        const speaker = role === "system" ? "developer" : role;
        items.push({ type: "message", role: speaker, content: toParts(content, param, options) });
      }
    }
  }
  return items;
}

function toParts(content: Json | undefined, param: string, options: InputOptions): Json[] {
  if (!Array.isArray(content)) return [toText(content)];
  return content.filter(isJsonObject).map((part, at) => toPart(part, `${param}[${at}]`, options));
}

const toText = (text: Json | undefined) => ({
  type: "input_text",
  text: typeof text === "string" ? text : "",
});

function toPart(part: JsonObject, param: string, { takesUrls }: InputOptions): JsonObject {
  const { type, image_url: image, file } = part;
  switch (type) {
    case "image_url": {
      const { url, detail } = isJsonObject(image) ? image : {};
      const place = `${param}.image_url.url`;
      if (typeof url !== "string") throw refusal(place, "must be a string");
      return {
        type: "input_image",
        image_url: toCallerUrl(url, { param: place, takesUrls }),
        detail: typeof detail === "string" ? detail : "auto",
      };
    }
    case "file": {
      const { file_data: data, filename } = isJsonObject(file) ? file : {};
      const name = typeof filename === "string" && filename !== "" ? filename : "document.pdf";
      return { type: "input_file", filename: name, file_data: data };
    }
    case "input_audio":
      throw refusal(
        `${param}.input_audio`,
        "is not supported. This model does not accept audio here",
      );
    default:
      return toText(part["text"]);
  }
}

/** Each encrypted thought stands before what it led to. */
function addAnswer(items: JsonObject[], message: JsonObject, { mark }: InputOptions): void {
  const said = toSaid(message);
  const { tool_calls: given } = message;
  const calls = Array.isArray(given) ? given.filter(isJsonObject) : [];
  // Reasoning alone is refused.
  if (said.length === 0 && calls.length === 0) return;
  const thoughts = mark === undefined ? [] : toReasoningItems(message, mark);
  let next = 0;
  const addThoughts = (place: number) => {
    for (let one = thoughts[next]; one !== undefined && one.place <= place; one = thoughts[++next])
      items.push(one.item);
  };
  addThoughts(0);
  if (said.length > 0) items.push({ type: "message", role: "assistant", content: said });
  for (const [at, call] of calls.entries()) {
    addThoughts(at + 1);
    items.push(toCall(call));
  }
}

function toSaid({ content, refusal: refused }: JsonObject): JsonObject[] {
  const said: JsonObject[] = [];
  const parts: readonly Json[] = Array.isArray(content) ? content : [{ text: content ?? "" }];
  for (const part of parts) {
    if (!isJsonObject(part)) continue;
    const { text, refusal: inner } = part;
    if (isWords(text)) said.push({ type: "output_text", text, annotations: [] });
    else if (isWords(inner)) said.push({ type: "refusal", refusal: inner });
  }
  if (isWords(refused)) said.push({ type: "refusal", refusal: refused });
  return said;
}

const isWords = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";

function toCall({ id, function: called }: JsonObject): JsonObject {
  const { name, arguments: text } = isJsonObject(called) ? called : {};
  // Some models write nothing where a tool needs nothing.
  const isBlank = typeof text !== "string" || text.trim() === "";
  return { type: "function_call", call_id: id, name, arguments: isBlank ? "{}" : text };
}

function toOutput(message: JsonObject, param: string, options: InputOptions): JsonObject {
  const { tool_call_id: id, content, is_error: isError } = message;
  const parts = Array.isArray(content)
    ? toParts(content, param, options).filter(isJsonObject)
    : [toText(content)];
  // There is no field for it.
  if (isError === true) parts.unshift(toText("Error:"));
  // Older versions take a text only.
  const isText = parts.every((part) => part["type"] === "input_text");
  const output = isText ? parts.map(({ text }) => String(text)).join("\n") : parts;
  return { type: "function_call_output", call_id: id, output };
}
