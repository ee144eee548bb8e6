import type { ChatCall, JsonObject } from "../../call/chat.ts";
import { isJsonObject } from "../../call/chat.ts";
import { type AiSdkOptions, createAiSdkProvider } from "../ai-sdk/provider.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { baseHeaders, send } from "../kit/http.ts";
import { readJson } from "../kit/reply.ts";
import { fromMessagesReply } from "./from-reply.ts";
import { listAnthropicModels } from "./list-models.ts";
import { NativeChatStream } from "./stream.ts";
import { toCountBody, toMessagesBody } from "./to-request.ts";

/**
 * Anthropic. Calls in its own format are sent unchanged. A package of the AI SDK translates all
 * others.
 */
export function createAnthropicProvider(options: AiSdkOptions): Provider {
  const { name, baseUrl, apiKey = "", dialer, takesUrls } = options;
  const translated = createAiSdkProvider(options);
  const pin = dialer.pin(baseUrl);
  const base = new URL(baseUrl).pathname.replace(/\/+$/, "");
  const own = { ...baseHeaders(pin), "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
  const plain = new Headers(own);
  const headersOf = ({ original }: ChatCall) =>
    original?.headers === undefined ? plain : { ...own, ...original.headers };
  const post = (path: string, body: string, given: Sending) => {
    const { call, signal, onAccepted, onDial } = given;
    const headers = headersOf(call);
    const request = { provider: name, pin, path: base + path, headers, body, signal, onDial };
    return send(onAccepted === undefined ? request : { ...request, onAccepted });
  };
  const requestOf = ({ call, target: { model } }: Sending) => ({ call, model, takesUrls });
  /** Without a key, the package reports what is missing. */
  const isNative = ({ original }: ChatCall) =>
    original?.dialect === "messages" && options.apiKey !== undefined;

  return {
    ...translated,
    dialects: ["messages"],
    async chat(given) {
      if (!isNative(given.call)) return whole(translated, given);
      const reply = await post("/messages", toMessagesBody(requestOf(given), false), given);
      const read = { provider: name, signal: given.signal, keepsIntegers: true };
      return fromMessagesReply(await readJson(reply, read), name);
    },
    async streamChat(given) {
      if (!isNative(given.call)) return streamed(translated, given);
      const { signal } = given;
      const reply = await post("/messages", toMessagesBody(requestOf(given), true), given);
      return new NativeChatStream({ provider: name, reply, signal });
    },
    async countTokens(given) {
      const { signal } = given;
      const reply = await post("/messages/count_tokens", toCountBody(requestOf(given)), given);
      const counted = await readJson(reply, { provider: name, signal, maxBytes: maxCountBytes });
      return tokensIn(isJsonObject(counted) ? counted : {}, name);
    },
    listModels: (signal) =>
      listAnthropicModels({ provider: name, baseUrl, apiKey, dialer, signal }),
  };
}

type Sending = Pick<ProviderCall<ChatCall>, "call" | "target" | "signal"> &
  Partial<Pick<ProviderCall<ChatCall>, "onAccepted" | "onDial">>;

const maxCountBytes = 64 * 1024;

function tokensIn({ input_tokens: given }: JsonObject, provider: string): number {
  const tokens = toCount(given);
  if (tokens !== undefined) return tokens;
  throw upstreamError("upstream_error", { detail: `${provider} sent no count` });
}

function whole(provider: Provider, given: ProviderCall<ChatCall>) {
  if (provider.chat === undefined) throw new Error("the bridge has no chat");
  return provider.chat(given);
}

function streamed(provider: Provider, given: ProviderCall<ChatCall>) {
  if (provider.streamChat === undefined) throw new Error("the bridge has no streams");
  return provider.streamChat(given);
}
