import type { ChatCall } from "../../../call/chat.ts";
import { textsOf } from "../../../call/chat-size.ts";
import { toAbortSignal } from "../../../call/signal.ts";
import { toCountOrder, toMessagesField } from "../../../wire/v1/messages/call.ts";
import { checkTextBytes } from "../../request/read-body.ts";
import type { ServedCall } from "../../served-call.ts";
import { countUsage } from "../chat/chat-money.ts";

/** A vendor that has not counted by then is not waited for. */
const countWithinMs = 5_000;

/**
 * POST /v1/messages/count_tokens: by the vendor, where it counts in this format, and else by our own
 * tokenizer. It is free, so it has no hold and no receipt; like every request it uses one of those
 * per minute, and a place among those that run.
 */
export async function serveCountTokens(served: ServedCall): Promise<Response> {
  const { exchange, body, model, dependencies } = served;
  const order = toCountOrder(body, { modelId: model.id, headers: exchange.request.headers });
  const { call } = order;
  exchange.toField = (param) => toMessagesField(param, order);
  checkTextBytes(exchange, "messages", () => textsOf(call).texts);
  const counted = await countThere(served, call);
  const tokens = counted ?? (await countHere(served, call));
  dependencies.replyCounter.count({ endpoint: exchange.endpoint, model }, "ok");
  served.end();
  return exchange.json(`{"input_tokens":${tokens}}`);
}

/**
 * Asked beside the router: a vendor that cannot count may serve all the same, and must not be left
 * out for it. Whatever goes wrong, our own count takes its place.
 */
async function countThere(served: ServedCall, call: ChatCall): Promise<number | undefined> {
  const { dependencies, model, call: active } = served;
  const found = dependencies.router.find(model, ({ countTokens }) => countTokens !== undefined);
  if (found === undefined) return undefined;
  const limit = AbortSignal.timeout(countWithinMs);
  const signal = AbortSignal.any([limit, toAbortSignal(active.signal)]);
  return found.provider
    .countTokens?.({ call, target: found.target, signal })
    .catch(() => undefined);
}

async function countHere(
  { dependencies, model, key }: ServedCall,
  chat: ChatCall,
): Promise<number> {
  const said = { text: "", share: 1 };
  const { counter } = dependencies;
  const countFor = { accountId: key.accountId, purpose: "free" } as const;
  const usage = await countUsage({ counter, countFor, chat, said, model, choices: 1 });
  return usage.inputTokens;
}
