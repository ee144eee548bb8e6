import { parseExact } from "../../../base/json/exact.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { toSafeCallId } from "../../kit/tool-call-id.ts";
import type { Fields, Owner } from "../model.ts";
import { fromCarried } from "./carried.ts";
import {
  joinedText,
  type Reader,
  refusal,
  toMediaPart,
  toUserParts,
  withCache,
  wordsOf,
} from "./content.ts";
import { fromReasoningDetails } from "./reasoning-details.ts";

export interface PromptReader extends Reader {
  readonly owner: Owner;
  /** Whether calls of tools and their results may go as such, and not as text. */
  readonly hasToolBlocks: boolean;
}

/** The conversation as packages take it. */
export function toPrompt(messages: readonly JsonObject[], reader: PromptReader): Fields[] {
  const prompt: Fields[] = [];
  /** Names of the tools that were called, by the id of the call. */
  const called = new Map<string, string>();
  let systems = 0;
  for (const [at, message] of messages.entries()) {
    switch (message["role"]) {
      case "system":
      case "developer": {
        const said = toSystem(message, reader);
        // Both vendors have instructions in front of the conversation only.
        prompt.splice(systems, 0, ...said);
        systems += said.length;
        break;
      }
      case "assistant":
        prompt.push(toAssistant({ message, at, called, reader }));
        break;
      case "tool":
        prompt.push(toToolResult({ message, at, called, reader }));
        break;
      default:
        prompt.push({
          role: "user",
          content: toUserParts(message["content"], `messages[${at}].content`, reader),
          ...withCache(message, reader.family),
        });
    }
  }
  return prompt;
}

/** One of each part where a part is to be cached, so that it stays one. */
function toSystem(message: JsonObject, { family }: Reader): Fields[] {
  const { content } = message;
  const cached = withCache(message, family);
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  if (!parts.some((part) => isJsonObject(part["cache_control"])))
    return [{ role: "system", content: joinedText(content), ...cached }];
  return parts.map((part) => ({
    role: "system",
    content: wordsOf(part),
    ...withCache(part, family),
  }));
}

interface Step {
  readonly message: JsonObject;
  readonly at: number;
  readonly called: Map<string, string>;
  readonly reader: PromptReader;
}

function toAssistant({ message, at, called, reader }: Step): Fields {
  const { content, refusal: refused, tool_calls: calls } = message;
  const { owner, family, hasToolBlocks } = reader;
  // Signed thoughts belong to calls: where these go as text, they stay away.
  const isPlain = !hasToolBlocks && Array.isArray(calls) && calls.length > 0;
  const parts = isPlain ? [] : fromReasoningDetails(message, owner);
  const said = Array.isArray(content) ? content : [{ text: joinedText(content) }];
  for (const part of said)
    if (isJsonObject(part) && wordsOf(part) !== "")
      parts.push({ type: "text", text: wordsOf(part), ...withCache(part, family) });
  if (joinedText(content) === "" && typeof refused === "string" && refused !== "")
    parts.push({ type: "text", text: refused });
  if (Array.isArray(calls))
    for (const [place, call] of calls.entries())
      if (isJsonObject(call))
        parts.push(
          toToolCall(call, {
            param: `messages[${at}].tool_calls[${place}]`,
            called,
            reader,
          }),
        );
  return { role: "assistant", content: parts, ...withCache(message, family) };
}

function toToolCall(
  call: JsonObject,
  { param, called, reader }: Pick<Step, "called" | "reader"> & { readonly param: string },
): Fields {
  const { owner, hasToolBlocks } = reader;
  const { id, function: target, extra_content: extra } = call;
  const { name, arguments: text } = isJsonObject(target) ? target : {};
  const toolCallId = String(id);
  const toolName = String(name);
  called.set(toolCallId, toolName);
  const input = parseArguments(text, `${param}.function.arguments`);
  if (!hasToolBlocks) {
    const told = `Called the tool ${toolName} (${toolCallId}) with ${JSON.stringify(input)}`;
    return { type: "text", text: told };
  }
  return {
    type: "tool-call",
    toolCallId: toSafeCallId(toolCallId),
    toolName,
    input,
    ...fromCarried(extra, owner),
  };
}

function parseArguments(text: Json | undefined, param: string): JsonObject {
  // Some models write nothing where a tool needs nothing.
  if (typeof text !== "string" || text.trim() === "") return {};
  let input: unknown;
  try {
    input = parseExact(text);
  } catch {
    input = undefined;
  }
  if (!isJsonObject(input)) throw refusal(param, "must be a JSON object, encoded as a string");
  return input;
}

function toToolResult({ message, at, called, reader }: Step): Fields {
  const { tool_call_id: id, content, is_error: isError } = message;
  const toolCallId = String(id);
  const toolName = called.get(toolCallId);
  if (toolName === undefined)
    throw refusal(`messages[${at}].tool_call_id`, "must be the id of an earlier tool call");
  const cached = withCache(message, reader.family);
  const files = toResultFiles(content, `messages[${at}].content`, reader);
  const isMixed = files.length > 0 && Array.isArray(content);
  const text = joinedText(isMixed ? content.filter(isTextPart) : content);
  if (!reader.hasToolBlocks) {
    const told = { type: "text", text: `Result of the tool call ${toolCallId}:\n${text}` };
    return { role: "user", content: [told, ...files], ...cached };
  }
  const said = text === "" ? [] : [{ type: "text", text }];
  const output =
    files.length === 0
      ? { type: isError === true ? "error-text" : "text", value: text }
      : { type: "content", value: [...said, ...files] };
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: toSafeCallId(toolCallId), toolName, output }],
    ...cached,
  };
}

const isTextPart = (part: Json) => isJsonObject(part) && wordsOf(part) !== "";

function toResultFiles(content: Json | undefined, at: string, reader: PromptReader): Fields[] {
  if (!Array.isArray(content)) return [];
  const files: Fields[] = [];
  for (const [place, part] of content.entries()) {
    if (!isJsonObject(part)) continue;
    const file = toMediaPart(part, `${at}[${place}]`, reader);
    if (file === undefined) continue;
    if (reader.family === "anthropic" && file["mediaType"] === "text/plain")
      throw refusal(
        `${at}[${place}].file.file_data`,
        "must be a PDF in a tool result. Send text as a text part",
      );
    files.push(file);
  }
  return files;
}
