import { findVendor } from "../../catalog/vendors.ts";

/** How a prefix of LiteLLM's model names is written in svc.yaml. Data, not code. */
export interface Prefix {
  /** What the provider is called, unless there are several of them. */
  readonly name: string;
  readonly way: "openai" | "azure" | "anthropic" | "gemini" | "vertex" | "bedrock" | "none";
  /** Its id in the catalog of vendors, where it has one. */
  readonly vendor?: string;
  /** Of a vendor that is not in that catalog. */
  readonly baseUrl?: string;
  /** Where LiteLLM looks for a key that the file does not name. */
  readonly keyVariable?: string;
  /** Where it looks for the address. */
  readonly baseVariable?: string;
}

/** Vendors that LiteLLM calls otherwise, or whose key it keeps in a variable of another name. */
const known: Readonly<Record<string, readonly [vendor: string, keyVariable: string]>> = {
  together_ai: ["together", "TOGETHERAI_API_KEY"],
  fireworks_ai: ["fireworks", "FIREWORKS_API_KEY"],
  nvidia_nim: ["nvidia", "NVIDIA_NIM_API_KEY"],
  perplexity: ["perplexity", "PERPLEXITYAI_API_KEY"],
};

/** Servers of one's own, and the variable of their address. */
const local: Readonly<Record<string, readonly [vendor: string, baseVariable: string]>> = {
  ollama: ["ollama", "OLLAMA_API_BASE"],
  ollama_chat: ["ollama", "OLLAMA_API_BASE"],
  lm_studio: ["lmstudio", "LM_STUDIO_API_BASE"],
  hosted_vllm: ["vllm", "HOSTED_VLLM_API_BASE"],
  vllm: ["vllm", "HOSTED_VLLM_API_BASE"],
  llamafile: ["llamacpp", "LLAMAFILE_API_BASE"],
};

/** Compatible vendors that are not in the catalog. */
const others: Readonly<Record<string, readonly [baseUrl: string, keyVariable: string]>> = {
  ai21_chat: ["https://api.ai21.com/studio/v1", "AI21_API_KEY"],
  codestral: ["https://codestral.mistral.ai/v1", "CODESTRAL_API_KEY"],
  dashscope: ["https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"],
  featherless_ai: ["https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"],
  lambda_ai: ["https://api.lambda.ai/v1", "LAMBDA_API_KEY"],
  meta_llama: ["https://api.llama.com/compat/v1", "LLAMA_API_KEY"],
  volcengine: ["https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"],
  zai: ["https://api.z.ai/api/paas/v4", "ZAI_API_KEY"],
};

const azure = { name: "azure", way: "azure", vendor: "azure" } as const;
const vertex = { name: "vertex", way: "vertex" } as const;
const bedrock = { name: "bedrock", way: "bedrock" } as const;
/** Its compatible endpoint refuses `stream_options`, without which streams report no usage. */
const cohere = { name: "cohere", way: "none" } as const;

const special: Readonly<Record<string, Prefix>> = {
  azure: { ...azure, keyVariable: "AZURE_API_KEY", baseVariable: "AZURE_API_BASE" },
  azure_ai: { ...azure, keyVariable: "AZURE_AI_API_KEY", baseVariable: "AZURE_AI_API_BASE" },
  anthropic: { name: "anthropic", way: "anthropic", keyVariable: "ANTHROPIC_API_KEY" },
  gemini: { name: "gemini", way: "gemini", keyVariable: "GEMINI_API_KEY" },
  vertex_ai: vertex,
  vertex_ai_beta: vertex,
  bedrock,
  bedrock_converse: bedrock,
  cohere,
  cohere_chat: cohere,
  custom_openai: { name: "openai", way: "openai" },
  openai_like: { name: "openai", way: "openai" },
  litellm_proxy: {
    name: "litellm",
    way: "openai",
    keyVariable: "LITELLM_PROXY_API_KEY",
    baseVariable: "LITELLM_PROXY_API_BASE",
  },
};

export function findPrefix(prefix = ""): Prefix | undefined {
  const way = "openai";
  const rowOf = (rows: typeof known) => (Object.hasOwn(rows, prefix) ? rows[prefix] : undefined);
  const [vendor, keyVariable = ""] = rowOf(known) ?? [];
  if (vendor !== undefined) return { name: vendor, way, vendor, keyVariable };
  const [server, baseVariable = ""] = rowOf(local) ?? [];
  if (server !== undefined) return { name: server, way, vendor: server, baseVariable };
  const [baseUrl, variable = ""] = rowOf(others) ?? [];
  if (baseUrl !== undefined)
    return { name: prefix.split("_")[0] ?? "", way, baseUrl, keyVariable: variable };
  if (Object.hasOwn(special, prefix)) return special[prefix];
  const own = findVendor(prefix);
  if (own?.kind !== "openai") return undefined;
  const name = own.id;
  return { name, way, vendor: name, keyVariable: `${name.toUpperCase()}_API_KEY` };
}

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
  const [first = "", ...rest] = text.split("/");
  if (vendor !== undefined)
    return { prefix: vendor, model: first === vendor ? rest.join("/") : text };
  if (rest.length > 0 && findPrefix(first) !== undefined)
    return { prefix: first, model: rest.join("/") };
  return { prefix: bare.find(([pattern]) => pattern.test(text))?.[1], model: text };
}

/** The name that the model has at its vendor, where that is not what LiteLLM calls it. */
export function modelAtVendor({ prefix, model }: NamedModel): string {
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
