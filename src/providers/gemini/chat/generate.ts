import { ApiError } from "../../../base/errors.ts";
import type { ChatCall, JsonObject } from "../../../call/chat.ts";
import type { Provider, ProviderCall } from "../../contract.ts";
import { toBody } from "../../kit/http.ts";
import { readJson, type UpstreamReply } from "../../kit/reply.ts";
import { GeminiSpeech, toSpeechBody } from "../speech.ts";
import { fromGenerateReply } from "./from-candidates.ts";
import { GeminiChatStream } from "./stream.ts";
import { toContents } from "./to-contents.ts";
import { toGenerationConfig } from "./to-generation-config.ts";
import { toTools } from "./to-tools.ts";

/** What a sender needs of a call. */
export type GenerateSending = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial">;

export interface GenerateRequest {
  /** As the operator wrote it: with or without a `models/` before it. */
  readonly model: string;
  readonly method: "generateContent" | "streamGenerateContent";
  /** JSON. */
  readonly body: string;
  readonly call: GenerateSending;
}

export interface GenerateOptions {
  /** Of the provider, for the operator's eyes. */
  readonly name: string;
  /** Address, sign-in and the query that asks for events are the sender's; a reply is a 2xx. */
  readonly send: (request: GenerateRequest) => Promise<UpstreamReply>;
  /** Whether the service knows ids of tool calls; one that does not refuses them. */
  readonly hasCallIds?: boolean;
}

export type GenerateCalls = Required<Pick<Provider, "chat" | "streamChat" | "speak">>;

/** Chat and speech of every service that speaks `generateContent`. */
export function createGenerateCalls(options: GenerateOptions): GenerateCalls {
  const { name: provider, send, hasCallIds = false } = options;
  const chatBody = ({ call, target }: ProviderCall<ChatCall>) =>
    toBody(toChatBody(call, { model: target.model, hasCallIds }));
  return {
    async chat(call) {
      const { model } = call.target;
      const body = chatBody(call);
      const response = await send({ model, method: "generateContent", body, call });
      return fromGenerateReply(
        await readJson(response, { provider, signal: call.signal }),
        provider,
      );
    },
    async streamChat(call) {
      const { model } = call.target;
      const body = chatBody(call);
      const response = await send({ model, method: "streamGenerateContent", body, call });
      return new GeminiChatStream({ provider, response, signal: call.signal });
    },
    speak: createSpeak(options),
  };
}

/** Not every speech model streams: one that refuses to is asked for the whole, now and from then on. */
function createSpeak({ name: provider, send }: GenerateOptions): GenerateCalls["speak"] {
  const wholeOnly = new Set<string>();
  return async (call) => {
    const { signal, target } = call;
    const { model, voices } = target;
    const body = toBody(toSpeechBody(call.call, voices));
    const whole = async () => {
      const response = await send({ model, method: "generateContent", body, call });
      return new GeminiSpeech({ provider, response, signal });
    };
    if (wholeOnly.has(model)) return whole();
    try {
      const response = await send({ model, method: "streamGenerateContent", body, call });
      return new GeminiSpeech({ provider, response, signal });
    } catch (error) {
      const isRefused = error instanceof ApiError && error.code === "upstream_rejected";
      const isMissing = error instanceof ApiError && error.upstream?.reason === "missing";
      if (!isRefused && !isMissing) throw error;
      const speech = await whole();
      wholeOnly.add(model);
      return speech;
    }
  };
}

function toChatBody(
  call: ChatCall,
  options: { readonly model: string; readonly hasCallIds: boolean },
): JsonObject {
  const generationConfig = toGenerationConfig(call, options.model);
  return {
    ...(toContents(call.messages, options) as unknown as JsonObject),
    ...toTools(call.options),
    ...(generationConfig === undefined ? {} : { generationConfig }),
  };
}
