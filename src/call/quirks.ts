import type { SpeakOption } from "./speak.ts";

/** Request fields that only vendors which know them get: most others refuse what they do not know. */
export const optionalFields = [
  "store",
  "metadata",
  "prompt_cache_key",
  "prediction",
  "service_tier",
] as const;
export type OptionalField = (typeof optionalFields)[number];

/** How reasoning of earlier answers is sent back; `parts`: as parts of the content. */
export type ReasoningForm = "reasoning_content" | "reasoning" | "parts" | "none";
export type ReasoningField = "reasoning_effort" | "reasoning" | "thinking";

export interface TakenBack {
  /** `reasoning_details`, apart from those that an adapter of ours has made for another vendor. */
  readonly details?: true;
  /** The names in `extra_content` that are its own. */
  readonly extras?: readonly string[];
}

/** How a server that speaks the chat-completions format differs from the most common form. */
export interface Quirks {
  /** What it calls the cap of an answer. */
  readonly capName: "max_tokens" | "max_completion_tokens";
  /** What it calls the cap beside a `prediction`, where that is another name. */
  readonly capBesidePrediction?: "max_tokens";
  /** Where the key goes; a bearer token by default. */
  readonly keyHeader?: string;
  /** What it takes back of what models said beside their answers. Absent: nothing. */
  readonly takesBack?: TakenBack;
  readonly takes?: readonly OptionalField[];
  /** Request fields that it knows by another name. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Request fields that it refuses and that change no answer: they are left out. */
  readonly drops?: readonly string[];
  /**
   * How reasoning of earlier answers goes back: by this name, as `thinking` parts of the content, or
   * not at all. Absent: under the names that the caller used.
   */
  readonly reasoningBack?: ReasoningForm;
  /**
   * The one field in which it takes a wish for reasoning: the other names of it are translated.
   * Absent: they go as they are.
   */
  readonly reasoningField?: ReasoningField;
  /** Knows no role `developer`: it goes as `system`, which means the same. */
  readonly onlySystem?: true;
  /**
   * Whether it takes `cache_control`; where it does not, or has no use for it, it is left out. Absent:
   * unknown, so that its refusal is believed.
   */
  readonly cacheControl?: "taken" | "dropped";
  /** Has no legacy completions. */
  readonly noCompletions?: true;
  /** Has the Responses endpoint: requests in that format reach it as they are. */
  readonly hasResponses?: boolean;
  /** Speech options that its models ignore, by how a model's name begins. Absent: both are sent. */
  readonly ignoresInSpeech?: readonly IgnoredInSpeech[];
  /** Transcription models that give text without any times, by how their names begin. */
  readonly plainTranscripts?: readonly string[];
}

interface IgnoredInSpeech {
  readonly modelPrefix: string;
  readonly options: readonly SpeakOption[];
}

export const plainQuirks: Quirks = { capName: "max_tokens" };
