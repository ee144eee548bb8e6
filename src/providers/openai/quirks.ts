/** Request fields that only servers which know them get: most others refuse what they do not know. */
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

/** How a server differs from the most common form. */
export interface OpenAiQuirks {
  /** The vendor's newer models refuse the old name; most other servers know only that one. */
  readonly capName: "max_tokens" | "max_completion_tokens";
  /** The name of the cap beside a prediction, where it is another one. */
  readonly capBesidePrediction?: "max_tokens";
  /** Where the key goes, if not into a bearer token. */
  readonly keyHeader?: string;
  /** Takes back what it, or another vendor, said beside an answer; strict servers refuse it. */
  readonly takesDetails?: boolean;
  readonly takes?: readonly OptionalField[];
  /** Request fields that it knows by another name. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Request fields that it refuses and that change no answer: they are left out. */
  readonly drops?: readonly string[];
  /** Absent: under the names that the caller used. */
  readonly reasoningBack?: ReasoningForm;
  /** The one field in which it takes a wish for reasoning; absent: all go as they are. */
  readonly reasoningField?: ReasoningField;
  /** Knows no role `developer`; `system` means the same. */
  readonly onlySystem?: true;
  /** Refuses `cache_control`. */
  readonly noCacheControl?: true;
}

export const plainQuirks: OpenAiQuirks = { capName: "max_tokens" };

/** What becomes of one request field that does not go as it is. */
export interface FieldRule {
  readonly name: string;
  /** Its name there; undefined: it is left out. */
  readonly to: string | undefined;
  /** The one value that goes on; any other is left out. */
  readonly only: string | undefined;
}

/**
 * Every other tier costs more or less than the price of the model. `default` can only keep a call
 * from a dearer tier that the operator's account has set.
 */
const pricedTier = "default";

/** The rules of a server's request fields, made once: a request looks at these names alone. */
export function toFieldRules({ takes = [], renames = {}, drops = [] }: OpenAiQuirks) {
  const rules: FieldRule[] = [];
  for (const name of optionalFields)
    if (!takes.includes(name)) rules.push({ name, to: undefined, only: undefined });
  for (const name of drops) rules.push({ name, to: undefined, only: undefined });
  for (const [name, to] of Object.entries(renames)) rules.push({ name, to, only: undefined });
  if (takes.includes("service_tier"))
    rules.push({ name: "service_tier", to: undefined, only: pricedTier });
  return rules;
}
