import type { ChatResult, Json, JsonObject } from "../../../call/chat.ts";
import { upstreamError } from "../../kit/failure.ts";
import { type Fields, isFields, type Owner, textOf } from "../model.ts";
import { toCarried } from "./carried.ts";
import { toEnding } from "./finish.ts";
import { firstWritten, isWrittenByTool } from "./json-tool.ts";
import { toReasoningDetail } from "./reasoning-details.ts";
import { fromAiSdkUsage } from "./usage.ts";

/** A whole answer of a package. */
export function fromGenerated(
  result: Fields,
  { provider, owner }: { readonly provider: string; readonly owner: Owner },
): ChatResult {
  const { content, finishReason, usage } = result;
  const parts = Array.isArray(content) ? content.filter(isFields) : [];
  const texts: string[] = [];
  let thought = "";
  const details: JsonObject[] = [];
  const calls: JsonObject[] = [];
  for (const part of parts) {
    const { type, text: words, providerMetadata: metadata } = part;
    if (type === "text") texts.push(textOf(words));
    else if (type === "reasoning") {
      thought += textOf(words);
      const detail = toReasoningDetail({ text: textOf(words), metadata }, owner);
      if (detail !== undefined) details.push({ ...detail, index: details.length });
    } else if (type === "tool-call" && part["providerExecuted"] !== true)
      calls.push(toCall(part, owner));
  }
  const text = isWrittenByTool(result) ? firstWritten(texts) : texts.join("");
  const ending = toEnding(finishReason, calls.length > 0);
  if (ending === "failed")
    throw upstreamError("upstream_error", { detail: `${provider} ended with an error` });
  const message: Record<string, Json> = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
  };
  if (thought !== "") message["reasoning_content"] = thought;
  if (details.length > 0) message["reasoning_details"] = details;
  if (calls.length > 0) message["tool_calls"] = calls;
  const unsaid = calls.length > 0 ? "tool_calls" : "stop";
  // A reply that is whole cannot have been cut.
  const reason = ending === "cut" ? unsaid : ending;
  return {
    choices: [{ index: 0, message, logprobs: null, finishReason: reason }],
    usage: fromAiSdkUsage(usage),
  };
}

function toCall(part: Fields, owner: Owner): JsonObject {
  const carried = toCarried(part["providerMetadata"], owner);
  return {
    id: textOf(part["toolCallId"]),
    type: "function",
    function: { name: textOf(part["toolName"]), arguments: toArguments(part["input"]) },
    ...(carried === undefined ? {} : { extra_content: carried }),
  };
}

/** JSON as text; some packages give the object itself. */
export function toArguments(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}
