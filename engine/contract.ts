/** What the engine's server asks of a model, and what comes back. A model lives in a process of its own. */
export interface RunContext<Piece> {
  /** Aborted when the caller has left: stop at the next chance. */
  readonly signal: AbortSignal;
  readonly emit: (piece: Piece) => void;
}

export interface Model<Job, Piece, Result> {
  run(job: Job, context: RunContext<Piece>): Promise<Result>;
}

export interface ChatJob {
  readonly messages: readonly {
    readonly role: "system" | "user" | "assistant";
    readonly text: string;
  }[];
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop: readonly string[];
  readonly seed?: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** The answer is JSON: of any kind, or of this schema. */
  readonly json?: "any" | Readonly<Record<string, unknown>>;
}

export interface ChatResult {
  readonly finishReason: "stop" | "length";
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface TextJob {
  readonly texts: readonly string[];
  readonly dimensions: number;
}

export interface TextResult {
  /** Of unit length, one a text. */
  readonly vectors: readonly Float32Array[];
  /** The model's own count, after cutting. */
  readonly tokens: number;
}

export type ImageJob =
  | { readonly kind: "images"; readonly images: readonly Uint8Array[] }
  | { readonly kind: "video"; readonly video: Uint8Array };

export interface ImageResult {
  /** Of unit length: one an image, or one for the video. */
  readonly vectors: readonly Float32Array[];
}

export const voiceNames = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;
export type VoiceName = (typeof voiceNames)[number];

export interface SpeechJob {
  readonly text: string;
  readonly voice: VoiceName;
  /** `flash` speaks sentence by sentence, `pro` whole paragraphs with even loudness. */
  readonly style: "flash" | "pro";
}

/** A piece of speech: 24 kHz, mono, 16-bit little-endian samples. */
export type SpeechPiece = Int16Array;

export interface SpeechResult {
  readonly samples: number;
}

export interface TranscriptionJob {
  readonly audio: Uint8Array;
  /** A code or the English name of a language; detected where there is none. */
  readonly language?: string;
}

/** A segment as it is recognized; without text, a sign of life. */
export interface TranscriptionPiece {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
}

export interface TranscriptionResult {
  readonly language: string;
  readonly durationS: number;
}

/** An answer that is not the model's output: told to the caller as it stands. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;

  constructor({ status = 400, code = "invalid_request", message, param }: EngineErrorOptions) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

export interface EngineErrorOptions {
  readonly status?: number;
  readonly code?: string;
  readonly message: string;
  /** The field of the request, as in `input[3]`. */
  readonly param?: string | undefined;
}
