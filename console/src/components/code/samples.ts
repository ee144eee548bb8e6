import { curlCommand, type FormField } from "../../../../src/base/text/curl.ts";
import type { Sample } from "./code-block.tsx";
import { type DialectId, dialectOf } from "./dialects.ts";
import { frameworkSamples } from "./framework-samples.ts";
import {
  type Body,
  fileOf,
  findPrograms,
  isStream,
  keyVariable,
  withoutVersion,
} from "./programs.ts";

export interface SampledCall {
  /** Ends in /v1 for the gateway. */
  readonly baseUrl: string;
  readonly path: string;
  readonly method?: string;
  readonly body?: Body | undefined;
  /** Sent as a form with a file, as curl writes it. */
  readonly form?: readonly FormField[] | undefined;
  /** The variable of the environment that holds the key or token. */
  readonly variable?: string;
  /** The secret, while it is shown. Programs read it from the environment all the same. */
  readonly key?: string | undefined;
}

export interface CalledModel {
  readonly id: string;
  readonly endpoint: string;
  /** What an embeddings model takes: text or media. */
  readonly input: string;
}

interface FirstCall {
  readonly baseUrl: string;
  readonly model: CalledModel;
  readonly key?: string;
  /** Of chat models. */
  readonly dialect?: DialectId;
}

/** Small models go on and on. */
const mostTokens = 100;
/** One red dot: the smallest picture there is. */
const dot =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

const paths: Readonly<Record<string, string>> = {
  chat: "/chat/completions",
  embeddings: "/embeddings",
  speech: "/audio/speech",
  transcription: "/audio/transcriptions",
};

export const pathOf = (endpoint: string): string => paths[endpoint] ?? "/chat/completions";

/** A call in three languages; in curl alone where the SDKs do not know the path. */
export function callSamples(call: SampledCall): readonly Sample[] {
  const curl = { label: "curl", code: toCurl(call) };
  const { path, baseUrl, method = call.body === undefined ? "GET" : "POST" } = call;
  const programs = findPrograms(path, call.form === undefined ? method : "POST");
  if (programs === undefined) return [curl];
  const options = { baseUrl, body: call.body ?? fieldsOf(call.form ?? []) };
  return [
    curl,
    { label: "Python", code: programs.python(options).join("\n") },
    { label: "TypeScript", code: programs.typeScript(options).join("\n") },
  ];
}

/** A call that works as it stands; where there is a secret, also how to keep it. */
export function firstCallSamples(first: FirstCall): readonly Sample[] {
  const { baseUrl, model, key, dialect = "chat" } = first;
  const isChat = model.endpoint === "chat";
  const path = isChat ? dialectOf(dialect).path : pathOf(model.endpoint);
  const body = isChat ? firstChats[dialect](model.id) : firstBody(model);
  const sent = model.endpoint === "transcription" ? { form: firstUpload(model) } : { body };
  const asked = { baseUrl, model: model.id, question: firstQuestion, maxTokens: mostTokens };
  const environment = dialect === "messages" ? anthropicEnvironment : openAiEnvironment;
  return [
    ...callSamples({ baseUrl, path, key, ...sent }),
    ...(isChat ? frameworkSamples(dialect, asked) : []),
    ...(key === undefined ? [] : [{ label: "Environment", code: environment(baseUrl, key) }]),
  ];
}

const firstQuestion = "What is the capital of France?";
const messages = [{ role: "user", content: firstQuestion }];
const firstChats: Readonly<Record<DialectId, (model: string) => Body>> = {
  chat: (model) => ({ model, max_tokens: mostTokens, messages }),
  responses: (model) => ({ model, max_output_tokens: mostTokens, input: firstQuestion }),
  messages: (model) => ({ model, max_tokens: mostTokens, messages }),
};

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

/** Whole files would bury the code; an ellipsis shows where they were. */
export function withoutFiles(body: Body): Body {
  return Object.fromEntries(
    Object.entries(body).map(([name, item]) => [name, isFile(name, item) ? "…" : shortened(item)]),
  );
}

/** Base64 without a label: of videos, and of images in Messages. */
const isFile = (name: string, item: unknown) =>
  name === "bytesBase64Encoded" ||
  (name === "data" && typeof item === "string" && item.length > mostDataChars);
const mostDataChars = 40;

function shortened(value: unknown): unknown {
  if (typeof value === "string") {
    const [, head] = /^(data:[\w/+.-]+;base64,)[\s\S]{40}/.exec(value) ?? [];
    return head === undefined ? value : `${head}…`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  return typeof value === "object" && value !== null ? withoutFiles({ ...value }) : value;
}

function firstBody({ id, endpoint, input }: CalledModel): Body {
  if (endpoint === "embeddings")
    return { model: id, input: input === "media" ? [dot] : "A cat sleeps in the sun." };
  return { model: id, input: "Hello there.", voice: "Kore" };
}

const firstUpload = ({ id }: CalledModel): readonly FormField[] => [
  { name: "file", value: "speech.wav", isFile: true },
  { name: "model", value: id },
];

const fieldsOf = (form: readonly FormField[]): Body =>
  Object.fromEntries(form.map(({ name, value }) => [name, value]));

function toCurl(call: SampledCall): string {
  const { baseUrl, path, method, body, form, key, variable = keyVariable } = call;
  return curlCommand(
    {
      url: `${baseUrl}${path}`,
      ...(method === undefined ? {} : { method }),
      bearer: key ?? `$${variable}`,
      headers: path === "/messages" ? { "anthropic-version": "2023-06-01" } : {},
      body: JSON.stringify(body, null, 2),
      form,
      isStream: isStream(body),
      output: path === pathOf("speech") ? fileOf(body) : undefined,
    },
    { separator: " \\\n  " },
  );
}

const openAiEnvironment = (baseUrl: string, key: string) => `# Read by the OpenAI SDKs
export OPENAI_BASE_URL="${baseUrl}"
export OPENAI_API_KEY="${key}"

# Read by the samples on this page
export ${keyVariable}="${key}"`;

const anthropicEnvironment = (baseUrl: string, key: string) => `# Read by the Anthropic SDKs
export ANTHROPIC_BASE_URL="${withoutVersion(baseUrl)}"
export ANTHROPIC_API_KEY="${key}"

# Read by the samples on this page
export ${keyVariable}="${key}"`;
