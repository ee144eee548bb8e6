import type { VoiceMap } from "./speak.ts";

export type TrialKind = "chat" | "stream" | "embeddings" | "media" | "speech" | "transcription";

/** How long an upstream may take. */
export interface TrialLimits {
  /** From when on a silent upstream is looked at: can a connection be made at all? */
  readonly lookMs: number;
  /** Until the first word of its answer. */
  readonly firstByteMs?: number;
  readonly withinMs: number;
}

/** One real call of a kind, as small as it can be, to see whether an upstream works. */
export interface Trial {
  readonly kind: TrialKind;
  /** By the upstream's own name. */
  readonly model: string;
  readonly voices?: VoiceMap | undefined;
  /** The model's own time limits, where it has any. */
  readonly limits?: Partial<TrialLimits> | undefined;
}
