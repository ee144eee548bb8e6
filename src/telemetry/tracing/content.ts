import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";

/** Of the messages of a call, and of its reply. What is longer is cut. */
export const mostContentChars = 16 * 1024;

interface Part {
  readonly type: string;
  readonly content?: string;
  readonly name?: string;
  readonly arguments?: string;
}

/**
 * Messages as the conventions for generative AI write them: JSON of roles and parts. Bounded: the
 * work does not grow with what lies beyond the bound. Media are named and left out.
 */
export function toContent(messages: readonly JsonObject[]): string {
  let left = mostContentChars;
  const take = (text: string) => {
    const taken = text.slice(0, Math.max(0, left));
    left -= taken.length;
    return taken;
  };
  const told: { readonly role: string; readonly parts: readonly Part[] }[] = [];
  for (const { role, content, tool_calls: calls } of messages) {
    if (left <= 0 || told.length >= mostMessages) break;
    left -= messageChars;
    const said = typeof role === "string" ? take(role) : "user";
    told.push({ role: said, parts: [...partsOf(content, take), ...callsIn(calls, take)] });
  }
  return JSON.stringify(told);
}

const mostMessages = 200;
const mostParts = 100;
const messageChars = 30;

function partsOf(content: Json | undefined, take: (text: string) => string): readonly Part[] {
  if (typeof content === "string") return [{ type: "text", content: take(content) }];
  if (!Array.isArray(content)) return [];
  return content.slice(0, mostParts).map((part: Json) => {
    const { type, text } = isJsonObject(part) ? part : {};
    if (typeof text === "string") return { type: "text", content: take(text) };
    return { type: typeof type === "string" ? take(type) : "unknown" };
  });
}

function callsIn(calls: Json | undefined, take: (text: string) => string): readonly Part[] {
  if (!Array.isArray(calls)) return [];
  return calls.slice(0, mostParts).map((call: Json) => {
    const { function: called } = isJsonObject(call) ? call : {};
    const { name, arguments: given } = isJsonObject(called) ? called : {};
    return {
      type: "tool_call",
      name: typeof name === "string" ? take(name) : "",
      arguments: typeof given === "string" ? take(given) : "",
    };
  });
}
