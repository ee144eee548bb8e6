/** The Gemini API, as its vendor documents it. */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import type { Usage } from "../../../src/call/usage.ts";
import { geminiEvent, geminiReply } from "../../fake/vendors/gemini-replies.ts";
import { usageOf } from "../calls.ts";
import {
  type Answer,
  type Asked,
  type AskedPiece,
  type Counts,
  type Dialect,
  fullAbilities,
  type OddUsage,
  type Piece,
  type SentRequest,
  type VendorStream,
} from "../dialect.ts";
import { built, listOf, numberOf, objectOf, textsOf, toTool } from "./asked.ts";
import { geminiErrors } from "./errors/gemini.ts";

const model = "gemini-3-flash-preview";
const json = { "content-type": "application/json; charset=UTF-8" };
const sse = { "content-type": "text/event-stream" };

const finishWords = {
  stop: "STOP",
  // It has no word of its own for an end with calls.
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
} as const;

const hi: Answer = { pieces: [{ text: "Hi" }], finish: "stop" };

const plainUsage = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 };
const plainTold = usageOf({ input: 9, output: 4 });

export const geminiDialect: Dialect = {
  name: "gemini",
  model,
  can: { ...fullAbilities, writtenTokens: false },
  vendorWords: ["gemini", "google", "generativelanguage", "ai studio"],
  headers: ["x-goog-api-key"],
  create: ({ origin, ...more }) => built({ ...more, kind: "gemini", baseUrl: `${origin}/v1beta` }),
  whole: (answer) => ({ headers: json, packets: [JSON.stringify(toReply(answer), null, 2)] }),
  streamed: (answer) => toStream(toEvents(answer)),
  finishWords: {
    RECITATION: "content_filter",
    BLOCKLIST: "content_filter",
    PROHIBITED_CONTENT: "content_filter",
    SPII: "content_filter",
    IMAGE_SAFETY: "content_filter",
    LANGUAGE: "content_filter",
    OTHER: "content_filter",
    FINISH_REASON_UNSPECIFIED: "stop",
    MALFORMED_FUNCTION_CALL: "stop",
    UNEXPECTED_TOOL_CALL: "stop",
    TOO_MANY_TOOL_CALLS: "tool_calls",
    A_WORD_OF_TOMORROW: "stop",
  },
  usages: oddUsages(),
  ...geminiErrors,
  brokenPackets: [
    'data: {"candidates":[{"content":{"pa\r\n\r\n',
    "data: not JSON at all\r\n\r\n",
    'data: "a text"\r\n\r\n',
    "data: [1]\r\n\r\n",
    "data: null\r\n\r\n",
  ],
  asked: toAsked,
  credential: ({ headers }) => headers["x-goog-api-key"],
  models: (ids) => {
    const models = ids.map((id) => ({
      name: `models/${id}`,
      version: "001",
      displayName: id,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ["generateContent", "countTokens"],
    }));
    return { headers: json, packets: [JSON.stringify(ids.length === 0 ? {} : { models })] };
  },
};

function toPart(piece: Piece): JsonObject {
  if ("text" in piece) return { text: piece.text };
  if ("reasoning" in piece) return { text: piece.reasoning, thought: true };
  const { name, pieces } = piece.call;
  const args = JSON.parse(pieces.join("")) as JsonObject;
  return { functionCall: Object.keys(args).length === 0 ? { name } : { name, args } };
}

/** What is 0 is left out of the vendor's JSON. */
function toUsage(counts: Counts | undefined): JsonObject | undefined {
  if (counts === undefined) return undefined;
  const { input, output, cached, reasoning = 0 } = counts;
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: input }],
  };
}

function toReply(answer: Answer, usage = toUsage(answer.usage)): JsonObject {
  const parts = answer.pieces.map(toPart);
  const finishReason = answer.finishWord ?? finishWords[answer.finish];
  return geminiReply(parts.length === 0 ? { finishReason, usage } : { parts, finishReason, usage });
}

/** Counts grow from event to event; the last one also ends the answer, with no words left. */
function toEvents({ pieces, finish, finishWord, usage }: Answer): readonly JsonObject[] {
  const growing = toUsage(usage && { ...usage, output: (usage.reasoning ?? 0) + 1 });
  const events = pieces.map((piece) => geminiReply({ parts: [toPart(piece)], usage: growing }));
  const finishReason = finishWord ?? finishWords[finish];
  return [...events, geminiReply({ parts: [{ text: "" }], finishReason, usage: toUsage(usage) })];
}

function toStream(events: readonly JsonObject[]): VendorStream {
  const packets = events.map((event) => geminiEvent(event));
  const sizeBytes = Buffer.byteLength(packets.join(""));
  return { headers: sse, packets, wholeFromBytes: sizeBytes - "\r\n\r\n".length };
}

