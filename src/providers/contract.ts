import type { ChatCall, ChatResult, ChatStream } from "../call/chat.ts";
import type { Dialect } from "../call/dialect.ts";
import type { EmbedCall, EmbedResult } from "../call/embed.ts";
import type { Endpoint, InputKind } from "../call/endpoint.ts";
import type { Signal } from "../call/signal.ts";
import type { SpeakCall, SpeakOption, SpeakStream, VoiceMap } from "../call/speak.ts";
import type {
  TranscribeCall,
  Transcript,
  TranscriptDetail,
  TranscriptStream,
} from "../call/transcribe.ts";

/** Where a call goes: the model by the upstream's own name. */
export interface Target {
  readonly model: string;
  readonly voices?: VoiceMap;
}

/** Looks whether an upstream can be reached at all; resolves to what is in the way, if anything. */
export type Probe = (withinMs: number) => Promise<string | undefined>;

export interface ProviderCall<T> {
  readonly call: T;
  readonly target: Target;
  /** Aborted when the caller leaves or time is up; its reason is the error to throw. */
  readonly signal: Signal;
  /** Called when the upstream has taken the call and begins to answer. */
  readonly onAccepted: () => void;
  /** Called when a connection is about to be used: a call that hears nothing may look into it. */
  readonly onDial?: ((probe: Probe) => void) | undefined;
  /** Called for signs of life that no part of the answer tells of, where an adapter sees them. */
  readonly onHeard?: (() => void) | undefined;
}

/** A model that an upstream offers, by its own name, as far as it tells. */
export interface UpstreamModel {
  readonly id: string;
  readonly endpoint?: Endpoint;
  readonly input?: InputKind;
  readonly maxOutputTokens?: number;
}

/**
 * What an upstream can do; what it cannot is absent. A provider translates without changing its
 * input, because another target may be tried with the same call, and throws ApiErrors only.
 */
export interface Provider {
  readonly name: string;
  /**
   * The dialects beside chat completions in which `chat` and `streamChat` take a call's `original`
   * and answer with its `native` reply or events.
   */
  readonly dialects?: readonly Dialect[] | undefined;
  chat?(options: ProviderCall<ChatCall>): Promise<ChatResult>;
  /** Resolves when the upstream has accepted the call; the first parts are read by the caller. */
  streamChat?(options: ProviderCall<ChatCall>): Promise<ChatStream>;
  /** The number of input tokens of a call, counted by the upstream for free. */
  countTokens?(
    options: Pick<ProviderCall<ChatCall>, "call" | "target" | "signal">,
  ): Promise<number>;
  embed?(options: ProviderCall<EmbedCall>): Promise<EmbedResult>;
  speak?(options: ProviderCall<SpeakCall>): Promise<SpeakStream>;
  /** What `speak` takes beyond text and voice; absent: nothing. */
  speakOptions?(model: string): readonly SpeakOption[];
  transcribe?(options: ProviderCall<TranscribeCall>): Promise<Transcript>;
  /** Resolves when the upstream has accepted the call. */
  streamTranscript?(options: ProviderCall<TranscribeCall>): Promise<TranscriptStream>;
  /** The most detail that a model gives; absent: all. */
  transcriptDetail?(model: string): TranscriptDetail;
  /** The longest audio that it transcribes, in seconds; undefined where that is not known. */
  readonly maxAudioS?: number;
  /** What it offers, for the operator to choose from. */
  listModels?(signal: Signal): Promise<readonly UpstreamModel[]>;
}

/** One of several keys of a provider. */
export interface KeyTerms {
  readonly name: string;
  readonly weight: number;
}

/** A provider, or one key of it, that is new or changed. */
export interface ChangedProvider {
  readonly name: string;
  readonly key: string | undefined;
}
