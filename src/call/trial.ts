import type { VoiceMap } from "./speak.ts";

export type TrialKind = "chat" | "stream" | "embeddings" | "media" | "speech";

/** One real call of a kind, as small as it can be, to see whether an upstream works. */
export interface Trial {
  readonly kind: TrialKind;
  /** By the upstream's own name. */
  readonly model: string;
  readonly voices?: VoiceMap | undefined;
}
