import { plainQuirks as plain, type Quirks } from "../call/quirks.ts";
import type { UsableKind } from "./provider-kinds.ts";

/** What its page says beside its habits; see docs/providers. */
export interface VendorNotes {
  /** Request fields that it refuses and that change the answer: they go on, and the caller gets 400. */
  readonly refuses?: readonly string[];
  /** How it counts and what it bills. */
  readonly counting?: readonly string[];
  /** What its replies carry that others do not. */
  readonly replies?: readonly string[];
}

/** A vendor whose address and habits are known: what an operator need not look up. */
export interface Vendor extends Quirks, VendorNotes {
  readonly id: string;
  readonly title: string;
  readonly kind: UsableKind;
  /** `{name}` stands for what only the operator knows. */
  readonly baseUrl: string;
  /** The variables in which its key is kept by custom. */
  readonly keyVariables: readonly string[];
  /** Runs on the operator's own machine. */
  readonly isLocal?: true;
}

const first: Quirks & VendorNotes = {
  cacheControl: "dropped",
  capName: "max_completion_tokens",
  // Its docs name max_completion_tokens among what a prediction cannot be used with.
  capBesidePrediction: "max_tokens",
  takes: ["store", "metadata", "prompt_cache_key", "prediction", "service_tier"],
  reasoningBack: "none",
  reasoningField: "reasoning_effort",
  hasResponses: true,
  ignoresInSpeech: [{ modelPrefix: "tts-1", options: ["instructions"] }],
  plainTranscripts: ["gpt-4o-"],
  counting: [
    "`completion_tokens` includes reasoning and rejected prediction tokens.",
    "Cached input is `prompt_tokens_details.cached_tokens`.",
  ],
};
const likeSystem = { ...plain, onlySystem: true } as const;

const hosted = (
  id: string,
  title: string,
  baseUrl: string,
  keyVariables: readonly string[],
  quirks: Quirks & VendorNotes = likeSystem,
): Vendor => ({ id, title, kind: "openai", baseUrl, keyVariables, ...quirks });

const local = (id: string, title: string, port: number, quirks: Quirks & VendorNotes): Vendor => ({
  ...hosted(id, title, `http://127.0.0.1:${port}/v1`, [], quirks),
  isLocal: true,
});

const groq: Quirks & VendorNotes = {
  capName: "max_completion_tokens",
  noCompletions: true,
  reasoningBack: "reasoning",
  reasoningField: "reasoning_effort",
  onlySystem: true,
  cacheControl: "dropped",
  ignoresInSpeech: [{ modelPrefix: "", options: ["instructions"] }],
  refuses: ["logprobs", "top_logprobs", "logit_bias", "n above 1"],
  counting: ["Cached input is `prompt_tokens_details.cached_tokens`."],
  replies: [
    "Reasoning arrives as `reasoning`.",
    "`service_tier` is `on_demand`, a Groq-specific value.",
  ],
};

const mistral: Quirks & VendorNotes = {
  ...likeSystem,
  noCompletions: true,
  takes: ["prediction"],
  renames: { seed: "random_seed" },
  drops: ["user"],
  reasoningBack: "parts",
  reasoningField: "reasoning_effort",
  cacheControl: "dropped",
  refuses: ["logprobs", "top_logprobs", "logit_bias", "top_k"],
  counting: [
    "Cached input is `num_cached_tokens`, or `prompt_tokens_details.cached_tokens`.",
    "With audio input (`prompt_audio_seconds`), `total_tokens` includes the audio, which counts as input.",
  ],
  replies: ["Reasoning arrives as `thinking` parts of the content."],
};

const xai: Quirks & VendorNotes = {
  ...likeSystem,
  cacheControl: "dropped",
  reasoningBack: "reasoning_content",
  reasoningField: "reasoning_effort",
  counting: [
    "`completion_tokens` excludes reasoning and `total_tokens` includes it. Output is `total_tokens` minus `prompt_tokens`.",
    "`cost_in_usd_ticks` (10,000,000,000 per USD) agrees with this.",
  ],
};

const openrouter: Quirks & VendorNotes = {
  ...plain,
  cacheControl: "taken",
  takesBack: { details: true },
  reasoningBack: "reasoning",
  reasoningField: "reasoning",
  counting: [
    "Cached input is `prompt_tokens_details.cached_tokens`. Cache writes are `cache_write_tokens`.",
    "`cost` is what OpenRouter charges, in USD.",
  ],
  replies: ["Reasoning arrives as `reasoning`; signed reasoning arrives in `reasoning_details`."],
};

