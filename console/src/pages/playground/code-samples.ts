import type { Sample } from "../../components/code/code-block.tsx";
import type { Endpoint } from "./models.ts";

export interface CodeOptions {
  readonly endpoint: Endpoint;
  readonly baseUrl: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Language = "python" | "typescript";

const paths: Readonly<Record<Endpoint, string>> = {
  chat: "/chat/completions",
  embeddings: "/embeddings",
  speech: "/audio/speech",
};

/** One call in three languages; the key is in the environment. */
export function toSamples(options: CodeOptions): readonly Sample[] {
  const short = { ...options, body: shortened(options.body) as CodeOptions["body"] };
  return [
    { label: "curl", code: toCurl(short) },
    { label: "Python", code: toPython(short) },
    { label: "TypeScript", code: toTypeScript(short) },
  ];
}

function toCurl({ endpoint, baseUrl, body }: CodeOptions): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  const lines = [
    `curl ${baseUrl}${paths[endpoint]} \\`,
    `  -H "Authorization: Bearer $SVC_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    ...(endpoint === "speech" ? [`  -o ${fileOf(body)} \\`] : []),
    ...(endpoint === "chat" ? ["  -N \\"] : []),
    `  -d '${json}'`,
  ];
  return lines.join("\n");
}

function toPython({ endpoint, baseUrl, body }: CodeOptions): string {
  const head = [
    "import os",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["SVC_API_KEY"])`,
    "",
  ];
  return [...head, ...pythonCall(endpoint, body)].join("\n");
}

function pythonCall(endpoint: Endpoint, body: CodeOptions["body"]): readonly string[] {
  const named = Object.entries(body).map(
    ([name, value]) => `    ${name}=${toLiteral(value, "python", "    ")},`,
  );
  if (endpoint === "chat")
    return [
      "stream = client.chat.completions.create(",
      ...named,
      ")",
      "for chunk in stream:",
      "    if chunk.choices and chunk.choices[0].delta.content:",
      `        print(chunk.choices[0].delta.content, end="", flush=True)`,
    ];
  if (endpoint === "speech")
    return [
      "with client.audio.speech.with_streaming_response.create(",
      ...named,
      ") as reply:",
      `    reply.stream_to_file("${fileOf(body)}")`,
    ];
  // The SDK's own type has no place for a video.
  if (isVideo(body))
    return [
      `reply = client.post("/embeddings", cast_to=object, body=${toLiteral(body, "python", "")})`,
      `print(len(reply["data"][0]["embedding"]))`,
    ];
  return [
    "reply = client.embeddings.create(",
    ...named,
    ")",
    "print(len(reply.data), len(reply.data[0].embedding))",
  ];
}

function toTypeScript({ endpoint, baseUrl, body }: CodeOptions): string {
  const head = [
    ...(endpoint === "speech" ? [`import { writeFile } from "node:fs/promises";`] : []),
    `import OpenAI from "openai";`,
    "",
    "const client = new OpenAI({",
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    "  apiKey: process.env.SVC_API_KEY,",
    "});",
    "",
  ];
  return [...head, ...typeScriptCall(endpoint, body)].join("\n");
}

function typeScriptCall(endpoint: Endpoint, body: CodeOptions["body"]): readonly string[] {
  const literal = toLiteral(body, "typescript", "");
  if (endpoint === "chat")
    return [
      `const stream = await client.chat.completions.create(${literal});`,
      "for await (const chunk of stream)",
      `  process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
    ];
  if (endpoint === "speech")
    return [
      `const reply = await client.audio.speech.create(${literal});`,
      `await writeFile("${fileOf(body)}", Buffer.from(await reply.arrayBuffer()));`,
    ];
  if (isVideo(body))
    return [
      "type Vectors = { data: { embedding: number[] }[] };",
      `const reply = await client.post<Vectors>("/embeddings", { body: ${literal} });`,
      "console.log(reply.data[0].embedding.length);",
    ];
  return [
    `const reply = await client.embeddings.create(${literal});`,
    "console.log(reply.data.length, reply.data[0]?.embedding.length);",
  ];
}

const fileOf = (body: CodeOptions["body"]) => `speech.${String(body["response_format"] ?? "wav")}`;

const isVideo = ({ input }: CodeOptions["body"]) =>
  typeof input === "object" && input !== null && "video" in input;

/** JSON as the language writes it. */
export function toLiteral(value: unknown, language: Language, indent: string): string {
  const isPython = language === "python";
  if (value === null || value === undefined) return isPython ? "None" : "null";
  if (typeof value === "boolean" && isPython) return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const step = isPython ? "    " : "  ";
  const inner = `${indent}${step}`;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => toLiteral(item, language, inner))
    : Object.entries(value).map(
        ([name, item]) => `${toName(name, language)}: ${toLiteral(item, language, inner)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item},`).join("\n")}\n${indent}${close}`;
}

function toName(name: string, language: Language): string {
  return language === "typescript" && /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
}

/** Whole files would bury the code; what is left out is told. */
function shortened(value: unknown): unknown {
  if (typeof value === "string") {
    const [, head] = /^(data:[\w/+.-]+;base64,)[\s\S]{40}/.exec(value) ?? [];
    return head === undefined ? value : `${head}…`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name === "bytesBase64Encoded" ? "…" : shortened(item),
    ]),
  );
}
