import { toLiteral } from "./literals.ts";

export type Body = Readonly<Record<string, unknown>>;

/** The variable of the environment that holds the key. */
export const keyVariable = "SVC_API_KEY";

export interface ProgramOptions {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly body: Body;
}

/** One call of the vendors' own SDKs. */
interface Programs {
  readonly python: (options: ProgramOptions) => readonly string[];
  readonly typeScript: (options: ProgramOptions) => readonly string[];
}

/** Their SDKs add the version of the API themselves. */
export const withoutVersion = (baseUrl: string) => baseUrl.replace(/\/v1\/?$/, "");

const openAiPython = ({ baseUrl }: ProgramOptions) => [
  "import os",
  "from openai import OpenAI",
  "",
  `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["${keyVariable}"])`,
  "",
];

const openAiTypeScript = ({ baseUrl }: ProgramOptions) => [
  `import OpenAI from "openai";`,
  "",
  "const client = new OpenAI({",
  `  baseURL: ${JSON.stringify(baseUrl)},`,
  `  apiKey: process.env.${keyVariable},`,
  "});",
  "",
];

const anthropicPython = ({ baseUrl }: ProgramOptions) => [
  "import os",
  "from anthropic import Anthropic",
  "",
  "client = Anthropic(",
  `    base_url=${JSON.stringify(withoutVersion(baseUrl))},`,
  `    api_key=os.environ["${keyVariable}"],`,
  ")",
  "",
];

const anthropicTypeScript = ({ baseUrl }: ProgramOptions) => [
  `import Anthropic from "@anthropic-ai/sdk";`,
  "",
  "const client = new Anthropic({",
  `  baseURL: ${JSON.stringify(withoutVersion(baseUrl))},`,
  `  apiKey: process.env.${keyVariable},`,
  "});",
  "",
];

/** What a program does with a reply, and with each event of a stream. */
interface Reading {
  readonly name: string;
  readonly python: { readonly whole: readonly string[]; readonly each: readonly string[] };
  readonly typeScript: { readonly whole: readonly string[]; readonly each: readonly string[] };
}

