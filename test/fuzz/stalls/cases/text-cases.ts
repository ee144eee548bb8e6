import {
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
const family = "👨‍👩‍👧‍👦";
const size = "size estimate of the prompt (src/call/chat-size.ts)";
const hundred = (text: string) => Array.from({ length: 100 }, () => text);
const vectors = () => vectorsReply({ count: 100, dimensions: 3_072, encoding: "float" });

const inChat = (name: string, unit: string, sizeBytes: number): StallCase => ({
  name: `chat-${name}`,
  attacks: size,
  request: () => chatRequest(`a${fill(unit, sizeBytes)}`),
});

export const textCases: readonly StallCase[] = [
  inChat("marks-32kb", marks, 32_000),
  inChat("marks-31mb", marks, largestBytes),
  inChat("many-short-runs-of-marks", `a${marks.repeat(15)}`, 1_000_000),
  inChat("zalgo-1mb", zalgo, 1_000_000),
  inChat("ligature-fdfa-31mb", "\ufdfa", largestBytes),
  inChat("hangul-jamo-8mb", "\u1112\u1161\u11ab", 8_000_000),
  inChat("family-emoji-8mb", family, 8_000_000),
  inChat("right-to-left-8mb", "\u202e\u05d0\u0627\u200f", 8_000_000),
  inChat("cjk-31mb", "漢字", largestBytes),
  inChat("latin-accents-31mb", "é", largestBytes),
  inChat("emoji-31mb", "😀", largestBytes),
  inChat("ascii-31mb", "hello world ", largestBytes),
  inChat("ascii-4mb", "hello world ", 4_000_000),
  inChat("cjk-1mb", "漢字", 1_000_000),
  {
    name: "chat-lone-surrogates-12mb",
    attacks: "escapes of the JSON parser, encoding for the upstream",
    request: () => rawChat(`"user":"${fill("\\ud800", 12_000_000)}"`),
  },
  {
    name: "chat-marks-in-tool-names",
    attacks: size,
    request: () =>
      chatRequest("Hi", {
        tools: Array.from({ length: 128 }, (_, at) => ({
          type: "function",
          function: { name: `f${at}${marks.repeat(60)}`, parameters: {} },
        })),
      }),
  },
  {
    name: "chat-marks-in-a-schema-32kb",
    attacks: size,
    request: () =>
      chatRequest("Hi", {
        response_format: {
          type: "json_schema",
          json_schema: { name: "x", schema: { description: fill(marks, 32_000) } },
        },
      }),
  },
  ...(["stop", "user"] as const).map((field) => ({
    name: `chat-marks-in-${field}-1mb`,
    attacks: `the field ${field}`,
    request: () => chatRequest("Hi", { [field]: fill(marks, 1_000_000) }),
  })),
  {
    name: "chat-marks-in-metadata-1mb",
    attacks: "the field metadata",
    request: () => chatRequest("Hi", { metadata: { a: fill(marks, 1_000_000) } }),
  },
  {
    name: "chat-model-of-31mb",
    attacks: "search for the model, and its name in the message",
    request: () => chatRequest("Hi", { model: fill(marks, largestBytes) }),
  },
  {
    name: "chat-model-of-keys-31mb",
    attacks: "hiding of keys in the message (toShown)",
    request: () => chatRequest("Hi", { model: fill("sk-svc-", largestBytes) }),
  },
  {
    name: "embeddings-100-texts-of-marks-32kb",
    attacks: size,
    request: () => embeddingRequest(hundred(fill(marks, 320))),
    reply: vectors,
  },
  {
    name: "embeddings-one-text-of-marks-32kb",
    attacks: size,
    request: () => embeddingRequest(`a${fill(marks, 32_000)}`),
  },
  {
    name: "embeddings-100-texts-of-300kb-ascii",
    attacks: "whole path of a large body",
    request: () => embeddingRequest(hundred(fill("hello world ", 300_000))),
    reply: vectors,
  },
  {
    name: "embeddings-100-texts-of-300kb-cjk",
    attacks: "whole path of a large body",
    request: () => embeddingRequest(hundred(fill("漢字", 300_000))),
    reply: vectors,
  },
  {
    name: "embeddings-100-texts-of-300kb-ligatures",
    attacks: size,
    request: () => embeddingRequest(hundred(fill("\ufdfa", 300_000))),
    reply: vectors,
  },
  {
    name: "speech-31mb",
    attacks: "count of characters in speech",
    request: () => speechRequest(fill("😀", largestBytes)),
  },
  {
    name: "speech-marks",
    attacks: "count of characters in speech",
    request: () => speechRequest(`a${marks.repeat(2_400)}`),
  },
];
