import { curlCommand } from "../../../../src/base/text/curl.ts";
import type { Sample } from "./code-block.tsx";

type Body = Readonly<Record<string, unknown>>;

export interface SampledCall {
  /** Ends in /v1 for the gateway. */
  readonly baseUrl: string;
  readonly path: string;
  readonly method?: string;
  readonly body?: Body | undefined;
  /** The variable of the environment that holds the key or token. */
  readonly variable?: string;
  /** The secret, while it is shown. Programs read it from the environment all the same. */
  readonly key?: string | undefined;
}

interface CalledModel {
  readonly id: string;
  readonly endpoint: string;
  /** What an embeddings model takes: text or media. */
  readonly input: string;
}

interface FirstCall {
  readonly baseUrl: string;
  readonly model: CalledModel;
  readonly key?: string;
}

const keyVariable = "SVC_API_KEY";
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
  const programs = programsByPath[call.path];
  if (programs === undefined) return [curl];
  const body = call.body ?? {};
  return [
    curl,
    { label: "Python", code: [...pythonHead(call), ...programs.python(body)].join("\n") },
    {
      label: "TypeScript",
      code: [...typeScriptHead(call), ...programs.typeScript(body)].join("\n"),
    },
  ];
}

/** A call that works as it stands; where there is a secret, also how to keep it. */
export function firstCallSamples({ baseUrl, model, key }: FirstCall): readonly Sample[] {
  const path = pathOf(model.endpoint);
  const samples = callSamples({ baseUrl, path, key, body: firstBody(model) });
  return key === undefined
    ? samples
    : [...samples, { label: "Environment", code: toEnvironment(baseUrl, key) }];
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

/** Whole files would bury the code; an ellipsis shows where they were. */
export function withoutFiles(body: Body): Body {
  return Object.fromEntries(
    Object.entries(body).map(([name, item]) => [
      name,
      name === "bytesBase64Encoded" ? "…" : shortened(item),
    ]),
  );
}

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
  if (endpoint === "speech") return { model: id, input: "Hello there.", voice: "Kore" };
  if (endpoint === "transcription") return { model: id, file: "speech.wav" };
  const messages = [{ role: "user", content: "What is the capital of France?" }];
  return { model: id, max_tokens: mostTokens, messages };
}

function toCurl(call: SampledCall): string {
  const { baseUrl, path, method, body, key, variable = keyVariable } = call;
  return curlCommand(
    {
      url: `${baseUrl}${path}`,
      ...(method === undefined ? {} : { method }),
      bearer: key ?? `$${variable}`,
      ...(path === pathOf("transcription")
        ? { form: formOf(body) }
        : { body: JSON.stringify(body, null, 2) }),
      isStream: isStream(body),
      output: path === pathOf("speech") ? fileOf(body) : undefined,
    },
    { separator: " \\\n  " },
  );
}

const pythonHead = ({ baseUrl }: SampledCall) => [
  "import os",
  "from openai import OpenAI",
  "",
  `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["${keyVariable}"])`,
  "",
];

const typeScriptHead = ({ baseUrl, path }: SampledCall) => [
  ...(path === pathOf("speech") ? [`import { writeFile } from "node:fs/promises";`] : []),
  ...(path === pathOf("transcription") ? [`import { createReadStream } from "node:fs";`] : []),
  `import OpenAI from "openai";`,
  "",
  "const client = new OpenAI({",
  `  baseURL: ${JSON.stringify(baseUrl)},`,
  `  apiKey: process.env.${keyVariable},`,
  "});",
  "",
];

interface Programs {
  readonly python: (body: Body) => readonly string[];
  readonly typeScript: (body: Body) => readonly string[];
}

