import type { ProviderKind } from "./provider-kinds.ts";

/** How a server that speaks the chat-completions format differs from the most common form. */
export interface Quirks {
  /** What it calls the cap of an answer. */
  readonly capName: "max_tokens" | "max_completion_tokens";
  /** Knows `store` and `metadata`; most others refuse what they do not know. */
  readonly keepsReplies: boolean;
  /** Where the key goes; a bearer token unless told. */
  readonly keyHeader?: string;
  /** Takes back what models said beside their answers (`reasoning_details`, `extra_content`). */
  readonly takesDetails?: boolean;
}

/** A vendor whose address and habits are known: what an operator need not look up. */
export interface Vendor extends Quirks {
  readonly id: string;
  readonly title: string;
  readonly kind: ProviderKind;
  /** `{name}` stands for what only the operator knows. */
  readonly baseUrl: string;
  /** The variables in which its key is kept by custom. */
  readonly keyVariables: readonly string[];
  /** Runs on the operator's own machine. */
  readonly isLocal?: true;
}

const plain: Quirks = { capName: "max_tokens", keepsReplies: false };
const first: Quirks = { capName: "max_completion_tokens", keepsReplies: true };

const hosted = (
  id: string,
  title: string,
  baseUrl: string,
  keyVariables: readonly string[],
  quirks: Quirks = plain,
): Vendor => ({ id, title, kind: "openai", baseUrl, keyVariables, ...quirks });

const local = (id: string, title: string, port: number): Vendor => ({
  ...hosted(id, title, `http://127.0.0.1:${port}/v1`, []),
  isLocal: true,
});

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
    ...hosted("gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta", [
      "GEMINI_API_KEY",
      "GOOGLE_API_KEY",
      "GOOGLE_GENERATIVE_AI_API_KEY",
    ]),
    kind: "gemini",
  },
  { ...hosted("vertex", "Google Vertex AI", "", []), kind: "vertex" },
  {
    ...hosted("anthropic", "Anthropic", "https://api.anthropic.com/v1", ["ANTHROPIC_API_KEY"]),
    kind: "anthropic",
  },
  {
    ...hosted("bedrock", "Amazon Bedrock", "", ["AWS_BEARER_TOKEN_BEDROCK"]),
    kind: "bedrock",
  },
  hosted("groq", "Groq", "https://api.groq.com/openai/v1", ["GROQ_API_KEY"], {
    capName: "max_completion_tokens",
    keepsReplies: false,
  }),
  hosted("together", "Together AI", "https://api.together.xyz/v1", ["TOGETHER_API_KEY"]),
  hosted("fireworks", "Fireworks AI", "https://api.fireworks.ai/inference/v1", [
    "FIREWORKS_API_KEY",
  ]),
  hosted("mistral", "Mistral AI", "https://api.mistral.ai/v1", ["MISTRAL_API_KEY"]),
  hosted("deepseek", "DeepSeek", "https://api.deepseek.com/v1", ["DEEPSEEK_API_KEY"]),
  hosted("xai", "xAI", "https://api.x.ai/v1", ["XAI_API_KEY"]),
  hosted("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", ["OPENROUTER_API_KEY"], {
    ...plain,
    takesDetails: true,
  }),
  hosted("cerebras", "Cerebras", "https://api.cerebras.ai/v1", ["CEREBRAS_API_KEY"]),
  hosted("sambanova", "SambaNova", "https://api.sambanova.ai/v1", ["SAMBANOVA_API_KEY"]),
  hosted("nvidia", "NVIDIA NIM", "https://integrate.api.nvidia.com/v1", ["NVIDIA_API_KEY"]),
  hosted("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai", ["DEEPINFRA_API_KEY"]),
  hosted("nebius", "Nebius", "https://api.studio.nebius.com/v1", ["NEBIUS_API_KEY"]),
  hosted("hyperbolic", "Hyperbolic", "https://api.hyperbolic.xyz/v1", ["HYPERBOLIC_API_KEY"]),
  hosted("novita", "Novita AI", "https://api.novita.ai/v3/openai", ["NOVITA_API_KEY"]),
  hosted("moonshot", "Moonshot AI", "https://api.moonshot.ai/v1", ["MOONSHOT_API_KEY"]),
  hosted("perplexity", "Perplexity", "https://api.perplexity.ai", ["PERPLEXITY_API_KEY"]),
  hosted("huggingface", "Hugging Face", "https://router.huggingface.co/v1", ["HF_TOKEN"]),
  hosted("github", "GitHub Models", "https://models.github.ai/inference", ["GITHUB_TOKEN"]),
  local("ollama", "Ollama", 11434),
  local("lmstudio", "LM Studio", 1234),
  local("vllm", "vLLM", 8000),
  local("llamacpp", "llama.cpp", 8080),
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
