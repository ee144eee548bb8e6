import { expect } from "bun:test";
import type { OpenAI } from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { z } from "zod";
import { type Asked, type ChatClient, prompt, type Said, weatherTool } from "../chat-client.ts";
import { type Stage, sentUpstream } from "../stage.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: prompt }];
export const place = z.object({ city: z.string(), unit: z.enum(["celsius", "fahrenheit"]) });
/** The schema that the upstream must have got, unchanged. */
export const placeSchema = {
  type: "object",
  properties: { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
  required: ["city", "unit"],
  additionalProperties: false,
};

/** The SDK of OpenAI on the gateway. */
export const clientOf = (stage: Stage): ChatClient => ({
  ask: (asked) => ask(stage, asked),
  readsReasoning: true,
  canLeave: true,
  async useTool({ stream, calls }) {
    const tool = zodFunction({
      ...weatherTool,
      parameters: place,
      function: (input) => {
        calls.push(input);
        return "7 degrees";
      },
    });
    const { completions } = stage.gateway.client().chat;
    const body = { model, messages, tools: [tool] };
    const runner = stream ? completions.runTools({ ...body, stream }) : completions.runTools(body);
    return (await runner.finalContent()) ?? "";
  },
  async collectCalls() {
    const { choices } = await stage.gateway
      .client()
      .chat.completions.stream({ model, messages, parallel_tool_calls: true })
      .finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    return (choices[0]?.message.tool_calls ?? []).flatMap((call) =>
      call.type === "function"
        ? [{ id: call.id, arguments: JSON.parse(call.function.arguments) }]
        : [],
    );
  },
  async place(stream) {
    const { completions } = stage.gateway.client().chat;
    const body = { model, messages, response_format: zodResponseFormat(place, "place") };
    const { choices } = stream
      ? await completions.stream(body).finalChatCompletion()
      : await completions.parse(body);
    expect(sentUpstream(stage.gateway)["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "place", strict: true, schema: placeSchema },
    });
    return choices[0]?.message.parsed;
  },
  streamsPlace: true,
  async embed(texts, dimensions) {
    const [input = "", ...others] = texts;
    const size = dimensions === undefined ? {} : { dimensions };
    const { data } = await stage.gateway.client().embeddings.create({
      model: "svc-embedding-2",
      input: others.length === 0 ? input : [...texts],
      ...size,
    });
    expect(data.map(({ index }) => index)).toEqual(texts.map((_, at) => at));
    return data.map(({ embedding }) => embedding);
  },
  refusal: (error) => ({ status: Reflect.get(error, "status"), code: Reflect.get(error, "code") }),
});

async function ask({ gateway }: Stage, options: Asked): Promise<Said> {
  const { stream, system, maxTokens, apiKey, retries = 0, until, ...asked } = options;
  const client = { maxRetries: retries, ...(apiKey === undefined ? {} : { apiKey }) };
  const { completions } = gateway.client(client).chat;
  const body = {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      ...messages,
    ],
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...asked,
  };
  if (stream !== true) {
    const completion = await completions.create(body);
    expect(completion).toMatchObject({ object: "chat.completion", model: body.model });
    const [choice] = completion.choices;
    expect(choice?.message.role).toBe("assistant");
    return saidOf(choice?.message, choice?.finish_reason, completion.usage);
  }
  const usage = { include_usage: true };
  const answer = await completions.create({ ...body, stream, stream_options: usage });
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of answer) {
    chunks.push(chunk);
    if (until !== undefined && chunk.choices[0]?.delta.content === until) answer.controller.abort();
  }
  expect(chunks.slice(0, -1).every((chunk) => (chunk.usage ?? null) === null)).toBe(true);
  const all = (name: string) =>
    chunks.map(({ choices }) => Object(choices[0]?.delta)[name] ?? "").join("");
  expect(all("role")).toBe("assistant");
  const said = { content: all("content"), reasoning_content: all("reasoning_content") };
  const finish = chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason;
  return saidOf(said, finish, chunks.at(-1)?.usage);
}

function saidOf(
  message: { readonly content?: string | null } | undefined,
  finish: string | null | undefined,
  usage: OpenAI.CompletionUsage | null | undefined,
) {
  return {
    text: message?.content ?? "",
    reasoning: Object(message).reasoning_content,
    finish: finish ?? undefined,
    usage: {
      input: usage?.prompt_tokens,
      output: usage?.completion_tokens,
      cached: usage?.prompt_tokens_details?.cached_tokens,
    },
  };
}
