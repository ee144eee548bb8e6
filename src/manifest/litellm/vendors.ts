/** How a prefix of LiteLLM's model names is said in svc.yaml. Data, not code. */
export interface Prefix {
  /** What the provider is called, unless there are several of them. */
  readonly name: string;
  readonly way: Way;
  /** Its id in the catalogue of vendors, where it has one. */
  readonly vendor?: string;
  /** Of a vendor that is not in that catalogue. */
  readonly baseUrl?: string;
  /** Where LiteLLM looks for a key that the file does not name. */
  readonly keyVariable?: string;
  /** Where it looks for the address. */
  readonly baseVariable?: string;
  /** The AI SDK package that speaks to it. */
  readonly package?: string;
}

export type Way = "openai" | "azure" | "anthropic" | "gemini" | "vertex" | "bedrock" | "ai-sdk";

const known = (vendor: string, keyVariable: string): Prefix => ({
  name: vendor,
  way: "openai",
  vendor,
  keyVariable,
});

const local = (vendor: string, baseVariable: string): Prefix => ({
  name: vendor,
  way: "openai",
  vendor,
  baseVariable,
});

const other = (name: string, baseUrl: string, keyVariable: string): Prefix => ({
  name,
  way: "openai",
  baseUrl,
  keyVariable,
});

const azure: Prefix = {
  name: "azure",
  way: "azure",
  vendor: "azure",
  keyVariable: "AZURE_API_KEY",
  baseVariable: "AZURE_API_BASE",
};
const vertex: Prefix = { name: "vertex", way: "vertex" };
const bedrock: Prefix = { name: "bedrock", way: "bedrock" };
const vllm = local("vllm", "HOSTED_VLLM_API_BASE");
const ollama = local("ollama", "OLLAMA_API_BASE");
const cohere: Prefix = {
  name: "cohere",
  way: "ai-sdk",
  package: "@ai-sdk/cohere",
  keyVariable: "COHERE_API_KEY",
};

export const prefixes: Readonly<Record<string, Prefix>> = {
  openai: known("openai", "OPENAI_API_KEY"),
  azure,
  azure_ai: { ...azure, keyVariable: "AZURE_AI_API_KEY", baseVariable: "AZURE_AI_API_BASE" },
  anthropic: { name: "anthropic", way: "anthropic", keyVariable: "ANTHROPIC_API_KEY" },
  gemini: { name: "gemini", way: "gemini", keyVariable: "GEMINI_API_KEY" },
  vertex_ai: vertex,
  vertex_ai_beta: vertex,
  bedrock,
  bedrock_converse: bedrock,
  groq: known("groq", "GROQ_API_KEY"),
  together_ai: known("together", "TOGETHERAI_API_KEY"),
  fireworks_ai: known("fireworks", "FIREWORKS_API_KEY"),
  mistral: known("mistral", "MISTRAL_API_KEY"),
  deepseek: known("deepseek", "DEEPSEEK_API_KEY"),
  xai: known("xai", "XAI_API_KEY"),
  openrouter: known("openrouter", "OPENROUTER_API_KEY"),
  cerebras: known("cerebras", "CEREBRAS_API_KEY"),
  sambanova: known("sambanova", "SAMBANOVA_API_KEY"),
  nvidia_nim: known("nvidia", "NVIDIA_NIM_API_KEY"),
  deepinfra: known("deepinfra", "DEEPINFRA_API_KEY"),
  nebius: known("nebius", "NEBIUS_API_KEY"),
  hyperbolic: known("hyperbolic", "HYPERBOLIC_API_KEY"),
  novita: known("novita", "NOVITA_API_KEY"),
  moonshot: known("moonshot", "MOONSHOT_API_KEY"),
  perplexity: known("perplexity", "PERPLEXITYAI_API_KEY"),
  huggingface: known("huggingface", "HUGGINGFACE_API_KEY"),
  github: known("github", "GITHUB_API_KEY"),
  ollama,
  ollama_chat: ollama,
  lm_studio: local("lmstudio", "LM_STUDIO_API_BASE"),
  hosted_vllm: vllm,
  vllm,
  llamafile: local("llamacpp", "LLAMAFILE_API_BASE"),
  custom_openai: { name: "openai", way: "openai" },
  openai_like: { name: "openai", way: "openai" },
  litellm_proxy: {
    name: "litellm",
    way: "openai",
    keyVariable: "LITELLM_PROXY_API_KEY",
    baseVariable: "LITELLM_PROXY_API_BASE",
  },
  ai21_chat: other("ai21", "https://api.ai21.com/studio/v1", "AI21_API_KEY"),
  codestral: other("codestral", "https://codestral.mistral.ai/v1", "CODESTRAL_API_KEY"),
  dashscope: other(
    "dashscope",
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "DASHSCOPE_API_KEY",
  ),
  featherless_ai: other("featherless", "https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"),
  lambda_ai: other("lambda", "https://api.lambda.ai/v1", "LAMBDA_API_KEY"),
  meta_llama: other("meta", "https://api.llama.com/compat/v1", "LLAMA_API_KEY"),
  volcengine: other("volcengine", "https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"),
  zai: other("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
  cohere,
  cohere_chat: cohere,
};

/** LiteLLM knows these models without a prefix. */
const bare: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-|ft:|text-embedding-|tts-)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "vertex_ai"],
  [/^command-/, "cohere_chat"],
];

export interface NamedModel {
  /** As it stands in the file; undefined where the file leaves it open. */
  readonly prefix: string | undefined;
  readonly model: string;
}

/** `groq/llama-3` is llama-3 at groq. A vendor that the entry names goes before the prefix. */
export function splitModel(text: string, vendor: string | undefined): NamedModel {
  if (vendor !== undefined)
    return {
      prefix: vendor,
      model: text.startsWith(`${vendor}/`) ? text.slice(vendor.length + 1) : text,
    };
  const slash = text.indexOf("/");
  const prefix = slash === -1 ? undefined : text.slice(0, slash);
  if (prefix !== undefined && Object.hasOwn(prefixes, prefix))
    return { prefix, model: text.slice(slash + 1) };
  const found = bare.find(([pattern]) => pattern.test(text));
  return { prefix: found?.[1], model: text };
}

/** The name that the model has at its vendor, where that is not what LiteLLM calls it. */
export function modelAtVendor(prefix: string, model: string): string {
  switch (prefix) {
    case "azure":
      return model.replace(/^(o_series|gpt5_series|responses)\//, "");
    case "bedrock":
    case "bedrock_converse":
      return model.replace(/^(converse|invoke|converse_like)\//, "");
    case "fireworks_ai":
      return model.includes("/") ? model : `accounts/fireworks/models/${model}`;
    case "openrouter":
      // Its own models are the only ones without a maker's name.
      return model.includes("/") ? model : `openrouter/${model}`;
    default:
      return model;
  }
}
