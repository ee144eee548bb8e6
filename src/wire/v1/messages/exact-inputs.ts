import { hasLongIntegers, parseExact } from "../../../base/json/exact.ts";
import { isJsonObject, type Json } from "../../../call/chat.ts";

/**
 * Parses a body. The arguments of tool calls keep integers that a number would round, such as
 * Snowflake ids, as raw JSON. Nothing else does: everything outside of arguments is validated.
 */
export function parseMessagesBody(text: string): unknown {
  const body: unknown = JSON.parse(text);
  if (!hasLongIntegers(text)) return body;
  const exact = callsOf(parseExact(text));
  // Anything but an object is for the validator.
  for (const [at, call] of callsOf(body).entries())
    if (isJsonObject(call["input"])) call["input"] = exact[at]?.["input"];
  return body;
}

/** The tool calls in a body, in order. */
function callsOf(body: unknown): Record<string, Json | undefined>[] {
  const { messages } = isJsonObject(body) ? body : {};
  const calls: Record<string, Json | undefined>[] = [];
  for (const message of Array.isArray(messages) ? messages : []) {
    const content = isJsonObject(message) ? message["content"] : undefined;
    if (!Array.isArray(content)) continue;
    for (const block of content)
      if (isJsonObject(block) && block["type"] === "tool_use") calls.push(block);
  }
  return calls;
}
