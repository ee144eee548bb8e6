import {
  type ChatCall,
  type ChatResult,
  type ChatStream,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import type { ProviderCall } from "../contract.ts";
import { toBody } from "../kit/http.ts";
import { readJson, type UpstreamReply } from "../kit/reply.ts";
import { EncryptedReasoning } from "./encrypted-reasoning.ts";
import { fromResponse } from "./responses-reply.ts";
import { ResponsesStream } from "./responses-stream.ts";
import { withSafePart, withSafeParts } from "./to-messages.ts";

/** The lowest cap that the vendor accepts; lower ones go to chat completions. */
const leastCap = 16;
/** Every other tier costs more or less than the price of the model. */
const pricedTier = "default";

/** Whether a call can go to a server's own Responses endpoint. */
export function isForResponses({ original, maxOutputTokens: cap }: ChatCall): boolean {
  if (original?.dialect !== "responses") return false;
  return cap === undefined || cap >= leastCap || original.nativeField !== undefined;
}

export interface ResponsesOptions {
  readonly name: string;
  readonly takesUrls: boolean;
  readonly send: (
    path: string,
    body: string,
    options: ProviderCall<ChatCall>,
  ) => Promise<UpstreamReply>;
}

/** Calls of a server that speaks the caller's own dialect. */
export function createResponses({ name, takesUrls, send }: ResponsesOptions) {
  const reasoning = new EncryptedReasoning();
  return {
    async whole(options: ProviderCall<ChatCall>): Promise<ChatResult> {
      const { signal, call, target } = options;
      return reasoning.whole({
        model: target.model,
        body: { model: target.model, ...toResponsesBody(call, takesUrls) },
        send: async (body) => {
          const reply = await send("/responses", toBody(body), options);
          return fromResponse(await readJson(reply, { provider: name, signal }), name);
        },
      });
    },
    async stream(options: ProviderCall<ChatCall>): Promise<ChatStream> {
      const { signal, call, target } = options;
      return reasoning.stream({
        model: target.model,
        body: { model: target.model, ...toResponsesBody(call, takesUrls), stream: true },
        send: async (body) => {
          const reply = await send("/responses", toBody(body), options);
          return new ResponsesStream({ provider: name, reply, signal });
        },
      });
    },
  };
}

/** Nothing is stored at the vendor: it would be in the operator's account, for all callers. */
function toResponsesBody(
  { original, maxOutputTokens: cap }: ChatCall,
  takesUrls: boolean,
): JsonObject {
  const body = original?.body ?? {};
  const { input, service_tier: tier } = body;
  return {
    ...body,
    input: Array.isArray(input) ? toItems(input, takesUrls) : input,
    service_tier: tier === pricedTier ? tier : undefined,
    max_output_tokens: cap,
    store: false,
  };
}

function toItems(items: readonly Json[], takesUrls: boolean): readonly Json[] {
  return items.map((item, at) => {
    if (!isJsonObject(item)) return item;
    let sent = item;
    for (const name of ["content", "output"] as const) {
      const parts = item[name];
      if (!Array.isArray(parts) && !isJsonObject(parts)) continue;
      const options = { param: `input[${at}].${name}`, takesUrls, noCacheControl: false };
      const safe = Array.isArray(parts)
        ? withSafeParts(parts, options)
        : withSafePart(parts, options);
      if (safe !== parts) sent = { ...sent, [name]: safe };
    }
    return sent;
  });
}
