import type { ChatDialect } from "../dialect.ts";
import { type MessagesOrder, toMessagesField, toMessagesOrder } from "./call.ts";
import { MessageEventWriter } from "./events.ts";
import { toMessagesReply } from "./reply.ts";

export const messages: ChatDialect<MessagesOrder> = {
  name: "messages",
  idPrefix: "msg_",
  promptField: "messages",
  read: toMessagesOrder,
  toField: toMessagesField,
  createWriter: (identity, order) => new MessageEventWriter(identity, order),
  toReply: toMessagesReply,
};
