import type { Sample } from "./code-block.tsx";
import type { DialectId } from "./dialects.ts";
import { keyVariable, withoutVersion } from "./programs.ts";

export interface FrameworkCall {
  readonly baseUrl: string;
  readonly model: string;
  readonly question: string;
  readonly maxTokens: number;
}

/** One question, asked with the frameworks that many programs use. */
export function frameworkSamples(dialect: DialectId, call: FrameworkCall): readonly Sample[] {
  return [
    { label: "AI SDK", code: aiSdk(dialect, call).join("\n") },
    { label: "LangChain", code: langChain(dialect, call).join("\n") },
  ];
}

interface AiSdkProvider {
  readonly import: string;
  readonly create: string;
  /** Its packages expect the version in the address, also that of Anthropic. */
  readonly name?: string;
}

const aiSdkProviders: Readonly<Record<DialectId, AiSdkProvider>> = {
  chat: {
    import: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";`,
    create: "createOpenAICompatible",
    name: "svc",
  },
  responses: { import: `import { createOpenAI } from "@ai-sdk/openai";`, create: "createOpenAI" },
  messages: {
    import: `import { createAnthropic } from "@ai-sdk/anthropic";`,
    create: "createAnthropic",
  },
};

function aiSdk(dialect: DialectId, call: FrameworkCall): readonly string[] {
  const { baseUrl, model, question, maxTokens } = call;
  const { import: imported, create, name } = aiSdkProviders[dialect];
  return [
    imported,
    `import { generateText } from "ai";`,
    "",
    `const provider = ${create}({`,
    ...(name === undefined ? [] : [`  name: ${JSON.stringify(name)},`]),
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    `  apiKey: process.env.${keyVariable},`,
    "});",
    "",
    "const { text } = await generateText({",
    `  model: provider(${JSON.stringify(model)}),`,
    `  prompt: ${JSON.stringify(question)},`,
    `  maxOutputTokens: ${maxTokens},`,
    "});",
    "console.log(text);",
  ];
}

function langChain(dialect: DialectId, call: FrameworkCall): readonly string[] {
  const { baseUrl, model, question, maxTokens } = call;
  const [from, name] =
    dialect === "messages"
      ? ["langchain_anthropic", "ChatAnthropic"]
      : ["langchain_openai", "ChatOpenAI"];
  const address = dialect === "messages" ? withoutVersion(baseUrl) : baseUrl;
  return [
    "import os",
    `from ${from} import ${name}`,
    "",
    `model = ${name}(`,
    `    base_url=${JSON.stringify(address)},`,
    `    api_key=os.environ["${keyVariable}"],`,
    `    model=${JSON.stringify(model)},`,
    `    max_tokens=${maxTokens},`,
    ...(dialect === "responses" ? ["    use_responses_api=True,"] : []),
    ")",
    `print(model.invoke(${JSON.stringify(question)}).text)`,
  ];
}
