/** A model of OpenAI's that has no chat completions: chats reach it as Responses. */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import { quirksOf } from "../../../src/catalog/vendors.ts";
import { openAiResponses } from "../../dialects/wires/openai-responses.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { callersWords, usageOf } from "../calls.ts";
import { type Answer, type Dialect, operatorKey, type VendorReply } from "../dialect.ts";
import { openAiErrors } from "./errors/openai.ts";
import { openAiDialect } from "./openai.ts";

const plain = openAiDialect({ name: "openai", quirks: quirksOf("openai", "") });

/** The vendor's words of 2026. */
const noChats = "This model is only supported in v1/responses and not in v1/chat/completions.";

const refused = (status: number, fields: JsonObject): VendorReply => ({
  status,
  headers: { "content-type": "application/json" },
  packets: [JSON.stringify({ error: { type: "invalid_request_error", code: null, ...fields } })],
});

/** As the vendor refuses what it serves in Responses only. */
function withoutChats(request: RecordedRequest): VendorReply | undefined {
  if (request.path !== "/v1/chat/completions") return undefined;
  const { json: body } = request;
  if (!isJsonObject(body) || body["model"] !== openAiResponses.model) return undefined;
  return refused(404, { message: noChats, param: "model" });
}

const hi: Answer = { pieces: [{ text: "Hi" }], finish: "stop", usage: { input: 19, output: 10 } };
const replaced = (from: string, to: string) => ({
  whole: withPackets(openAiResponses.whole(hi), from, to),
  streamed: withPackets(openAiResponses.streamed(hi), from, to),
});

function withPackets<T extends VendorReply>(reply: T, from: string, to: string): T {
  const packets = reply.packets.map((packet) => String(packet).replace(from, to));
  return { ...reply, packets };
}

const inputDetails = '"input_tokens_details":{"cached_tokens":0},';
const outputDetails = '"output_tokens_details":{"reasoning_tokens":0},';
const known = usageOf({ input: 19, output: 10, cached: 0, reasoning: 0 });

export const responsesOnlyDialect: Dialect = {
  ...plain,
  ...openAiResponses,
  name: "openai (responses only)",
  can: { ...openAiResponses.can, stops: false },
  vendorWords: [...plain.vendorWords, "gpt-5"],
  beside: withoutChats,
  finishWords: {},
  usages: [
    {
      name: "without details leaves them unknown",
      ...replaced(inputDetails, ""),
      expected: { ...known, cachedInputTokens: undefined },
    },
    {
      name: "without reasoning leaves it unknown",
      ...replaced(outputDetails, ""),
      expected: { ...known, reasoningTokens: undefined },
    },
    {
      name: "of half a count is none",
      ...replaced('"output_tokens":10,', ""),
      expected: undefined,
    },
    { name: "of texts is none", ...replaced(":19,", ':"19",'), expected: undefined },
  ],
  rateLimited: openAiErrors.rateLimited,
  brokenPackets: [
    'data: {"type":"response.output_text.del\n\n',
    `data: ${callersWords} ${operatorKey} is no JSON\n\n`,
    'data: "a text"\n\n',
    "data: [1]\n\n",
    "data: null\n\n",
    'data: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
    'data: {"type":"response.output_item.added","output_index":7,"item":{"type":"function_call"}}\n\n',
  ],
};
