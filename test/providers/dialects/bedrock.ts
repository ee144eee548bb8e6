/** Amazon Bedrock's Converse, through its provider package. */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import type { ProviderSettings } from "../../../src/providers/registry.ts";
import {
  type BedrockAnswer,
  type BedrockBlock,
  type BedrockUsage,
  bedrockEvents,
  bedrockModel,
  bedrockReply,
} from "../../fake/vendors/bedrock-converse.ts";
import { bedrockEvent } from "../../fake/vendors/bedrock-frames.ts";
import { callersWords, usageOf } from "../calls.ts";
import {
  type Answer,
  type Asked,
  type AskedPiece,
  type Counts,
  type Dialect,
  fullAbilities,
  operatorKey,
  type SentRequest,
  type VendorStream,
} from "../dialect.ts";
import { built, listOf, numberOf, objectOf, textsOf, toTool } from "./asked.ts";
import { bedrockErrors } from "./errors/bedrock.ts";

const json = { "content-type": "application/json" };
const frames = { "content-type": "application/vnd.amazon.eventstream" };

interface BedrockHabits {
  readonly name: string;
  readonly settings: Pick<ProviderSettings, "apiKey" | "options">;
  readonly headers: readonly string[];
  readonly credential: Dialect["credential"];
}

/** Signed in with a key of Bedrock's own. */
export const bedrockKeyDialect = bedrockDialect({
  name: "bedrock (key)",
  settings: { apiKey: operatorKey, options: { region: "us-east-1" } },
  headers: ["authorization"],
  credential: ({ headers }) => /^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1],
});

/** With credentials of the cloud, by which each request is signed. The secret itself never goes out. */
export const bedrockSignedDialect = bedrockDialect({
  name: "bedrock (signed)",
  settings: {
    apiKey: undefined,
    options: {
      region: "eu-central-1",
      access_key_id: operatorKey,
      secret_access_key: "wJalrXUtnFEMI-of-the-operator",
      session_token: "session-of-the-operator",
    },
  },
  headers: ["authorization", "x-amz-date", "x-amz-security-token"],
  credential: ({ headers }) => {
    const signed =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/eu-central-1\/bedrock\/aws4_request/;
    return headers["x-amz-security-token"] === "session-of-the-operator"
      ? signed.exec(headers["authorization"] ?? "")?.[1]
      : undefined;
  },
});

function bedrockDialect({ name, settings, headers, credential }: BedrockHabits): Dialect {
  return {
    name,
    model: bedrockModel,
    can: { ...fullAbilities, anyJson: false, reasoningTokens: false },
    vendorWords: ["bedrock", "amazon", "aws", "anthropic", "claude"],
    headers,
    create: ({ origin, ...more }) =>
      built({ ...more, kind: "bedrock", baseUrl: origin, ...settings }),
    whole: (answer) => ({ headers: json, packets: [bedrockReply(toAnswer(answer))] }),
    streamed: (answer) => toStream(bedrockEvents(toAnswer(answer))),
    finishWords: {
      stop_sequence: "stop",
      guardrail_intervened: "content_filter",
      tool_use: "tool_calls",
      a_new_reason: "stop",
    },
    usages: usagesOf(),
    ...bedrockErrors,
    brokenPackets: [
      withWrongChecksum(),
      bedrockEvent("contentBlockDelta", '{"contentBlockIndex":0,"del'),
      bedrockEvent("contentBlockDelta", `${callersWords} ${operatorKey} is no JSON`),
      bedrockEvent("contentBlockDelta", { contentBlockIndex: "zero", delta: { text: 7 } }),
      // A length that no frame has.
      Buffer.from([0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ],
    // A frame of nearly 4 GiB.
    endlessOpening: Buffer.from([0xff, 0xff, 0xff, 0xff]),
    asked: toAsked,
    credential,
  };
}

function withWrongChecksum(): Buffer {
  const frame = bedrockEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "no" } });
  const last = frame.length - 1;
  frame.writeUInt8(frame.readUInt8(last) ^ 1, last);
  return frame;
}

const words = {
  stop: "end_turn",
  length: "max_tokens",
  content_filter: "content_filtered",
  tool_calls: "tool_use",
};

function toAnswer({ pieces, finish, finishWord, usage }: Answer): BedrockAnswer {
  const blocks: BedrockBlock[] = [];
  for (const piece of pieces) {
    const last = blocks.at(-1);
    if ("text" in piece) {
      const isMore = last !== undefined && "text" in last;
      const text = isMore ? [...last.text, piece.text] : [piece.text];
      if (isMore) blocks.pop();
      blocks.push({ text });
    } else if ("reasoning" in piece) {
      const isMore = last !== undefined && "reasoning" in last;
      const reasoning = isMore ? [...last.reasoning, piece.reasoning] : [piece.reasoning];
      if (isMore) blocks.pop();
      blocks.push({ reasoning, signature: "c2lnbmVk" });
    } else {
      const { id, name, pieces: input } = piece.call;
      blocks.push({ toolUseId: id, name, input });
    }
  }
  const told = usage === undefined ? {} : { usage: toUsage(usage) };
  return { blocks, stopReason: finishWord ?? words[finish], ...told };
}

