import { toMark } from "../kit/provenance.ts";

/**
 * What is called of a provider package, as far as we use it. The packages' own types differ from
 * version to version, and a package that the operator installs may be of any: what comes from one
 * is looked at before it is believed.
 */

export type Fields = Readonly<Record<string, unknown>>;

export interface LanguageModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
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

/** Whose own fields are known: those that differ from what all have in common. */
export type Family = "anthropic" | "bedrock" | "other";

export function familyOf({ provider }: Pick<LanguageModel, "provider">): Family {
  if (provider.includes("anthropic")) return "anthropic";
  return provider.startsWith("amazon-bedrock") ? "bedrock" : "other";
}

/** Whose signatures are carried by the caller. */
export interface Owner {
  /** Tells one vendor's from another's, and callers no name. */
  readonly mark: string;
  /** Under which names the package may look for them. */
  readonly keys: readonly string[];
}

const owners = new WeakMap<object, Owner>();

export function ownerOf(model: Pick<LanguageModel, "provider">): Owner {
  const known = owners.get(model);
  if (known !== undefined) return known;
  const keys = carriedKeys(model);
  const owner = { mark: toMark(keys.join()), keys };
  owners.set(model, owner);
  return owner;
}

/** Packages use the first word of their name, as it stands or joined, or the second, or both. */
function carriedKeys(model: Pick<LanguageModel, "provider">): readonly string[] {
  const key = optionsKey(model);
  if (familyOf(model) !== "other") return [key];
  const [first = "", second = ""] = model.provider.split(".");
  return [...new Set([key, first, second, joinedWords(`${first}-${second}`)])].filter(Boolean);
}

/** Under which name a package looks for fields of its own. */
export function optionsKey(model: Pick<LanguageModel, "provider">): string {
  switch (familyOf(model)) {
    case "anthropic":
      return "anthropic";
    case "bedrock":
      return "amazonBedrock";
    default: {
      const [name = ""] = model.provider.split(".");
      return joinedWords(name);
    }
  }
}

function joinedWords(name: string): string {
  return name.trim().replace(/[_-]+(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
