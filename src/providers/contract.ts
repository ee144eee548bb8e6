import type { ChatCall, ChatResult, ChatStream } from "../call/chat.ts";
import type { EmbedCall, EmbedResult } from "../call/embed.ts";
import type { SpeakCall, SpeakStream, VoiceMap } from "../call/speak.ts";

/** Where a call goes: the model by the upstream's own name. */
export interface Target {
  readonly model: string;
  readonly voices?: VoiceMap;
}

export interface ProviderCall<T> {
  readonly call: T;
  readonly target: Target;
  /** Aborted when the caller leaves or time is up; its reason is the error to throw. */
  readonly signal: AbortSignal;
  /** Called when the upstream has taken the call and begins to answer. */
  readonly onAccepted: () => void;
}

/**
 * What an upstream can do; what it cannot is absent. A provider translates without changing its
 * input, because another target may be tried with the same call, and throws ApiErrors only.
 */
export interface Provider {
  readonly name: string;
  chat?(options: ProviderCall<ChatCall>): Promise<ChatResult>;
  /** Resolves when the upstream has accepted the call; the first parts are read by the caller. */
  streamChat?(options: ProviderCall<ChatCall>): Promise<ChatStream>;
  embed?(options: ProviderCall<EmbedCall>): Promise<EmbedResult>;
  speak?(options: ProviderCall<SpeakCall>): Promise<SpeakStream>;
}
