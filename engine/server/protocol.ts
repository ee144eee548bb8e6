import type { ChatOptions } from "../chat/chat.ts";
import type { EngineErrorOptions } from "../contract.ts";

/** What the engine's server and the process of a model say to each other. */
export interface HostOptions {
  readonly chat: ChatOptions;
  readonly text: { readonly dir: string };
  readonly image: { readonly dir: string };
  readonly speech: { readonly dir: string };
  readonly transcription: { readonly dir: string };
}

export type HostKind = keyof HostOptions;

export type LoadMessage = {
  readonly [K in HostKind]: {
    readonly type: "load";
    readonly kind: K;
    readonly options: HostOptions[K];
  };
}[HostKind];

export type ToHost =
  | LoadMessage
  | { readonly type: "run"; readonly id: number; readonly job: unknown }
  | { readonly type: "cancel"; readonly id: number };

export type FromHost =
  | { readonly type: "loaded" }
  | { readonly type: "unloadable"; readonly problem: string }
  | { readonly type: "piece"; readonly id: number; readonly piece: unknown }
  | { readonly type: "done"; readonly id: number; readonly result: unknown }
  | { readonly type: "failed"; readonly id: number; readonly error: EngineErrorOptions };
