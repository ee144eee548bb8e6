import { parseBounded } from "../../../base/json/bounds.ts";
import { isFields } from "../model.ts";

/** A whole reply as its package can read it; undefined where it can as it is. */
export type ReplyFix = (text: string) => string | undefined;

const fixes: ReadonlyMap<string, ReplyFix> = new Map([["@ai-sdk/cohere", withoutCitations]]);

/** What some packages take for a broken reply is mended before they see it. */
export function replyFixOf(packageName: string | undefined): ReplyFix | undefined {
  return packageName === undefined ? undefined : fixes.get(packageName);
}

/**
 * Cohere cites what a tool gave back as well as documents; its package knows documents with a title
 * only, and throws the whole answer away. A chat has no place for either.
 */
function withoutCitations(text: string): string | undefined {
  if (!text.includes('"citations"')) return undefined;
  let reply: unknown;
  try {
    reply = parseBounded(text);
  } catch {
    return undefined;
  }
  const message = isFields(reply) ? reply["message"] : undefined;
  if (!isFields(reply) || !isFields(message)) return undefined;
  const { citations: _citations, ...rest } = message;
  return JSON.stringify({ ...reply, message: rest });
}
