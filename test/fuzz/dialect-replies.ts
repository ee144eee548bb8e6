import { messagesDriver } from "../dialects/drivers/messages.ts";
import { responsesDriver } from "../dialects/drivers/responses.ts";
import { parseStream } from "../replies/event-stream.ts";
import type { ReplyKind } from "./cases/fuzz-case.ts";
import { parsed } from "./cases/json-text.ts";
import { replyProblem } from "./oracle.ts";

/** Errors of all dialects as chat has them; anything else stays as it is. */
export function inOneShape(kind: ReplyKind, value: unknown): unknown {
  if (kind !== "messages" && kind !== "count-tokens") return value;
  try {
    const { type, message, code, param } = messagesDriver.fromError(value);
    return { error: { type: apiTypes[type] ?? type, message, code, param } };
  } catch {
    return undefined;
  }
}

/** Anthropic's names of types that ours are called otherwise. */
const apiTypes: Readonly<Record<string, string>> = {
  permission_error: "permission_denied_error",
};

/** What is wrong with a stream that was served; undefined when nothing is. */
export function streamProblem(kind: ReplyKind, text: string): string | undefined {
  try {
    if (kind === "completions") return completionProblem(text);
    const driver = kind === "messages" ? messagesDriver : responsesDriver;
    const chat = kind === "chat" ? parseStream(text) : undefined;
    const { error, isDone } = chat ?? driver.fromStream(text);
    if (error !== undefined) return "the stream ends with an error";
    if (!isDone) return "the stream has no end";
    return chat?.chunks
      .map((chunk) => replyProblem("chunk", chunk))
      .find((problem) => problem !== undefined);
  } catch (error) {
    return String(error);
  }
}

function completionProblem(text: string): string | undefined {
  const events = text.split("\n\n").map((event) => event.replace(/^data: /, ""));
  if (events.splice(-2).join() !== "[DONE],") return "the stream has no end";
  return events
    .map((event) => replyProblem("completionChunk", parsed(event)))
    .find((problem) => problem !== undefined);
}
