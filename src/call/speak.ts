export const voices = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;
export type Voice = (typeof voices)[number];
/** Our voices by the upstream's names; `same` where it uses ours. */
export type VoiceMap = "same" | Readonly<Record<Voice, string>>;

export interface SpeakCall {
  readonly text: string;
  readonly voice: Voice;
  /** How fast, as a factor; absent: 1. Only for providers that take it. */
  readonly speed?: number;
  /** How to speak, in words. Only for providers that take them. */
  readonly instructions?: string;
}

/** What a speech call may ask for beyond text and voice; not every provider takes it. */
export type SpeakOption = "speed" | "instructions";
export const speakOptions: readonly SpeakOption[] = ["speed", "instructions"];

/** 24 kHz, mono, 16-bit little-endian PCM without a header. */
export interface SpeakStream {
  /** Known before the first byte, or not. */
  readonly lengthBytes: number | undefined;
  read(): Promise<Uint8Array | undefined>;
  cancel(): void;
  /** What the upstream has counted, as far as it has told; complete at the end. */
  usage?(): SpeakUsage | undefined;
}

/** What is unknown is undefined, never 0. */
export interface SpeakUsage {
  readonly inputTokens?: number | undefined;
  readonly audioTokens?: number | undefined;
}
