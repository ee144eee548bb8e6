/** The chat-completions format, as OpenAI documents it and as compatible servers bend it. */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import type { Quirks } from "../../../src/call/quirks.ts";
import { callersWords, usageOf } from "../calls.ts";
import {
  type Answer,
  type Asked,
  type AskedPiece,
  type Counts,
  type Dialect,
  fullAbilities,
  operatorKey,
  type Piece,
  type SaidCall,
  type SentRequest,
  type VendorReply,
  type VendorStream,
} from "../dialect.ts";
import { bodyAt, built, listOf, numberOf, objectOf, textsOf, toTool } from "./asked.ts";
import { openAiErrors } from "./errors/openai.ts";

const model = "gpt-4o-mini-2024-07-18";
const json = { "content-type": "application/json" };
const sse = { "content-type": "text/event-stream; charset=utf-8" };
const doneEvent = "data: [DONE]\n\n";

export interface OpenAiHabits {
  readonly name: string;
  readonly quirks: Quirks;
}

export function openAiDialect({ name, quirks }: OpenAiHabits): Dialect {
  return {
    name,
    model,
    can: { ...fullAbilities, mixedCalls: true },
    vendorWords: ["openai", "gpt-4o", "cloudflare", "org-of-the-operator"],
    headers: [quirks.keyHeader ?? "authorization"],
    create: ({ origin, ...more }) =>
      built({ ...more, kind: "openai", baseUrl: `${origin}/v1`, quirks }),
    whole: (answer) => ({ headers: json, packets: [JSON.stringify(toReply(answer))] }),
    streamed: (answer) => toStream(toChunks(answer)),
    // Words of compatible servers.
    finishWords: {
      // Said by some although tools were called.
      stop: "tool_calls",
      stop_sequence: "stop",
      eos: "stop",
      eos_token: "stop",
      function_call: "tool_calls",
      tool_use: "tool_calls",
      model_length: "length",
      max_tokens: "length",
      MAX_TOKENS: "length",
      SAFETY: "content_filter",
    },
    usages: oddUsages,
    ...openAiErrors,
    brokenPackets: [
      'data: {"id":"chatcmpl-vendor0002","choi\n\n',
      `data: ${callersWords} ${operatorKey} is no JSON\n\n`,
      'data: "a text"\n\n',
      "data: [1]\n\n",
      "data: null\n\n",
    ],
    asked: (request) => toAsked(request, quirks),
    credential: ({ headers }) =>
      quirks.keyHeader === undefined
        ? /^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1]
        : headers[quirks.keyHeader],
    modelsPath: "/v1/models",
    models: (ids) => {
      const data = ids.map((id) => ({ id, object: "model", created: 1, owned_by: "vendor" }));
      return { headers: json, packets: [JSON.stringify({ object: "list", data })] };
    },
  };
}

const envelope = { id: "chatcmpl-vendor0001", created: 1_791_968_400, model } as const;

function toReply(
  answer: Answer,
  usage: unknown = answer.usage && toOpenAiUsage(answer.usage),
): JsonObject {
  const texts = answer.pieces.flatMap((piece) => ("text" in piece ? [piece.text] : []));
  const thoughts = answer.pieces.flatMap((piece) =>
    "reasoning" in piece ? [piece.reasoning] : [],
  );
  const calls = answer.pieces.flatMap((piece) => ("call" in piece ? [toCall(piece.call)] : []));
  const message = {
    role: "assistant",
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(""),
    refusal: null,
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const finish_reason = answer.finishWord ?? answer.finish;
  const choices = [{ index: 0, message, logprobs: null, finish_reason }];
  return {
    ...envelope,
    object: "chat.completion",
    choices,
    ...(usage === undefined ? {} : { usage: usage as JsonObject }),
  };
}

function toCall({ id, name, pieces }: SaidCall) {
  return { id, type: "function", function: { name, arguments: pieces.join("") } };
}

/** The form of the newest replies: details always there. */
export function toOpenAiUsage({ input, output, cached, written, reasoning }: Counts): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      ...(cached === undefined ? {} : { cached_tokens: cached }),
      ...(written === undefined ? {} : { cache_write_tokens: written }),
    },
    completion_tokens_details: reasoning === undefined ? {} : { reasoning_tokens: reasoning },
  };
}

function toChunk(delta: JsonObject, finish: string | null = null): JsonObject {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return { ...envelope, object: "chat.completion.chunk", choices, usage: null };
}

function toChunks({ pieces, finish, finishWord, usage }: Answer): readonly JsonObject[] {
  const deltas: JsonObject[] = [{ role: "assistant", content: "", refusal: null }];
  let place = 0;
  for (const piece of pieces) {
    if (!("call" in piece)) {
      deltas.push(toWords(piece));
      continue;
    }
    const { id, name, pieces: texts, between = [] } = piece.call;
    const opening = { index: place, id, type: "function", function: { name, arguments: "" } };
    deltas.push({ tool_calls: [opening] });
    for (const [at, text] of texts.entries()) {
      deltas.push({ tool_calls: [{ index: place, function: { arguments: text } }] });
      if (at === 0) deltas.push(...between.map(toWords));
    }
    place += 1;
  }
  return [
    ...deltas.map((delta) => toChunk(delta)),
    toChunk({}, finishWord ?? finish),
    ...(usage === undefined ? [] : [{ ...toChunk({}), choices: [], usage: toOpenAiUsage(usage) }]),
  ];
}

