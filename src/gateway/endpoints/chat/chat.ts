import { ApiError } from "../../../base/errors.ts";
import type { ChatCall, ChatPart, ChatResult, ChatStream } from "../../../call/chat.ts";
import { estimateTokens, type Usage } from "../../../call/usage.ts";
import { toChatOrder } from "../../../wire/v1/chat-call.ts";
import { ChatEventWriter } from "../../../wire/v1/chat-events.ts";
import { type ReplyIdentity, toChatReply } from "../../../wire/v1/chat-reply.ts";
import { type ModelCall, notProvided } from "../../gateway.ts";
import { toReplyStream } from "../../stream-reply.ts";
import { ChatSource, type OpenedChat } from "./chat-source.ts";

/** POST /v1/chat/completions */
export function serveChat(modelCall: ModelCall): Promise<Response> {
  const { body, model, exchange } = modelCall;
  const order = toChatOrder(body, model.maxOutputTokens);
  const identity: ReplyIdentity = {
    id: `chatcmpl-${exchange.requestId.slice("req_".length)}`,
    createdS: Math.floor(exchange.startedMs / 1000),
    model: model.id,
  };
  if (order.stream) return stream(modelCall, order.call, new ChatEventWriter(identity, order));
  return whole(modelCall, order.call, identity);
}

async function whole(
  { parts, exchange, model, call, end }: ModelCall,
  chat: ChatCall,
  identity: ReplyIdentity,
): Promise<Response> {
  const { signal } = call;
  const result = await parts.router.serve(model, signal, ({ provider, target }) => {
    if (provider.chat === undefined) throw notProvided(model);
    return provider.chat({ call: chat, target, signal });
  });
  end();
  return exchange.json(
    toChatReply(identity, result, result.usage ?? estimateUsage(chat, textOf(result))),
  );
}

async function stream(
  { parts, exchange, model, call, end }: ModelCall,
  chat: ChatCall,
  writer: ChatEventWriter,
): Promise<Response> {
  const { signal } = call;
  const opening = parts.router.serve(
    model,
    signal,
    async ({ provider, target }): Promise<OpenedChat> => {
      if (provider.streamChat === undefined) throw notProvided(model);
      return openChat(await provider.streamChat({ call: chat, target, signal }), provider.name);
    },
  );
  // Until the model speaks, a failure still gets its real status; but a caller who has heard
  // nothing for the length of a keep-alive gets the head of the reply and a comment.
  const isSilent = await Promise.race([
    opening.then(() => false),
    new Promise<boolean>((resolve) => {
      call.onSilence = () => resolve(true);
    }),
  ]);
  const source = new ChatSource({
    opening,
    writer,
    estimate: (chars) => estimateUsage(chat, chars),
    startsSilent: isSilent,
  });
  return exchange.events(toReplyStream({ call, source, onEnd: end }));
}

/** Waits for the first word of a stream; one that ends without any has failed. */
async function openChat(parts: ChatStream, provider: string): Promise<OpenedChat> {
  const first: ChatPart[] = [];
  for (;;) {
    const batch = await parts.read();
    for (const part of batch ?? []) first.push(part);
    if (first.some(({ type }) => type !== "usage" && type !== "done")) return { parts, first };
    if (batch !== undefined && !first.some(({ type }) => type === "done")) continue;
    parts.cancel();
    throw new ApiError({
      code: "upstream_error",
      message: "The model failed to answer.",
      detail: `${provider} sent an empty stream`,
    });
  }
}

function estimateUsage(chat: ChatCall, outputChars: number): Usage {
  const inputTokens = estimateTokens(Buffer.byteLength(JSON.stringify(chat.messages)));
  return { inputTokens, outputTokens: estimateTokens(outputChars), estimated: true };
}

/** All that the model said: text, tool calls, reasoning. */
function textOf({ choices }: ChatResult): number {
  let chars = 0;
  for (const { message } of choices)
    for (const [name, value] of Object.entries(message)) {
      if (name === "role" || value === null || value === undefined) continue;
      chars += typeof value === "string" ? value.length : JSON.stringify(value).length;
    }
  return chars;
}
