import { messagesDriver } from "../dialects/drivers/messages.ts";
import { responsesDriver } from "../dialects/drivers/responses.ts";
import { problemsOf } from "../replies/conformance.ts";
import type { ReplyKind } from "./cases/fuzz-case.ts";

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

type ServedKind = Extract<
  ReplyKind,
  | "responses"
  | "messages"
  | "count-tokens"
  | "completions"
  | "stored-response"
  | "deleted-response"
  | "input-items"
>;

/** What is wrong with a reply of such a kind that was served; undefined when nothing is. */
export function dialectProblem(kind: ServedKind, type: string, text: string): string | undefined {
  const isStreamed = type.startsWith("text/event-stream");
  try {
    switch (kind) {
      case "count-tokens": {
        const { input_tokens: count } = JSON.parse(text) as { readonly input_tokens?: unknown };
        return Number.isInteger(count) ? undefined : "no count of tokens";
      }
      case "deleted-response":
        return problemsOf.deletedResponse(JSON.parse(text))[0];
      case "input-items":
        return problemsOf.responseItems(JSON.parse(text))[0];
      case "completions":
        // Several prompts have several choices, which a plain client does not read.
        return text.includes('"text_completion"') ? undefined : "no completion";
      default: {
        const driver = kind === "messages" ? messagesDriver : responsesDriver;
        if (!isStreamed) return void driver.fromReply(JSON.parse(text));
        const { error, isDone } = driver.fromStream(text);
        if (error !== undefined) return "the stream ends with an error";
        return isDone ? undefined : "the stream has no end";
      }
    }
  } catch (error) {
    return String(error);
  }
}
