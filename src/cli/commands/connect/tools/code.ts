import { curlCommand } from "../../../../base/text/curl.ts";
import { fromVariable, keyVariable, setKey, type Tool } from "../tool.ts";

const text = (...lines: readonly string[]) => lines.join("\n");
const quoted = (value: string) => JSON.stringify(value);
/** In the program of the reader: ours takes the environment from its settings alone. */
const keyInNode = ["process", "env", keyVariable].join(".");

const openaiSdk: Tool = {
  name: "openai-sdk",
  title: "OpenAI SDK",
  dialect: "responses",
  holdsKey: false,
  connect: ({ baseUrl, model }) => ({
    environment: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: fromVariable },
    samples: [
      {
        title: "Python",
        language: "python",
        text: text(
          "from openai import OpenAI",
          "",
          "client = OpenAI()",
          `reply = client.responses.create(model=${quoted(model)}, input="Hello")`,
          "print(reply.output_text)",
        ),
      },
      {
        title: "TypeScript",
        language: "ts",
        text: text(
          `import OpenAI from "openai";`,
          "",
          "const client = new OpenAI();",
          `const reply = await client.responses.create({ model: ${quoted(model)}, input: "Hello" });`,
          "console.log(reply.output_text);",
        ),
      },
    ],
    steps: [setKey],
  }),
};

const anthropicSdk: Tool = {
  name: "anthropic-sdk",
  title: "Anthropic SDK",
  dialect: "messages",
  holdsKey: false,
  connect: ({ rootUrl, model }) => ({
    environment: { ANTHROPIC_BASE_URL: rootUrl, ANTHROPIC_API_KEY: fromVariable },
    samples: [
      {
        title: "Python",
        language: "python",
        text: text(
          "from anthropic import Anthropic",
          "",
          "client = Anthropic()",
          "reply = client.messages.create(",
          `    model=${quoted(model)},`,
          "    max_tokens=1000,",
          `    messages=[{"role": "user", "content": "Hello"}],`,
          ")",
          "print(reply.content[0].text)",
        ),
      },
      {
        title: "TypeScript",
        language: "ts",
        text: text(
          `import Anthropic from "@anthropic-ai/sdk";`,
          "",
          "const client = new Anthropic();",
          "const reply = await client.messages.create({",
          `  model: ${quoted(model)},`,
          "  max_tokens: 1000,",
          `  messages: [{ role: "user", content: "Hello" }],`,
          "});",
          "console.log(reply.content);",
        ),
      },
    ],
    steps: [setKey],
  }),
};

const aiSdk: Tool = {
  name: "ai-sdk",
  title: "AI SDK",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model }) => ({
    samples: [
      {
        title: "TypeScript",
        language: "ts",
        text: text(
          `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";`,
          `import { generateText } from "ai";`,
          "",
          "const svc = createOpenAICompatible({",
          `  name: "svc",`,
          `  baseURL: ${quoted(baseUrl)},`,
          `  apiKey: ${keyInNode},`,
          "});",
          `const { text } = await generateText({ model: svc(${quoted(model)}), prompt: "Hello" });`,
          "console.log(text);",
        ),
      },
    ],
    steps: [setKey],
  }),
};

const langchain: Tool = {
  name: "langchain",
  title: "LangChain",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model }) => ({
    samples: [
      {
        title: "Python",
        language: "python",
        text: text(
          "import os",
          "",
          "from langchain_openai import ChatOpenAI",
          "",
          "chat = ChatOpenAI(",
          `    model=${quoted(model)},`,
          `    base_url=${quoted(baseUrl)},`,
          `    api_key=os.environ["${keyVariable}"],`,
          ")",
          `print(chat.invoke("Hello").content)`,
        ),
      },
      {
        title: "TypeScript",
        language: "ts",
        text: text(
          `import { ChatOpenAI } from "@langchain/openai";`,
          "",
          "const chat = new ChatOpenAI({",
          `  model: ${quoted(model)},`,
          `  apiKey: ${keyInNode},`,
          `  configuration: { baseURL: ${quoted(baseUrl)} },`,
          "});",
          `console.log((await chat.invoke("Hello")).content);`,
        ),
      },
    ],
    steps: [setKey],
  }),
};

const curl: Tool = {
  name: "curl",
  title: "curl",
  dialect: "chat",
  holdsKey: false,
  connect: ({ baseUrl, model }) => ({
    samples: [
      {
        title: "Shell",
        language: "sh",
        text: curlCommand(
          {
            url: `${baseUrl}/chat/completions`,
            bearer: `\${${keyVariable}:?}`,
            body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
          },
          { separator: " \\\n  " },
        ),
      },
    ],
    steps: [setKey],
  }),
};

export const libraries: readonly Tool[] = [openaiSdk, anthropicSdk, aiSdk, langchain, curl];
