import type { ChatDialect } from "../dialect.ts";
import { ResponseEventWriter } from "./events.ts";
import { toOwnField } from "./field-names.ts";
import { type OrderContext, type ResponseOrder, toResponseOrder } from "./order.ts";
import { type KeepReply, toResponseReply } from "./reply.ts";

export interface ResponsesContext extends OrderContext {
  /** Called for a reply that is to be stored, before it goes out. */
  readonly keep: (order: ResponseOrder) => KeepReply;
}

/** A dialect for one call: it holds what the call takes from earlier ones. */
export function createResponses(context: ResponsesContext): ChatDialect<ResponseOrder> {
  const keepOf = (order: ResponseOrder) => (order.isStored ? context.keep(order) : undefined);
  return {
    name: "responses",
    idPrefix: "resp_",
    promptField: "input",
    read: (body, options) => toResponseOrder(body, { ...options, ...context }),
    toField: toOwnField,
    createWriter: (identity, order) => new ResponseEventWriter(identity, order, keepOf(order)),
    toReply: (whole) => toResponseReply(whole, keepOf(whole.order)),
  };
}
