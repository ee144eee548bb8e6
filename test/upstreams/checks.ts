import { expect } from "bun:test";
import { APIError } from "openai";
import { cosine } from "../../src/base/similarity.ts";
import type { Stage } from "./stage.ts";

export interface Check {
  readonly name: string;
  /** Resolves to the reason where the server cannot do it at all. */
  readonly run: (stage: Stage) => Promise<string | undefined | void>;
}

const question = [{ role: "user" as const, content: "Tell me a long story about the sea." }];

/** Nothing that a caller is told may name the server, or where it is. */
const foreign = /llama|tiny|gguf|127\.0\.0\.1|localhost|sampler/i;

export const checks: readonly Check[] = [
  {
    name: "chat: an answer with usage",
    async run({ engine: { client } }) {
      const reply = await client.chat.completions.create({
        model: "llama-chat",
        max_tokens: 12,
        messages: [{ role: "system", content: "You are brief." }, ...question],
      });
      const { usage, choices } = reply;
      expect(choices[0]?.message.content?.length).toBeGreaterThan(0);
      expect(["stop", "length"]).toContain(choices[0]?.finish_reason ?? "");
      expect(usage?.prompt_tokens).toBeGreaterThan(10);
      expect(usage?.completion_tokens).toBeGreaterThan(0);
      expect(usage?.completion_tokens).toBeLessThanOrEqual(12);
      expect(usage?.total_tokens).toBe(
        (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0),
      );
      expect(reply.model).toBe("llama-chat");
    },
  },
  {
    name: "chat, several turns: the answer is cut where the caller asked",
    async run({ engine: { client } }) {
      const { choices, usage } = await client.chat.completions.create({
        model: "llama-chat",
        max_completion_tokens: 3,
        temperature: 0,
        messages: [
          ...question,
          { role: "assistant", content: "Once upon a time" },
          { role: "user", content: "Go on, for a hundred words." },
        ],
      });
      expect([choices[0]?.finish_reason, usage?.completion_tokens]).toEqual(["length", 3]);
    },
  },
  {
    name: "streamed chat: words, one finish, usage, [DONE]",
    async run({ engine }) {
      const events = await streamed(engine, { stream_options: { include_usage: true } });
      const chunks = events.slice(0, -1).map((data) => JSON.parse(data));
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      expect(text.length).toBeGreaterThan(0);
      expect(chunks.filter(({ choices }) => choices[0]?.finish_reason != null)).toHaveLength(1);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 8 } });
      expect(events.at(-1)).toBe("[DONE]");
      expect(events.join("")).not.toContain("timings");
    },
  },
  {
    name: "streamed chat: no usage for a caller who did not ask",
    async run({ engine }) {
      const events = await streamed(engine, {});
      expect(events.at(-1)).toBe("[DONE]");
      expect(events.slice(0, -1).some((data) => JSON.parse(data).usage != null)).toBe(false);
      const [receipt] = await engine.home.json<readonly Receipt[]>(["receipt", "list"]);
      expect(receipt).toMatchObject({ outcome: "ok", output: 8, estimated: false });
    },
  },
  {
    name: "tools",
    async run({ engine: { client }, llama }) {
      const props = (await (await llama().get("/props")).json()) as Props;
      const { choices } = await client.chat.completions.create({
        model: "llama-chat",
        max_tokens: 16,
        messages: [{ role: "user", content: "What is the weather in Paris?" }],
        tool_choice: "required",
        tools: [{ type: "function", function: { name: "weather", parameters: weather } }],
      });
      if (props.chat_template_caps?.supports_tool_calls !== true) {
        // It is served all the same, in words.
        expect(choices[0]?.message.content?.length).toBeGreaterThan(0);
        return "the model's template has no tools; the server answers in words";
      }
      const [call] = choices[0]?.message.tool_calls ?? [];
      expect(call?.type === "function" ? call.function.name : "").toBe("weather");
      return undefined;
    },
  },
  {
    name: "structured output: JSON that fits, or a refusal in our words",
    async run({ engine: { client } }) {
      const schema = { type: "object", properties: { city: { enum: ["Paris", "Rome"] } } };
      const outcome = await client.chat.completions
        .create({
          model: "llama-chat",
          max_tokens: 32,
          messages: [{ role: "user", content: "Name a city." }],
          response_format: { type: "json_schema", json_schema: { name: "city", schema } },
        })
        .catch((error: unknown) => error);
      if (!(outcome instanceof APIError)) return undefined;
      expect([outcome.status, outcome.code]).toEqual([400, expect.any(String)]);
      expect(outcome.message).not.toMatch(foreign);
      return "this build refuses grammars for this model; the caller gets a 400 in our words";
    },
  },
  {
    name: "embeddings: one vector a text, in order, with usage",
    async run({ engine: { client } }) {
      const input = ["The cat sleeps.", "Prices rose in spring.", "The cat sleeps."];
      const { data, usage } = await client.embeddings.create({ model: "llama-embed", input });
      expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
      const [first = [], second = [], third = []] = data.map(({ embedding }) => embedding);
      expect(new Set([first.length, second.length, third.length]).size).toBe(1);
      expect(cosine(first, third)).toBeGreaterThan(0.999);
      expect(cosine(first, second)).toBeLessThan(0.999);
      expect(usage.prompt_tokens).toBeGreaterThan(5);
    },
  },
  {
    name: "a prompt longer than the context: 400 context_length_exceeded",
    async run({ engine: { client } }) {
      const content = "word ".repeat(3_000);
      const error = await failure(
        client.chat.completions.create({
          model: "llama-chat",
          max_tokens: 8,
          messages: [{ role: "user", content }],
        }),
      );
      expect([error.status, error.code]).toEqual([400, "context_length_exceeded"]);
      expect(error.message).not.toMatch(foreign);
    },
  },
  {
    name: "the model list",
    async run({ engine: { client, home } }) {
      const listed: string[] = [];
      for await (const { id } of await client.models.list()) listed.push(id);
      for (const id of ["llama-chat", "llama-or-engine", "llama-embed", "svc-3-flash"])
        expect(listed).toContain(id);
      const { code, stdout } = await home.svc(["provider", "test", "llama"]);
      expect([code, stdout]).toEqual([0, expect.stringContaining("tiny")]);
    },
  },
];

interface Props {
  readonly chat_template_caps?: { readonly supports_tool_calls?: boolean };
}

export interface Receipt {
  readonly id: string;
  readonly model: string;
  readonly outcome: string;
  readonly attempts: string;
  readonly estimated: boolean;
  readonly output: number;
}

const weather = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
};

/** The data of every event of a short streamed answer. */
async function streamed({ call }: Stage["engine"], more: object): Promise<readonly string[]> {
  const reply = await call("/chat/completions", {
    model: "llama-chat",
    stream: true,
    max_tokens: 8,
    temperature: 0,
    messages: question,
    ...more,
  });
  expect(reply.status).toBe(200);
  return dataOf(await reply.text());
}

export const dataOf = (text: string): readonly string[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map((match) => match[1] ?? "");

export async function failure(call: PromiseLike<unknown>): Promise<APIError> {
  const outcome: unknown = await Promise.resolve(call).catch((error: unknown) => error);
  if (outcome instanceof APIError) return outcome;
  throw new Error(`the call did not fail as it should: ${JSON.stringify(outcome)}`);
}
