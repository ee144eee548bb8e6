import {
  casesOf,
  chatRequest,
  embeddingRequest,
  fill,
  largestBytes,
  rawChat,
  type StallCase,
  speechRequest,
} from "./stall-case.ts";
import { vectorsReply } from "./upstream-bytes.ts";

/** Texts that cost more than their size, wherever a request can carry text. */
const marks = "\u0301\u0316";
const zalgo = `a${"\u0300\u0316\u0315\u0327\u0345".repeat(20)}`;
const size = "size estimate of the prompt (src/call/chat-size.ts)";
const large = "whole path of a large body";
const vectors = {
  reply: () => vectorsReply({ count: 100, dimensions: 3_072, encoding: "float" }),
};

const inChat = (unit: string, sizeBytes: number) => () => chatRequest(`a${fill(unit, sizeBytes)}`);
const inTexts = (unit: string, sizeBytes: number) => () =>
  embeddingRequest(Array.from({ length: 100 }, () => fill(unit, sizeBytes)));
const markedTools = () =>
  Array.from({ length: 128 }, (_, at) => ({
    type: "function",
    function: { name: `f${at}${marks.repeat(60)}`, parameters: {} },
  }));
const markedSchema = () => ({
  type: "json_schema",
  json_schema: { name: "x", schema: { description: fill(marks, 32_000) } },
});

export const textCases: readonly StallCase[] = [
  ...casesOf(size, {
    "chat-marks-32kb": inChat(marks, 32_000),
    "chat-marks-31mb": inChat(marks, largestBytes),
    "chat-many-short-runs-of-marks": inChat(`a${marks.repeat(15)}`, 1_000_000),
    "chat-zalgo-1mb": inChat(zalgo, 1_000_000),
    "chat-ligature-fdfa-31mb": inChat("\ufdfa", largestBytes),
    "chat-hangul-jamo-8mb": inChat("\u1112\u1161\u11ab", 8_000_000),
    "chat-family-emoji-8mb": inChat("👨‍👩‍👧‍👦", 8_000_000),
    "chat-right-to-left-8mb": inChat("\u202e\u05d0\u0627\u200f", 8_000_000),
    "chat-cjk-31mb": inChat("漢字", largestBytes),
    "chat-latin-accents-31mb": inChat("é", largestBytes),
    "chat-emoji-31mb": inChat("😀", largestBytes),
    "chat-ascii-31mb": inChat("hello world ", largestBytes),
    "chat-ascii-4mb": inChat("hello world ", 4_000_000),
    "chat-cjk-1mb": inChat("漢字", 1_000_000),
    "chat-marks-in-tool-names": () => chatRequest("Hi", { tools: markedTools() }),
    "chat-marks-in-a-schema-32kb": () => chatRequest("Hi", { response_format: markedSchema() }),
    "embeddings-one-text-of-marks-32kb": () => embeddingRequest(`a${fill(marks, 32_000)}`),
  }),
  ...casesOf(
    size,
    {
      "embeddings-100-texts-of-marks-32kb": inTexts(marks, 320),
      "embeddings-100-texts-of-300kb-ligatures": inTexts("\ufdfa", 300_000),
    },
    vectors,
  ),
  ...casesOf(
    large,
    {
      "embeddings-100-texts-of-300kb-ascii": inTexts("hello world ", 300_000),
      "embeddings-100-texts-of-300kb-cjk": inTexts("漢字", 300_000),
    },
    vectors,
  ),
  ...["stop", "user"].flatMap((field) =>
    casesOf(`the field ${field}`, {
      [`chat-marks-in-${field}-1mb`]: () => chatRequest("Hi", { [field]: fill(marks, 1_000_000) }),
    }),
  ),
  ...casesOf("the field metadata", {
    "chat-marks-in-metadata-1mb": () =>
      chatRequest("Hi", { metadata: { a: fill(marks, 1_000_000) } }),
  }),
  ...casesOf("escapes of the JSON parser, encoding for the upstream", {
    "chat-lone-surrogates-12mb": () => rawChat(`"user":"${fill("\\ud800", 12_000_000)}"`),
  }),
  ...casesOf("search for the model, and its name in the message", {
    "chat-model-of-31mb": () => chatRequest("Hi", { model: fill(marks, largestBytes) }),
  }),
  ...casesOf("hiding of keys in the message (toShown)", {
    "chat-model-of-keys-31mb": () => chatRequest("Hi", { model: fill("sk-svc-", largestBytes) }),
  }),
  ...casesOf("count of characters in speech", {
    "speech-31mb": () => speechRequest(fill("😀", largestBytes)),
    "speech-marks": () => speechRequest(`a${marks.repeat(2_400)}`),
  }),
];
