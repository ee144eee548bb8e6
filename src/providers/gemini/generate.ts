import type { ChatCall, JsonObject } from "../../call/chat.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import { readJson, toBody } from "../kit/http.ts";
import { GeminiChatStream } from "./chat-stream.ts";
import { fromGenerateReply } from "./from-candidates.ts";
import { GeminiSpeech, toSpeechBody } from "./speech.ts";
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
  readonly send: (request: GenerateRequest) => Promise<Response>;
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
    async speak(call) {
      const { model, voices } = call.target;
      const body = toBody(toSpeechBody(call.call, voices));
      const response = await send({ model, method: "streamGenerateContent", body, call });
      return new GeminiSpeech({ provider, response, signal: call.signal });
    },
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
