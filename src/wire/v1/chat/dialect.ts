import type { ChatDialect } from "../dialect.ts";
import { type CompletionOrder, toChatOrder } from "./call.ts";
import { ChatEventWriter } from "./events.ts";
import { toChatReply } from "./reply.ts";

export const chatCompletions: ChatDialect<CompletionOrder> = {
  name: "chat",
  idPrefix: "chatcmpl-",
  promptField: "messages",
  read: toChatOrder,
  createWriter: (identity, order) => new ChatEventWriter(identity, order),
  toReply: ({ identity, result, usage }) => toChatReply(identity, result, usage),
};
