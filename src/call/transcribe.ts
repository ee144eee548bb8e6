/** What audio can be sent as, told by its content. */
export const audioTypes = ["wav", "mp3", "flac", "ogg", "m4a", "webm"] as const;
export type AudioType = (typeof audioTypes)[number];

/** What callers can have a transcript as. */
export const transcriptionFormats = ["json", "text", "srt", "verbose_json", "vtt"] as const;
export type TranscriptionFormat = (typeof transcriptionFormats)[number];

/** How much of the timing a caller needs; each includes those before it. */
export const transcriptDetails = ["text", "segments", "words"] as const;
export type TranscriptDetail = (typeof transcriptDetails)[number];

export interface TranscribeCall {
  readonly audio: {
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly type: AudioType;
    readonly durationS: number;
  };
  /** ISO 639-1, where the caller knows it. */
  readonly language?: string;
  /** Words that precede the audio, or that are likely in it. */
  readonly prompt?: string;
  readonly temperature?: number;
  readonly detail: TranscriptDetail;
}

export interface TranscriptSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  /** What an upstream reports beside that, by the names of the wire. */
  readonly details?: Readonly<Record<string, number | readonly number[]>>;
}

export interface TranscriptWord {
  readonly startS: number;
  readonly endS: number;
  readonly word: string;
}

/** What is unknown is undefined. */
export interface Transcript {
  readonly text: string;
  /** As the upstream names it: a word or a code. */
  readonly language?: string | undefined;
  readonly segments?: readonly TranscriptSegment[] | undefined;
  readonly words?: readonly TranscriptWord[] | undefined;
}

export type TranscriptPart =
  | { readonly type: "text-delta"; readonly text: string }
  /** The last one. */
  | { readonly type: "done"; readonly text: string };

export interface TranscriptStream {
  /** The next parts; undefined after the last. */
  read(): Promise<readonly TranscriptPart[] | undefined>;
  cancel(): void;
}

/** Whole seconds, rounded up, at least one. Sums of frames are off by some billionths. */
export function billedAudioSeconds(durationS: number): number {
  return Math.max(1, Math.ceil(durationS - 1e-6));
}