const cerebras: Quirks & VendorNotes = {
  ...likeSystem,
  takes: ["prediction"],
  reasoningBack: "reasoning",
  reasoningField: "reasoning_effort",
  cacheControl: "dropped",
  refuses: ["logit_bias"],
  counting: ["`completion_tokens` includes reasoning and rejected prediction tokens."],
  replies: ["Reasoning arrives as `reasoning`."],
};

const moonshot: Quirks & VendorNotes = {
  ...likeSystem,
  noCompletions: true,
  takes: ["prompt_cache_key"],
  reasoningBack: "reasoning_content",
  reasoningField: "thinking",
  cacheControl: "dropped",
  refuses: ['tool_choice "required"', "temperature above 1"],
  counting: ["Cached input is `usage.cached_tokens`."],
};

const perplexity: Quirks & VendorNotes = {
  ...likeSystem,
  cacheControl: "dropped",
  noCompletions: true,
  reasoningBack: "none",
  counting: [
    "Research models report `reasoning_tokens` in addition to `completion_tokens`. Both count as output.",
    "Search fees and `citation_tokens` have no price class. Include them in the model's price.",
  ],
  replies: [
    "`citations` and `search_results` are fields of the reply. In a stream, they are in the last event that has a choice.",
  ],
};

const google: Quirks & VendorNotes = {
  ...plain,
  // Also where it is called in the chat-completions format.
  takesBack: { extras: ["google"] },
  replies: [
    "Reasoning signatures arrive in `extra_content` of the message or the tool call.",
    "If a filter stops a prompt or a reply, `finish_reason` is `content_filter`.",
  ],
  counting: [
    "Input is `promptTokenCount` plus `toolUsePromptTokenCount`. This includes `cachedContentTokenCount`.",
    "Output is `candidatesTokenCount` plus `thoughtsTokenCount`, unless `totalTokenCount` shows that the former includes the latter.",
    "If a filter stops a reply before its first token, only the prompt counts.",
  ],
};

const anthropic: VendorNotes = {
  replies: ["Signed reasoning arrives in `reasoning_details`."],
  counting: [
    "Input is `input_tokens` plus `cache_read_input_tokens` plus `cache_creation_input_tokens`.",
    "`output_tokens` includes thinking.",
  ],
};

const bedrock: VendorNotes = {
  replies: ["Signed reasoning arrives in `reasoning_details`."],
  counting: [
    "Input is `inputTokens` plus `cacheReadInputTokens` plus `cacheWriteInputTokens`.",
    "`outputTokens` includes reasoning.",
  ],
};

