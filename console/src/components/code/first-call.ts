import type { Sample } from "./code-block.tsx";

interface CalledModel {
  readonly id: string;
  readonly endpoint: string;
  /** What an embeddings model takes: text or media. */
  readonly input: string;
}

export interface FirstCall {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly model: CalledModel;
  /** The secret, while it is shown; else the samples take it from the environment. */
  readonly key?: string;
}

const variable = "SVC_API_KEY";
const greeting = "What is the capital of France?";
/** Small models go on and on. */
const mostTokens = 100;
/** One red dot: the smallest picture there is. */
const dot =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A call that works as it stands, in each language; where there is a secret, also how to keep it. */
export function firstCallSamples(call: FirstCall): readonly Sample[] {
  const samples = [
    { label: "curl", code: toCurl(call) },
    { label: "Python", code: toPython(call) },
    { label: "TypeScript", code: toTypeScript(call) },
  ];
  return call.key === undefined
    ? samples
    : [...samples, { label: "Environment", code: toEnvironment(call.baseUrl, call.key) }];
}

/** Of those that can be called, the one to show first: active before deprecated, chat before all. */
export function modelToTry<Model extends CalledModel & { readonly status: string }>(
  models: readonly Model[],
  allowed: readonly string[] | null,
): Model | undefined {
  const callable = models.filter(
    ({ id, status }) => status !== "retired" && (allowed === null || allowed.includes(id)),
  );
  const active = callable.filter(({ status }) => status === "active");
  return (
    active.find(({ endpoint }) => endpoint === "chat") ??
    callable.find(({ endpoint }) => endpoint === "chat") ??
    active[0] ??
    callable[0]
  );
}

function toCurl({ baseUrl, model, key }: FirstCall): string {
  const isSpeech = model.endpoint === "speech";
  return [
    `curl ${baseUrl}${pathOf(model)} \\`,
    `  -H "Authorization: Bearer ${key ?? `$${variable}`}" \\`,
    `  -H "Content-Type: application/json" \\`,
    ...(isSpeech ? ["  -o hello.wav \\"] : []),
    `  -d '${JSON.stringify(bodyOf(model), null, 2).replaceAll("\n", "\n  ")}'`,
  ].join("\n");
}

function toPython({ baseUrl, model }: FirstCall): string {
  const id = JSON.stringify(model.id);
  const head = [
    "import os",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${baseUrl}", api_key=os.environ["${variable}"])`,
    "",
  ];
  const calls: Readonly<Record<string, readonly string[]>> = {
    speech: [
      "with client.audio.speech.with_streaming_response.create(",
      `    model=${id},`,
      `    input="Hello there.",`,
      `    voice="Kore",`,
      ") as reply:",
      `    reply.stream_to_file("hello.wav")`,
    ],
    embeddings: [
      `reply = client.embeddings.create(model=${id}, input=${JSON.stringify(inputOf(model))})`,
      "print(len(reply.data[0].embedding))",
    ],
    chat: [
      "reply = client.chat.completions.create(",
      `    model=${id},`,
      `    max_tokens=${mostTokens},`,
      `    messages=[{"role": "user", "content": "${greeting}"}],`,
      ")",
      "print(reply.choices[0].message.content)",
    ],
  };
  return [...head, ...(calls[model.endpoint] ?? [])].join("\n");
}

function toTypeScript({ baseUrl, model }: FirstCall): string {
  const id = JSON.stringify(model.id);
  const head = [
    ...(model.endpoint === "speech" ? [`import { writeFile } from "node:fs/promises";`] : []),
    `import OpenAI from "openai";`,
    "",
    "const client = new OpenAI({",
    `  baseURL: "${baseUrl}",`,
    `  apiKey: process.env.${variable},`,
    "});",
    "",
  ];
  const calls: Readonly<Record<string, readonly string[]>> = {
    speech: [
      "const reply = await client.audio.speech.create({",
      `  model: ${id},`,
      `  input: "Hello there.",`,
      `  voice: "Kore",`,
      "});",
      `await writeFile("hello.wav", Buffer.from(await reply.arrayBuffer()));`,
    ],
    embeddings: [
      "const reply = await client.embeddings.create({",
      `  model: ${id},`,
      `  input: ${JSON.stringify(inputOf(model))},`,
      "});",
      "console.log(reply.data[0]?.embedding.length);",
    ],
    chat: [
      "const reply = await client.chat.completions.create({",
      `  model: ${id},`,
      `  max_tokens: ${mostTokens},`,
      `  messages: [{ role: "user", content: "${greeting}" }],`,
      "});",
      "console.log(reply.choices[0]?.message.content);",
    ],
  };
  return [...head, ...(calls[model.endpoint] ?? [])].join("\n");
}

const toEnvironment = (
  baseUrl: string,
  key: string,
) => `# What the SDKs of OpenAI read by themselves
export OPENAI_BASE_URL="${baseUrl}"
export OPENAI_API_KEY="${key}"

# What the samples here read
export ${variable}="${key}"`;

const paths: Readonly<Record<string, string>> = {
  embeddings: "/embeddings",
  speech: "/audio/speech",
};
const pathOf = ({ endpoint }: CalledModel) => paths[endpoint] ?? "/chat/completions";

const inputOf = ({ input }: CalledModel) =>
  input === "media" ? [dot] : "A cat sleeps in the sun.";

function bodyOf(model: CalledModel): Readonly<Record<string, unknown>> {
  const { id, endpoint } = model;
  if (endpoint === "embeddings") return { model: id, input: inputOf(model) };
  if (endpoint === "speech") return { model: id, input: "Hello there.", voice: "Kore" };
  return { model: id, max_tokens: mostTokens, messages: [{ role: "user", content: greeting }] };
}