const toWords = (piece: Exclude<Piece, { readonly call: SaidCall }>): JsonObject =>
  "text" in piece ? { content: piece.text } : { reasoning_content: piece.reasoning };

function toStream(chunks: readonly JsonObject[]): VendorStream {
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  const sizeBytes = Buffer.byteLength(events.join(""));
  const wholeFromBytes = sizeBytes + "data: [DONE]".length;
  return { headers: sse, packets: [...events, doneEvent], wholeFromBytes };
}

const hi: Answer = { pieces: [{ text: "Hi" }], finish: "stop" };
const wholeWith = (usage: unknown): VendorReply => ({
  headers: json,
  packets: [JSON.stringify(toReply(hi, usage))],
});
/** Of each chunk but the first, where a vendor counts all the time; of the last alone otherwise. */
const streamWith = (...usages: readonly unknown[]): VendorStream =>
  toStream([
    ...toChunks(hi),
    ...usages.map((usage) => ({ ...toChunk({}), choices: [], usage: usage as JsonObject })),
  ]);
const known = usageOf({ input: 19, output: 10 });
const plain = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 };

const both = (name: string, usage: unknown, expected: Dialect["usages"][number]["expected"]) => ({
  name,
  whole: wholeWith(usage),
  streamed: streamWith(usage),
  expected,
});

const oddUsages: Dialect["usages"] = [
  both("without details leaves them unknown", plain, known),
  both(
    "with details of 0 has them as 0",
    {
      ...plain,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    usageOf({ input: 19, output: 10, cached: 0, reasoning: 0 }),
  ),
  {
    name: "that grows in every chunk is the last one, never the sum",
    streamed: streamWith(
      { prompt_tokens: 19, completion_tokens: 1, total_tokens: 20 },
      { prompt_tokens: 19, completion_tokens: 4, total_tokens: 23 },
      plain,
    ),
    expected: known,
  },
  {
    name: "told twice counts once",
    streamed: streamWith(plain, plain),
    expected: known,
  },
  {
    name: "followed by zeros is the one before",
    streamed: streamWith(plain, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
    expected: known,
  },
];

function toAsked(request: SentRequest, { capName }: Quirks): Asked {
  const body = bodyAt(request, "/v1/chat/completions");
  const messages = listOf(body["messages"]);
  const isSystem = ({ role }: JsonObject) => role === "system" || role === "developer";
  const streamed = body["stream"] === true;
  if (streamed && objectOf(body["stream_options"])["include_usage"] !== true)
    throw new Error("no usage was asked for");
  const other = capName === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (body[other] !== undefined) throw new Error(`the server does not know ${other}`);
  return {
    model: String(body["model"]),
    streamed,
    system: messages.filter(isSystem).map((message) => saidIn(message).join("\n")),
    pieces: messages
      .filter((message) => !isSystem(message))
      .flatMap((message) => toPieces(message, messages)),
    tools: listOf(body["tools"]).map((tool) => {
      const called = objectOf(tool["function"]);
      return toTool(called, called["parameters"]);
    }),
    toolChoice: toChoice(body["tool_choice"]),
    cap: numberOf(body[capName]),
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    stop: typeof body["stop"] === "string" ? [body["stop"]] : textsOf(body["stop"]),
    answerForm: toForm(body["response_format"]),
  };
}

function saidIn({ content }: JsonObject): readonly string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) =>
    isJsonObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
}

function toPieces(message: JsonObject, all: readonly JsonObject[]): readonly AskedPiece[] {
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  if (role === "tool") {
    const result = saidIn(message).join("\n");
    return [{ by: "tool", name: calledName(all, id), result }];
  }
  if (role !== "user" && role !== "assistant") throw new Error(`no role ${String(role)}`);
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [{ text: content ?? "" }];
  const said = parts.flatMap((part): readonly AskedPiece[] => {
    const { text, image_url: image } = part as JsonObject;
    if (isJsonObject(image)) return [{ by: "user", image: toImage(String(image["url"])) }];
    return text === "" ? [] : [{ by: role, text: String(text) }];
  });
  return [...said, ...listOf(calls).map(({ function: called }) => toAskedCall(called))];
}

function toImage(url: string) {
  const [, mediaType = "", base64 = ""] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? [];
  return { mediaType, base64 };
}

function toAskedCall(called: unknown): AskedPiece {
  const { name, arguments: text } = objectOf(called);
  // A server takes no arguments for an object of none.
  const parsed: unknown = text === "" ? {} : JSON.parse(String(text));
  return { by: "assistant", call: { name: String(name), arguments: parsed } };
}

function calledName(messages: readonly JsonObject[], id: unknown): string {
  for (const { tool_calls: calls } of messages)
    for (const call of listOf(calls))
      if (call["id"] === id && isJsonObject(call["function"]))
        return String(call["function"]["name"]);
  throw new Error(`no call has the id ${String(id)}`);
}

function toChoice(choice: unknown): Asked["toolChoice"] {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const called = isJsonObject(choice) ? choice["function"] : undefined;
  return isJsonObject(called) ? { name: String(called["name"]) } : undefined;
}

function toForm(format: unknown): Asked["answerForm"] {
  const { type, json_schema: named } = objectOf(format);
  if (type === "json_object") return "json";
  const { schema } = objectOf(named);
  return isJsonObject(schema) ? { schema } : undefined;
}