function toUsage({ input, output, cached = 0, written = 0 }: Counts): BedrockUsage {
  return {
    inputTokens: input - cached - written,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: written,
  };
}

function toStream(packets: readonly Buffer[]): VendorStream {
  const sizeBytes = packets.reduce((sum, packet) => sum + packet.length, 0);
  return { headers: frames, packets, wholeFromBytes: sizeBytes };
}

function usagesOf(): Dialect["usages"] {
  const usage = { inputTokens: 19, outputTokens: 10, totalTokens: 29 };
  const said = (counts: BedrockUsage) => ({
    blocks: [{ text: ["Hi"] }],
    stopReason: "end_turn",
    usage: counts,
  });
  const both = (
    name: string,
    counts: BedrockUsage,
    expected: Dialect["usages"][number]["expected"],
  ) => ({
    name,
    whole: { headers: json, packets: [bedrockReply(said(counts))] },
    streamed: toStream(bedrockEvents(said(counts))),
    expected,
  });
  return [
    both("without caches leaves them unknown", usage, usageOf({ input: 19, output: 10 })),
    both(
      "counts what was read from a cache and written to it as input",
      { ...usage, cacheReadInputTokens: 100, cacheWriteInputTokens: 30 },
      usageOf({ input: 149, output: 10, cached: 100, written: 30 }),
    ),
  ];
}

function toAsked(request: SentRequest): Asked {
  const [, encoded = "", verb = ""] =
    /^\/model\/([^/]+)\/(converse(?:-stream)?)$/.exec(request.path) ?? [];
  if (request.method !== "POST" || verb === "")
    throw new Error(`${request.method} ${request.path} is no chat`);
  const body = objectOf(request.json);
  const messages = listOf(body["messages"]);
  const { temperature, topP, maxTokens, stopSequences: stop } = objectOf(body["inferenceConfig"]);
  const { tools, toolChoice } = objectOf(body["toolConfig"]);
  const config = objectOf(objectOf(body["additionalModelRequestFields"])["output_config"]);
  const { schema } = objectOf(config["format"]);
  return {
    model: decodeURIComponent(encoded),
    streamed: verb === "converse-stream",
    system: listOf(body["system"]).map(({ text }) => String(text)),
    pieces: messages.flatMap((message) => toPieces(message, messages)),
    tools: listOf(tools).map(({ toolSpec }) => {
      const tool = objectOf(toolSpec);
      return toTool(tool, objectOf(tool["inputSchema"])["json"]);
    }),
    toolChoice: toChoice(objectOf(toolChoice)),
    cap: numberOf(maxTokens),
    temperature: numberOf(temperature),
    topP: numberOf(topP),
    stop: textsOf(stop),
    answerForm: isJsonObject(schema) ? { schema } : undefined,
  };
}

function toPieces({ role, content }: JsonObject, all: readonly JsonObject[]): AskedPiece[] {
  if (role !== "user" && role !== "assistant") throw new Error(`no role ${String(role)}`);
  return listOf(content).map((block): AskedPiece => {
    const { text, image, toolUse, toolResult } = block;
    if (typeof text === "string") return { by: role, text };
    if (isJsonObject(toolUse) && role === "assistant")
      return { by: role, call: { name: String(toolUse["name"]), arguments: toolUse["input"] } };
    if (isJsonObject(image) && role === "user")
      return {
        by: role,
        image: {
          mediaType: `image/${String(image["format"])}`,
          base64: String(objectOf(image["source"])["bytes"]),
        },
      };
    if (isJsonObject(toolResult) && role === "user") {
      const result = listOf(toolResult["content"]).map((part) => String(part["text"]));
      return {
        by: "tool",
        name: calledName(all, toolResult["toolUseId"]),
        result: result.join("\n"),
      };
    }
    throw new Error(`no block ${Object.keys(block).join()} of ${role}`);
  });
}

function calledName(messages: readonly JsonObject[], id: unknown): string {
  const calls = messages
    .flatMap(({ content }) => listOf(content))
    .map(({ toolUse }) => objectOf(toolUse));
  const call = calls.find((one) => one["toolUseId"] === id);
  if (call === undefined) throw new Error(`no call has the id ${String(id)}`);
  return String(call["name"]);
}

function toChoice({ auto, any, tool }: JsonObject): Asked["toolChoice"] {
  if (isJsonObject(tool)) return { name: String(tool["name"]) };
  if (any !== undefined) return "required";
  return auto === undefined ? undefined : "auto";
}
