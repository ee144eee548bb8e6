import type { ChatDialect } from "../dialect.ts";
import { type TextCompletionOrder, toTextCompletionOrder } from "./call.ts";
import { TextCompletionWriter } from "./events.ts";
import { toTextCompletionReply } from "./reply.ts";

export const textCompletions: ChatDialect<TextCompletionOrder> = {
  name: "completions",
  idPrefix: "cmpl-",
  promptField: "prompt",
  read: toTextCompletionOrder,
  createWriter: (identity, order) => new TextCompletionWriter(identity, order),
  toReply: toTextCompletionReply,
};
