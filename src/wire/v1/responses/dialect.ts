import type { ChatDialect } from "../dialect.ts";
import { ResponseEventWriter } from "./events.ts";
import { type OrderContext, type ResponseOrder, toResponseOrder } from "./order.ts";
import { type KeepReply, toResponseReply } from "./reply.ts";

export interface ResponsesContext extends OrderContext {
  /** Called for a reply that is to be stored, before it goes out. */
  readonly keep: (order: ResponseOrder) => KeepReply;
  /** Called once the request is known to be valid. */
  readonly onOrder: (order: ResponseOrder) => void;
}

/** What a call needs to know of those before it is of that call alone, and so is the dialect. */
export function createResponses(context: ResponsesContext): ChatDialect<ResponseOrder> {
  const keepOf = (order: ResponseOrder) => (order.isStored ? context.keep(order) : undefined);
  return {
    name: "responses",
    idPrefix: "resp_",
    promptField: "input",
    read: (body, maxOutputTokens) => {
      const order = toResponseOrder(body, maxOutputTokens, context);
      context.onOrder(order);
      return order;
    },
    createWriter: (identity, order) => new ResponseEventWriter(identity, order, keepOf(order)),
    toReply: (whole) => toResponseReply(whole, keepOf(whole.order)),
  };
}
