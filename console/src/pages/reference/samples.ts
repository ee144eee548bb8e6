import type { Sample } from "../../components/code/code-block.tsx";
import { toLiteral } from "../playground/code-samples.ts";
import type { Endpoint } from "./document.ts";

interface SampleOptions {
  readonly endpoint: Endpoint;
  readonly baseUrl: string;
  /** With the parts that are known filled in. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** The call in three languages, as the gateway's callers make it; the key is in the environment. */
export function toSamples(options: SampleOptions): readonly Sample[] {
  const curl = { label: "curl", code: toCurl(options) };
  const call = calls[options.endpoint.path];
  if (call === undefined) return [curl];
  return [
    curl,
    { label: "Python", code: [...pythonHead(options), ...call.python(options)].join("\n") },
    {
      label: "TypeScript",
      code: [...typeScriptHead(options), ...call.typeScript(options)].join("\n"),
    },
  ];
}

function toCurl({ endpoint, baseUrl, path, body }: SampleOptions): string {
  const json = JSON.stringify(body, null, 2)?.replaceAll("'", `'\\''`);
  const isChange = endpoint.method !== "GET";
  return [
    `curl ${isChange && endpoint.method !== "POST" ? `-X ${endpoint.method} ` : ""}${baseUrl}${path}`,
    `  -H "Authorization: Bearer $${endpoint.api === "gateway" ? "SVC_API_KEY" : "SVC_TOKEN"}"`,
    ...(json === undefined ? [] : [`  -H "Content-Type: application/json"`]),
    ...(endpoint.path === "/audio/speech" ? [`  -o ${fileOf(body)}`] : []),
    ...(body?.["stream"] === true ? ["  -N"] : []),
    ...(json === undefined
      ? isChange && endpoint.method === "POST"
        ? ["  -X POST"]
        : []
      : [`  -d '${json}'`]),
  ].join(" \\\n");
}

const pythonHead = ({ baseUrl }: SampleOptions) => [
  "import os",
  "from openai import OpenAI",
  "",
  `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["SVC_API_KEY"])`,
  "",
];

const typeScriptHead = ({ endpoint, baseUrl }: SampleOptions) => [
  ...(endpoint.path === "/audio/speech" ? [`import { writeFile } from "node:fs/promises";`] : []),
  `import OpenAI from "openai";`,
  "",
  "const client = new OpenAI({",
  `  baseURL: ${JSON.stringify(baseUrl)},`,
  "  apiKey: process.env.SVC_API_KEY,",
  "});",
  "",
];

interface Call {
  readonly python: (options: SampleOptions) => readonly string[];
  readonly typeScript: (options: SampleOptions) => readonly string[];
}

const named = ({ body }: SampleOptions) =>
  Object.entries(body ?? {}).map(
    ([name, value]) => `    ${name}=${toLiteral(value, "python", "    ")},`,
  );
const literal = ({ body }: SampleOptions) => toLiteral(body ?? {}, "typescript", "");
const isStream = ({ body }: SampleOptions) => body?.["stream"] === true;
const fileOf = (body: SampleOptions["body"]) =>
  `speech.${String(body?.["response_format"] ?? "wav")}`;

const calls: Readonly<Record<string, Call>> = {
  "/chat/completions": {
    python: (options) => [
      `${isStream(options) ? "stream" : "reply"} = client.chat.completions.create(`,
      ...named(options),
      ")",
      ...(isStream(options)
        ? [
            "for chunk in stream:",
            "    if chunk.choices and chunk.choices[0].delta.content:",
            `        print(chunk.choices[0].delta.content, end="", flush=True)`,
          ]
        : ["print(reply.choices[0].message.content)"]),
    ],
    typeScript: (options) => [
      `const ${isStream(options) ? "stream" : "reply"} = await client.chat.completions.create(${literal(options)});`,
      ...(isStream(options)
        ? [
            "for await (const chunk of stream)",
            `  process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
          ]
        : ["console.log(reply.choices[0]?.message.content);"]),
    ],
  },
  "/embeddings": {
    python: (options) => [
      "reply = client.embeddings.create(",
      ...named(options),
      ")",
      "print(len(reply.data), len(reply.data[0].embedding))",
    ],
    typeScript: (options) => [
      `const reply = await client.embeddings.create(${literal(options)});`,
      "console.log(reply.data.length, reply.data[0]?.embedding.length);",
    ],
  },
  "/audio/speech": {
    python: (options) => [
      "with client.audio.speech.with_streaming_response.create(",
      ...named(options),
      ") as reply:",
      `    reply.stream_to_file("${fileOf(options.body)}")`,
    ],
    typeScript: (options) => [
      `const reply = await client.audio.speech.create(${literal(options)});`,
      `await writeFile("${fileOf(options.body)}", Buffer.from(await reply.arrayBuffer()));`,
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