export const vendors: readonly Vendor[] = [
  hosted("openai", "OpenAI", "https://api.openai.com/v1", ["OPENAI_API_KEY"], first),
  {
    ...hosted(
      "azure",
      "Azure OpenAI",
      "https://{resource}.openai.azure.com/openai/v1",
      ["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
      first,
    ),
    keyHeader: "api-key",
  },
  {
    ...hosted(
      "gemini",
      "Google Gemini",
      "https://generativelanguage.googleapis.com/v1beta",
      ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
      google,
    ),
    kind: "gemini",
  },
  { ...hosted("vertex", "Google Vertex AI", "", [], google), kind: "vertex" },
  {
    ...hosted("anthropic", "Anthropic", "https://api.anthropic.com/v1", ["ANTHROPIC_API_KEY"], {
      ...plain,
      ...anthropic,
    }),
    kind: "anthropic",
  },
  {
    ...hosted("bedrock", "Amazon Bedrock", "", ["AWS_BEARER_TOKEN_BEDROCK"], {
      ...plain,
      ...bedrock,
    }),
    kind: "bedrock",
  },
  hosted("groq", "Groq", "https://api.groq.com/openai/v1", ["GROQ_API_KEY"], groq),
  hosted("together", "Together AI", "https://api.together.xyz/v1", ["TOGETHER_API_KEY"], {
    ...likeSystem,
    cacheControl: "dropped",
    replies: ["Reasoning arrives as `reasoning`."],
  }),
  hosted(
    "fireworks",
    "Fireworks AI",
    "https://api.fireworks.ai/inference/v1",
    ["FIREWORKS_API_KEY"],
    {
      ...likeSystem,
      // It refuses fields that it does not know.
      cacheControl: "dropped",
      takes: ["prediction"],
      reasoningBack: "reasoning_content",
      reasoningField: "reasoning_effort",
    },
  ),
  hosted("mistral", "Mistral AI", "https://api.mistral.ai/v1", ["MISTRAL_API_KEY"], mistral),
  hosted("deepseek", "DeepSeek", "https://api.deepseek.com/v1", ["DEEPSEEK_API_KEY"], {
    ...likeSystem,
    cacheControl: "dropped",
    // Its beta address has them.
    noCompletions: true,
    reasoningBack: "reasoning_content",
    reasoningField: "thinking",
    counting: [
      "Cached input is `prompt_cache_hit_tokens`, or `prompt_tokens_details.cached_tokens`.",
    ],
  }),
  hosted("xai", "xAI", "https://api.x.ai/v1", ["XAI_API_KEY"], xai),
  hosted(
    "openrouter",
    "OpenRouter",
    "https://openrouter.ai/api/v1",
    ["OPENROUTER_API_KEY"],
    openrouter,
  ),
  hosted("cerebras", "Cerebras", "https://api.cerebras.ai/v1", ["CEREBRAS_API_KEY"], cerebras),
  hosted("sambanova", "SambaNova", "https://api.sambanova.ai/v1", ["SAMBANOVA_API_KEY"], {
    ...likeSystem,
    cacheControl: "dropped",
  }),
  hosted("nvidia", "NVIDIA NIM", "https://integrate.api.nvidia.com/v1", ["NVIDIA_API_KEY"], {
    ...likeSystem,
    // It refuses fields that it does not know.
    cacheControl: "dropped",
  }),
  hosted("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai", ["DEEPINFRA_API_KEY"]),
  hosted("nebius", "Nebius", "https://api.studio.nebius.com/v1", ["NEBIUS_API_KEY"]),
  hosted("hyperbolic", "Hyperbolic", "https://api.hyperbolic.xyz/v1", ["HYPERBOLIC_API_KEY"]),
  hosted("novita", "Novita AI", "https://api.novita.ai/v3/openai", ["NOVITA_API_KEY"]),
  hosted("moonshot", "Moonshot AI", "https://api.moonshot.ai/v1", ["MOONSHOT_API_KEY"], moonshot),
  hosted(
    "perplexity",
    "Perplexity",
    "https://api.perplexity.ai",
    ["PERPLEXITY_API_KEY"],
    perplexity,
  ),
  hosted("huggingface", "Hugging Face", "https://router.huggingface.co/v1", ["HF_TOKEN"], {
    ...likeSystem,
    noCompletions: true,
  }),
  hosted("github", "GitHub Models", "https://models.github.ai/inference", ["GITHUB_TOKEN"], {
    ...plain,
    noCompletions: true,
  }),
  local("ollama", "Ollama", 11434, {
    ...likeSystem,
    reasoningBack: "reasoning",
    replies: ["Reasoning arrives as `reasoning`."],
  }),
  local("lmstudio", "LM Studio", 1234, plain),
  // Models of some families tell both roles apart there.
  local("vllm", "vLLM", 8000, {
    ...plain,
    replies: ["Reasoning arrives as `reasoning`; older versions send `reasoning_content`."],
  }),
  local("llamacpp", "llama.cpp", 8080, { ...likeSystem, reasoningBack: "reasoning_content" }),
];

export function findVendor(id: string): Vendor | undefined {
  return vendors.find((vendor) => vendor.id === id);
}

/** The habits of a server: of the vendor that was named, else of the one whose address it has. */
export function quirksOf(vendorId: string | undefined, baseUrl: string): Quirks {
  const named = vendorId === undefined ? undefined : findVendor(vendorId);
  return named ?? vendors.find((vendor) => isAddressOf(vendor, baseUrl)) ?? plain;
}

function isAddressOf(vendor: Vendor, baseUrl: string): boolean {
  if (vendor.isLocal === true || vendor.baseUrl === "" || !URL.canParse(baseUrl)) return false;
  const ownHost = new URL(vendor.baseUrl.replace("{resource}", "resource")).hostname;
  const { hostname } = new URL(baseUrl);
  return ownHost.startsWith("resource.")
    ? hostname.endsWith(ownHost.slice("resource".length))
    : hostname === ownHost;
}

/**
 * Whether an address belongs to the vendor, so that its key may be sent there. If the address is empty,
 * the provider's kind supplies the vendor's own.
 */
export function isOwnAddress(
  vendor: Vendor,
  { kind, baseUrl }: { readonly kind: string; readonly baseUrl: string },
): boolean {
  if (baseUrl === "") return vendor.kind === kind && vendor.baseUrl === "";
  return isAddressOf(vendor, baseUrl) && new URL(baseUrl).protocol === "https:";
}