function oddUsages(): readonly OddUsage[] {
  const streamed = (...usages: readonly JsonObject[]) =>
    toStream([
      ...usages.map((usage) => geminiReply({ parts: [{ text: "Hi" }], usage })),
      geminiReply({ finishReason: "STOP", usage: usages.at(-1) }),
    ]);
  return [
    ...usageForms().map(
      ([name, usage, expected]): OddUsage => ({
        name,
        whole: { headers: json, packets: [JSON.stringify(toReply(hi, usage))] },
        streamed: streamed(usage),
        expected,
      }),
    ),
    {
      name: "that grows in every event is the last one, never the sum",
      streamed: streamed(
        { promptTokenCount: 9, totalTokenCount: 9 },
        { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
        plainUsage,
      ),
      expected: plainTold,
    },
  ];
}

function usageForms(): readonly (readonly [string, JsonObject, Usage | undefined])[] {
  const plain = plainUsage;
  const told = plainTold;
  const thought = { ...told, outputTokens: 34, reasoningTokens: 30 };
  const thoughts = { promptTokenCount: 9, thoughtsTokenCount: 30, totalTokenCount: 43 };
  return [
    ["without details leaves them unknown", plain, told],
    ["without a total is the sum of its parts", { ...plain, totalTokenCount: undefined }, told],
    [
      "with thoughts beside the answer counts both as output",
      { ...thoughts, candidatesTokenCount: 4 },
      thought,
    ],
    [
      "with thoughts that are in the answer already counts them once",
      { ...thoughts, candidatesTokenCount: 34 },
      thought,
    ],
    [
      "with more thoughts than answer counts both, whatever the total says",
      { ...thoughts, candidatesTokenCount: 4, totalTokenCount: 13 },
      thought,
    ],
    [
      "of thoughts alone is their number",
      { promptTokenCount: 21, thoughtsTokenCount: 60, totalTokenCount: 81 },
      { ...told, inputTokens: 21, outputTokens: 60, reasoningTokens: 60 },
    ],
    [
      "of a prompt that was partly cached has that part in it",
      { ...plain, cachedContentTokenCount: 5 },
      { ...told, cachedInputTokens: 5 },
    ],
    [
      "of the vendor's own tools is input",
      { ...plain, toolUsePromptTokenCount: 100, thoughtsTokenCount: 7, totalTokenCount: 120 },
      { ...told, inputTokens: 109, outputTokens: 11, reasoningTokens: 7 },
    ],
    [
      "of the vendor's own tools, with thoughts in the answer, counts them once",
      { ...plain, toolUsePromptTokenCount: 100, thoughtsTokenCount: 3, totalTokenCount: 113 },
      { ...told, inputTokens: 109, reasoningTokens: 3 },
    ],
    [
      "with a total alone takes the output from it",
      { promptTokenCount: 9, totalTokenCount: 13 },
      told,
    ],
    ["of a prompt alone is none", { promptTokenCount: 9, totalTokenCount: 9 }, undefined],
    ["of an empty object is none", {}, undefined],
    ["of texts is none", { promptTokenCount: "9", candidatesTokenCount: "4" }, undefined],
  ];
}

function toAsked(request: SentRequest): Asked {
  const [path = "", query] = request.path.split("?");
  const [, named = "", method = ""] = /^\/v1beta\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  const streamed = method === "streamGenerateContent";
  const isChat = streamed
    ? query === "alt=sse"
    : method === "generateContent" && query === undefined;
  if (request.method !== "POST" || !isChat) throw new Error(`${request.path} is no chat`);
  const body = objectOf(request.json);
  const config = objectOf(body["generationConfig"]);
  const contents = listOf(body["contents"]);
  checkTurns(contents);
  return {
    model: named,
    streamed,
    system: listOf(objectOf(body["systemInstruction"])["parts"]).map(({ text }) => String(text)),
    pieces: contents.flatMap(toPieces),
    tools: listOf(body["tools"])
      .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
      .map((tool) => toTool(tool, tool["parametersJsonSchema"])),
    toolChoice: toChoice(objectOf(body["toolConfig"])["functionCallingConfig"]),
    cap: numberOf(config["maxOutputTokens"]),
    temperature: numberOf(config["temperature"]),
    topP: numberOf(config["topP"]),
    stop: textsOf(config["stopSequences"]),
    answerForm: toForm(config),
  };
}

/** What the vendor refuses: a turn of nothing, and results that are not as many as the calls. */
function checkTurns(contents: readonly JsonObject[]): void {
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== "user" && role !== "model") throw new Error(`no role ${String(role)}`);
    if (listOf(parts).length === 0) throw new Error("a turn without parts");
    const calls = listOf(parts).filter(({ functionCall }) => functionCall !== undefined);
    if (calls.length === 0) continue;
    // Without it the newer models refuse a call; of several at once the first alone has one.
    if (typeof calls[0]?.["thoughtSignature"] !== "string") throw new Error("no signature");
    const results = listOf(contents[at + 1]?.["parts"]);
    const answered = results.filter(({ functionResponse }) => functionResponse !== undefined);
    if (answered.length !== calls.length || results.length !== calls.length)
      throw new Error(`${answered.length} results of ${calls.length} calls`);
  }
}

function toPieces({ role, parts }: JsonObject): readonly AskedPiece[] {
  return listOf(parts).map((part): AskedPiece => {
    const { text, inlineData, functionCall, functionResponse } = part;
    if (isJsonObject(inlineData)) {
      const { mimeType, data } = inlineData;
      return { by: "user", image: { mediaType: String(mimeType), base64: String(data) } };
    }
    if (isJsonObject(functionCall)) {
      const { name, args } = functionCall;
      return { by: "assistant", call: { name: String(name), arguments: args } };
    }
    if (isJsonObject(functionResponse)) {
      const { name, response } = functionResponse;
      const { result, ...more } = objectOf(response);
      const isWrapped = typeof result === "string" && Object.keys(more).length === 0;
      const said = isWrapped ? result : JSON.stringify(response);
      return { by: "tool", name: String(name), result: said };
    }
    return { by: role === "model" ? "assistant" : "user", text: String(text) };
  });
}

function toChoice(config: unknown): Asked["toolChoice"] {
  const { mode, allowedFunctionNames: names } = objectOf(config);
  if (Array.isArray(names)) return { name: String(names[0]) };
  return { AUTO: "auto", NONE: "none", ANY: "required" }[String(mode)] as Asked["toolChoice"];
}

function toForm({ responseMimeType, responseJsonSchema }: JsonObject): Asked["answerForm"] {
  if (responseMimeType !== "application/json") return undefined;
  return isJsonObject(responseJsonSchema) ? { schema: responseJsonSchema } : "json";
}