const chatReading: Reading = {
  name: "chat.completions.create",
  python: {
    whole: ["print(reply.choices[0].message.content)"],
    each: [
      "for chunk in stream:",
      "    if chunk.choices and chunk.choices[0].delta.content:",
      `        print(chunk.choices[0].delta.content, end="", flush=True)`,
    ],
  },
  typeScript: {
    whole: ["console.log(reply.choices[0]?.message.content);"],
    each: [
      "for await (const chunk of stream)",
      `  process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
    ],
  },
};

const completionReading: Reading = {
  name: "completions.create",
  python: {
    whole: ["print(reply.choices[0].text)"],
    each: [
      "for chunk in stream:",
      "    if chunk.choices:",
      `        print(chunk.choices[0].text, end="", flush=True)`,
    ],
  },
  typeScript: {
    whole: ["console.log(reply.choices[0]?.text);"],
    each: [
      "for await (const chunk of stream)",
      `  process.stdout.write(chunk.choices[0]?.text ?? "");`,
    ],
  },
};

const responsesReading: Reading = {
  name: "responses.create",
  python: {
    whole: ["print(reply.output_text)"],
    each: [
      "for event in stream:",
      `    if event.type == "response.output_text.delta":`,
      `        print(event.delta, end="", flush=True)`,
    ],
  },
  typeScript: {
    whole: ["console.log(reply.output_text);"],
    each: [
      "for await (const event of stream)",
      `  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);`,
    ],
  },
};

const messagesReading: Reading = {
  name: "messages.create",
  python: {
    whole: [
      "for block in reply.content:",
      `    if block.type == "text":`,
      "        print(block.text)",
    ],
    each: [
      "for event in stream:",
      `    if event.type == "content_block_delta" and event.delta.type == "text_delta":`,
      `        print(event.delta.text, end="", flush=True)`,
    ],
  },
  typeScript: {
    whole: [
      "for (const block of reply.content)",
      `  if (block.type === "text") console.log(block.text);`,
    ],
    each: [
      "for await (const event of stream)",
      `  if (event.type === "content_block_delta" && event.delta.type === "text_delta")`,
      "    process.stdout.write(event.delta.text);",
    ],
  },
};

interface Heads {
  readonly python: (options: ProgramOptions) => readonly string[];
  readonly typeScript: (options: ProgramOptions) => readonly string[];
}

const openAi: Heads = { python: openAiPython, typeScript: openAiTypeScript };
const anthropic: Heads = { python: anthropicPython, typeScript: anthropicTypeScript };

function toPrograms({ name, python, typeScript }: Reading, heads: Heads): Programs {
  return {
    python: (options) => {
      const isStreamed = isStream(options.body);
      const target = isStreamed ? "stream" : "reply";
      return [
        ...heads.python(options),
        ...pythonCall(`${target} = client.${name}`, options.body),
        ...(isStreamed ? python.each : python.whole),
      ];
    },
    typeScript: (options) => {
      const isStreamed = isStream(options.body);
      const target = isStreamed ? "stream" : "reply";
      return [
        ...heads.typeScript(options),
        `const ${target} = await client.${name}(${typeScriptLiteral(options.body)});`,
        ...(isStreamed ? typeScript.each : typeScript.whole),
      ];
    },
  };
}

const embeddings: Programs = {
  python: (options) => {
    const { body } = options;
    return [
      ...openAiPython(options),
      // The SDK's own type has no place for a video.
      ...(isVideo(body)
        ? [
            `reply = client.post("/embeddings", cast_to=object, body=${toLiteral(body, { language: "python" })})`,
            `print(len(reply["data"][0]["embedding"]))`,
          ]
        : [
            ...pythonCall("reply = client.embeddings.create", body),
            "print(len(reply.data), len(reply.data[0].embedding))",
          ]),
    ];
  },
  typeScript: (options) => {
    const { body } = options;
    return [
      ...openAiTypeScript(options),
      ...(isVideo(body)
        ? [
            "type Vectors = { data: { embedding: number[] }[] };",
            `const reply = await client.post<Vectors>("/embeddings", { body: ${typeScriptLiteral(body)} });`,
            "console.log(reply.data[0].embedding.length);",
          ]
        : [
            `const reply = await client.embeddings.create(${typeScriptLiteral(body)});`,
            "console.log(reply.data.length, reply.data[0]?.embedding.length);",
          ]),
    ];
  },
};

const speech: Programs = {
  python: (options) => [
    ...openAiPython(options),
    ...pythonCall("with client.audio.speech.with_streaming_response.create", options.body).slice(
      0,
      -1,
    ),
    ") as reply:",
    `    reply.stream_to_file("${fileOf(options.body)}")`,
  ],
  typeScript: (options) => [
    `import { writeFile } from "node:fs/promises";`,
    ...openAiTypeScript(options),
    `const reply = await client.audio.speech.create(${typeScriptLiteral(options.body)});`,
    `await writeFile("${fileOf(options.body)}", Buffer.from(await reply.arrayBuffer()));`,
  ],
};

const models: Programs = {
  python: (options) => [
    ...openAiPython(options),
    "for model in client.models.list():",
    "    print(model.id)",
  ],
  typeScript: (options) => [
    ...openAiTypeScript(options),
    "for await (const model of client.models.list())",
    "  console.log(model.id);",
  ],
};

const transcription: Programs = {
  python: (options) => [
    ...openAiPython(options),
    ...pythonCall("reply = client.audio.transcriptions.create", withoutFile(options.body)).slice(
      0,
      -1,
    ),
    `    file=open(${JSON.stringify(fileIn(options.body))}, "rb"),`,
    ")",
    "print(reply.text)",
  ],
  typeScript: (options) => [
    `import { createReadStream } from "node:fs";`,
    ...openAiTypeScript(options),
    "const reply = await client.audio.transcriptions.create({",
    ...Object.entries(withoutFile(options.body)).map(
      ([name, value]) => `  ${name}: ${toLiteral(value, { language: "typescript" })},`,
    ),
    `  file: createReadStream(${JSON.stringify(fileIn(options.body))}),`,
    "});",
    "console.log(reply.text);",
  ],
};

const fileIn = ({ file }: Body) => (typeof file === "string" && file !== "" ? file : "speech.wav");
const withoutFile = ({ file: _file, ...fields }: Body): Body => fields;

const programsByPath: Readonly<Record<string, Programs>> = {
  "/chat/completions": toPrograms(chatReading, openAi),
  "/completions": toPrograms(completionReading, openAi),
  "/responses": toPrograms(responsesReading, openAi),
  "/messages": toPrograms(messagesReading, anthropic),
  "/embeddings": embeddings,
  "/audio/speech": speech,
  "/audio/transcriptions": transcription,
  "/models": models,
};

/** None where the SDKs do not know the path, or where another method of it is meant. */
export function findPrograms(path: string, method: string): Programs | undefined {
  const isKnown = method === (path === "/models" ? "GET" : "POST");
  return isKnown ? programsByPath[path] : undefined;
}

function pythonCall(name: string, body: Body): readonly string[] {
  const fields = Object.entries(body).map(
    ([field, value]) => `    ${field}=${toLiteral(value, { language: "python", indent: "    " })},`,
  );
  return [`${name}(`, ...fields, ")"];
}

const typeScriptLiteral = (body: Body) => toLiteral(body, { language: "typescript" });
export const isStream = (body: Body | undefined) => body?.["stream"] === true;
export const fileOf = (body: Body | undefined) =>
  `speech.${String(body?.["response_format"] ?? "wav")}`;
const isVideo = ({ input }: Body) =>
  typeof input === "object" && input !== null && "video" in input;
