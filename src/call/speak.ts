export const voices = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;
export type Voice = (typeof voices)[number];
/** Our voices by the upstream's names; `same` where it uses ours. */
export type VoiceMap = "same" | Readonly<Record<Voice, string>>;

export interface SpeakCall {
  readonly text: string;
  readonly voice: Voice;
}

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
