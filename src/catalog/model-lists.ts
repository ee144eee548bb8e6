/**
 * Vendors whose list has every model that a key can call. The others list deployments not at all
 * (Azure), serve models that they do not list, or answer to any name (llama.cpp): what is absent
 * there says nothing.
 */
const withCompleteLists: ReadonlySet<string> = new Set([
  "openai",
  "gemini",
  "anthropic",
  "groq",
  "mistral",
  "deepseek",
  "openrouter",
  "cerebras",
  "moonshot",
  "ollama",
  "vllm",
]);

/** Vendors that list their models without a key, so a list proves nothing about one. */
const withPublicLists: ReadonlySet<string> = new Set([
  "openrouter",
  "deepinfra",
  "huggingface",
  "novita",
  "nvidia",
]);

export const hasPublicList = (vendor: string | undefined): boolean =>
  vendor !== undefined && withPublicLists.has(vendor);

/** As many as adapters read: a list of this length may have been cut. */
const mostModels = 2_000;

export function hasCompleteList(vendor: string | undefined): boolean {
  return vendor !== undefined && withCompleteLists.has(vendor);
}

/** The names that a vendor's list does not have; undefined where the list cannot tell. */
export function namesMissing(options: {
  readonly vendor: string | undefined;
  /** As routes have them. */
  readonly names: readonly string[];
  /** As the vendor lists them. */
  readonly ids: readonly string[];
}): readonly string[] | undefined {
  const { vendor, names, ids } = options;
  if (!hasCompleteList(vendor) || ids.length === 0 || ids.length >= mostModels) return undefined;
  const known = new Set<string>();
  for (const id of ids) {
    known.add(id);
    // Some vendors list versions only, and answer to the name without the date.
    known.add(id.replace(/-(\d{4}-\d\d-\d\d|\d{3,8})$/, ""));
  }
  return names.filter(
    (name) => !isNeverListed(name) && !otherNames(name).some((one) => known.has(one)),
  );
}

/** What belongs to one account: tuned models and presets. */
function isNeverListed(name: string): boolean {
  return name.startsWith("tunedModels/") || name.startsWith("@") || name.startsWith("openrouter/");
}

function otherNames(name: string): readonly string[] {
  const bare = name.replace(/^models\//, "");
  const tag = bare.lastIndexOf(":");
  return [
    bare,
    bare.replace(/-latest$/, ""),
    // Anthropic's names of first versions: claude-sonnet-4-0.
    bare.replace(/-0$/, ""),
    // Ollama's usual tag, and OpenRouter's variants of a model.
    ...(tag < 0 ? [`${bare}:latest`] : [bare.slice(0, tag)]),
  ];
}