const programsByPath: Readonly<Record<string, Programs>> = {
  "/chat/completions": {
    python: (body) =>
      isStream(body)
        ? [
            ...pythonCall("stream = client.chat.completions.create", body),
            "for chunk in stream:",
            "    if chunk.choices and chunk.choices[0].delta.content:",
            `        print(chunk.choices[0].delta.content, end="", flush=True)`,
          ]
        : [
            ...pythonCall("reply = client.chat.completions.create", body),
            "print(reply.choices[0].message.content)",
          ],
    typeScript: (body) =>
      isStream(body)
        ? [
            `const stream = await client.chat.completions.create(${typeScriptLiteral(body)});`,
            "for await (const chunk of stream)",
            `  process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
          ]
        : [
            `const reply = await client.chat.completions.create(${typeScriptLiteral(body)});`,
            "console.log(reply.choices[0]?.message.content);",
          ],
  },
  "/embeddings": {
    python: (body) =>
      // The SDK's own type has no place for a video.
      isVideo(body)
        ? [
            `reply = client.post("/embeddings", cast_to=object, body=${toLiteral(body, { language: "python" })})`,
            `print(len(reply["data"][0]["embedding"]))`,
          ]
        : [
            ...pythonCall("reply = client.embeddings.create", body),
            "print(len(reply.data), len(reply.data[0].embedding))",
          ],
    typeScript: (body) =>
      isVideo(body)
        ? [
            "type Vectors = { data: { embedding: number[] }[] };",
            `const reply = await client.post<Vectors>("/embeddings", { body: ${typeScriptLiteral(body)} });`,
            "console.log(reply.data[0].embedding.length);",
          ]
        : [
            `const reply = await client.embeddings.create(${typeScriptLiteral(body)});`,
            "console.log(reply.data.length, reply.data[0]?.embedding.length);",
          ],
  },
  "/audio/speech": {
    python: (body) => [
      ...pythonCall("with client.audio.speech.with_streaming_response.create", body).slice(0, -1),
      ") as reply:",
      `    reply.stream_to_file("${fileOf(body)}")`,
    ],
    typeScript: (body) => [
      `const reply = await client.audio.speech.create(${typeScriptLiteral(body)});`,
      `await writeFile("${fileOf(body)}", Buffer.from(await reply.arrayBuffer()));`,
    ],
  },
  "/audio/transcriptions": {
    python: (body) => [
      ...pythonCall("reply = client.audio.transcriptions.create", withoutFile(body)).slice(0, -1),
      `    file=open(${JSON.stringify(fileIn(body))}, "rb"),`,
      ")",
      "print(reply.text)",
    ],
    typeScript: (body) => [
      "const reply = await client.audio.transcriptions.create({",
      `  ...${toLiteral(withoutFile(body), { language: "typescript", indent: "  " })},`,
      `  file: createReadStream(${JSON.stringify(fileIn(body))}),`,
      "});",
      "console.log(reply.text);",
    ],
  },
  "/models": {
    python: () => ["for model in client.models.list():", "    print(model.id)"],
    typeScript: () => [
      "for await (const model of client.models.list())",
      "  console.log(model.id);",
    ],
  },
};

function pythonCall(name: string, body: Body): readonly string[] {
  const fields = Object.entries(body).map(
    ([field, value]) => `    ${field}=${toLiteral(value, { language: "python", indent: "    " })},`,
  );
  return [`${name}(`, ...fields, ")"];
}

const typeScriptLiteral = (body: Body) => toLiteral(body, { language: "typescript" });
const isStream = (body: Body | undefined) => body?.["stream"] === true;
const fileOf = (body: Body | undefined) => `speech.${String(body?.["response_format"] ?? "wav")}`;
const fileIn = (body: Body) => String(body["file"] ?? "speech.wav");
const withoutFile = ({ file: _file, ...fields }: Body): Body => fields;
const formOf = (body: Body = {}) => [
  ["file", `@${fileIn(body)}`] as const,
  ...Object.entries(withoutFile(body)).map(([name, value]) => [name, String(value)] as const),
];
const isVideo = ({ input }: Body) =>
  typeof input === "object" && input !== null && "video" in input;

interface Style {
  readonly language: "python" | "typescript";
  readonly indent?: string;
}

/** JSON as the language writes it. */
function toLiteral(value: unknown, { language, indent = "" }: Style): string {
  const isPython = language === "python";
  if (value === null || value === undefined) return isPython ? "None" : "null";
  if (typeof value === "boolean" && isPython) return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}${isPython ? "    " : "  "}`;
  const style = { language, indent: inner };
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => toLiteral(item, style))
    : Object.entries(value).map(
        ([name, item]) => `${toName(name, isPython)}: ${toLiteral(item, style)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item},`).join("\n")}\n${indent}${close}`;
}

function toName(name: string, isPython: boolean): string {
  return !isPython && /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
}

const toEnvironment = (baseUrl: string, key: string) => `# Read by the OpenAI SDKs
export OPENAI_BASE_URL="${baseUrl}"
export OPENAI_API_KEY="${key}"

# Read by the samples on this page
export ${keyVariable}="${key}"`;
