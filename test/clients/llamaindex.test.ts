import { setDefaultTimeout } from "bun:test";
import type { ChatMessage, ToolCallLLMMessageOptions } from "@llamaindex/core/llms";
import { FunctionTool } from "@llamaindex/core/tools";
import { OpenAI, OpenAIEmbedding } from "@llamaindex/openai";
import { z } from "zod";
import {
  type Asked,
  type ChatClient,
  chatClientChecks,
  prompt,
  weatherTool,
} from "./chat-client.ts";
import { openStage, type Stage } from "./stage.ts";
import { clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

type Message = ChatMessage<ToolCallLLMMessageOptions>;
const place = z.object({ city: z.string(), unit: z.string() });
const question: Message = { role: "user", content: prompt };

const chatAt = ({ gateway }: Stage, { apiKey, model, retries = 0, ...options }: Asked = {}) =>
  new OpenAI({
    model: model ?? "svc-3-flash",
    apiKey: apiKey ?? gateway.key,
    baseURL: gateway.baseUrl,
    maxRetries: retries,
    additionalChatOptions: options.stream ? { stream_options: { include_usage: true } } : {},
    ...options,
  });

async function partsOf<Part>(stream: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

interface Raw {
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens: number };
  };
}

/** LlamaIndex on the gateway. */
const clientOf = (stage: Stage): ChatClient => ({
  async ask(asked) {
    const { system } = asked;
    const chat = chatAt(stage, asked);
    const messages: Message[] = [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      question,
    ];
    const said = (text: unknown, raw: unknown) => {
      const { usage } = raw as Raw;
      return {
        text: String(text),
        usage: {
          input: usage.prompt_tokens,
          output: usage.completion_tokens,
          cached: usage.prompt_tokens_details?.cached_tokens,
        },
      };
    };
    if (asked.stream === true) {
      const parts = await partsOf(await chat.chat({ messages, stream: true }));
      return said(parts.map(({ delta }) => delta).join(""), parts.at(-1)?.raw);
    }
    const { message, raw } = await chat.chat({ messages });
    return said(message.content, raw);
  },
  async askAbout(url) {
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image_url" as const, image_url: { url } },
    ];
    await chatAt(stage).chat({ messages: [{ role: "user", content }] });
  },
  async useTool({ stream, calls }) {
    const run = (input: { city: string; unit: string }) => {
      calls.push(input);
      return "7 degrees";
    };
    const weather = FunctionTool.from(run, { ...weatherTool, parameters: place });
    const chat = chatAt(stage);
    const ask = async (messages: Message[]) => {
      const asked = { messages, tools: [weather] };
      if (!stream) return (await chat.chat(asked)).message;
      const parts = await partsOf(await chat.chat({ ...asked, stream }));
      const content = parts.map(({ delta }) => delta).join("");
      const options = parts.at(-1)?.options ?? {};
      return { role: "assistant" as const, content, options };
    };
    const first = await ask([question]);
    const results: Message[] = [];
    const called = first.options && "toolCall" in first.options ? first.options.toolCall : [];
    for (const { id, input } of called) {
      const given = typeof input === "string" ? JSON.parse(input) : input;
      const result = String(await weather.call(given));
      const options = { toolResult: { id, result, isError: false } };
      results.push({ role: "user", content: result, options });
    }
    return String((await ask([question, first, ...results])).content);
  },
  async place() {
    const { message } = await chatAt(stage).chat({ messages: [question], responseFormat: place });
    return JSON.parse(String(message.content));
  },
  async embed(texts, dimensions) {
    const { key: apiKey, baseUrl: baseURL } = stage.gateway;
    const size = dimensions === undefined ? {} : { dimensions };
    const options = { model: "svc-embedding-2", apiKey, baseURL, maxRetries: 0, ...size };
    const model = new OpenAIEmbedding(options);
    const [text, ...others] = texts;
    return text === undefined || others.length > 0
      ? model.getTextEmbeddings([...texts])
      : [await model.getTextEmbedding(text)];
  },
  refusal: (error) => ({ status: Reflect.get(error, "status"), code: Reflect.get(error, "code") }),
  obeysHints: true,
});

clientSuite("@llamaindex/openai", (check) => {
  const stage = openStage();
  chatClientChecks(check, stage, clientOf(stage));
});
