import { toMark } from "../kit/provenance.ts";

/**
 * What is called of a provider package, as far as we use it. What comes from one is a vendor's words:
 * it is looked at before it is believed.
 */

export type Fields = Readonly<Record<string, unknown>>;

export interface LanguageModel {
  /** Such as `anthropic.messages`. */
  readonly provider: string;
  /** Patterns of addresses that the vendor fetches itself, by media type. */
  readonly supportedUrls: unknown;
  doGenerate(options: Fields): PromiseLike<Fields>;
  doStream(options: Fields): PromiseLike<{
    readonly stream: ReadableStream<Fields>;
    /** With the body that was sent. */
    readonly request?: unknown;
  }>;
}

export interface EmbeddingModel {
  readonly provider: string;
  readonly maxEmbeddingsPerCall: unknown;
  doEmbed(options: Fields): PromiseLike<Fields>;
}

/** Whose models are called. */
export type Family = "anthropic" | "bedrock";

export function familyOf({ provider }: Pick<LanguageModel, "provider">): Family {
  return provider.startsWith("amazon-bedrock") ? "bedrock" : "anthropic";
}

/** Whose signatures are carried by the caller. */
export interface Owner {
  /** Tells one vendor's from another's, and callers no name. */
  readonly mark: string;
  /** Under which name the package looks for them. */
  readonly key: string;
}

const owners: Readonly<Record<Family, Owner>> = {
  anthropic: { mark: toMark("anthropic"), key: "anthropic" },
  bedrock: { mark: toMark("amazonBedrock"), key: "amazonBedrock" },
};

export const ownerOf = (model: Pick<LanguageModel, "provider">): Owner => owners[familyOf(model)];

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
