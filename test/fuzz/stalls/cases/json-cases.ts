import {
  casesOf,
  chatRequest,
  embeddingRequest,
  fill,
  keys,
  largestBytes,
  list,
  nested,
  rawChat,
  type StallCase,
} from "./stall-case.ts";

/** JSON that is cheap to send and dear to parse, check, walk or write again. */
const deepSchema = (levels: number): string =>
  `${'{"anyOf":['.repeat(levels)}{"$ref":"#"}${"]}".repeat(levels)}`;
const schemaFormat = (schema: string) => () =>
  rawChat(`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":${schema}}}`);
const unknown = (raw: () => string) => () => rawChat(`"unknown":${raw()}`);
const messages = (raw: () => string) => () => rawChat(`"messages":[${raw()}]`);
const parts = (raw: () => string) => messages(() => `{"role":"user","content":[${raw()}]}`);
const imageAt = (url: string) => chatRequest([{ type: "image_url", image_url: { url } }]);
const functionOf = (parameters: string) =>
  `{"type":"function","function":{"name":"f","parameters":${parameters}}}`;

const textPart = '{"type":"text","text":"x"}';
const imagePart = '{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}';
/** Near the bound of a million values: a field weighs five. */
const mostKeys = 190_000;
const steps = () => "a.".repeat(largestBytes / 2);

export const jsonCases: readonly StallCase[] = [
  ...casesOf("bounds of JSON (src/base/json/bounds.ts)", {
    "json-nested-31mb": unknown(() => nested(largestBytes / 2)),
  }),
  ...casesOf("JSON parser", {
    "json-nested-64kb": unknown(() => nested(32_000)),
    "json-990000-numbers": unknown(() => `[${list("1", 990_000)}]`),
    "json-490000-empty-lists": unknown(() => `[${list("[]", 490_000)}]`),
    "json-190000-keys": unknown(() => `{${keys(mostKeys)}}`),
    "json-190000-numbers-as-keys": unknown(() => `{${keys(mostKeys, (at) => at * 20_011)}}`),
    "json-190000-times-the-same-key": unknown(() => `{${keys(mostKeys, () => "k")}}`),
    "json-a-number-of-31mb": unknown(() => "1".repeat(largestBytes)),
    "json-a-fraction-of-31mb": unknown(() => `0.${"1".repeat(largestBytes)}`),
    "json-long-numbers-31mb": unknown(() => `[${list(`1.${"23456789".repeat(4)}e-5`, 700_000)}]`),
    "json-nul-escapes-31mb": unknown(() => `"${fill("\\u0000", largestBytes)}"`),
    "json-open-string-of-31mb": unknown(() => `"${"a".repeat(largestBytes)}`),
  }),
  ...casesOf("bounds of JSON", {
    "json-31mb-of-commas": unknown(() => `[${",".repeat(largestBytes)}]`),
    "json-31mb-of-spaces": unknown(() => `[${" ".repeat(largestBytes)}]`),
  }),
  ...casesOf("bounds of JSON, parser", {
    "json-backslashes-31mb": unknown(() => `"${fill("\\\\", largestBytes)}"`),
    "json-quotes-31mb": unknown(() => `"${fill('\\"', largestBytes)}"`),
  }),
  ...casesOf("parser, and the writer for the upstream", {
    "json-newlines-in-a-message-31mb": () => chatRequest("\n".repeat(largestBytes / 2)),
  }),
  ...casesOf("bounds of JSON, parser, writer", {
    "json-source-code-24mb": () => chatRequest(fill('  const x = "a";\n', 24_000_000)),
  }),
  ...casesOf(
    "parser, below the size from which bounds are checked",
    { "json-63kb-at-a-high-rate": unknown(() => `{${keys(6_000)}}`) },
    { times: 200, atOnce: 8 },
  ),
  ...casesOf("validation and walks over messages", {
    "chat-90000-messages": messages(() => list('{"role":"user","content":"x"}', 90_000)),
  }),
  ...casesOf("validation and walks over parts", {
    "chat-90000-text-parts": parts(() => list(textPart, 90_000)),
  }),
  ...casesOf("check of image addresses", {
    "chat-60000-image-addresses": parts(() => list(imagePart, 60_000)),
    "chat-an-image-address-of-31mb": () => imageAt(`https://a.example/${steps()}`),
    "chat-an-image-host-of-31mb": () => imageAt(`https://${steps()}/`),
  }),
  ...casesOf("validation, and the search for the field to name", {
    "chat-wrong-part-behind-90000-good-ones": parts(() => `${list(textPart, 90_000)},{"type":"x"}`),
  }),
  ...casesOf("parser, size estimate", {
    "chat-message-with-190000-keys": messages(
      () => `{"role":"user","content":"x",${keys(mostKeys)}}`,
    ),
  }),
  ...casesOf("validation of metadata", {
    "chat-metadata-with-190000-keys": () => rawChat(`"metadata":{${keys(mostKeys)}}`),
  }),
  ...casesOf("validation of logit_bias", {
    "chat-logit-bias-with-190000-keys": () =>
      rawChat(`"logit_bias":{${keys(mostKeys, (at) => at)}}`),
  }),
  ...casesOf("validation of stop", {
    "chat-900000-stop-words": () => rawChat(`"stop":[${list('"x"', 900_000)}]`),
  }),
  ...casesOf("check of the depth (src/wire/v1/chat/call.ts)", {
    "chat-tools-with-490000-empty-lists": () =>
      rawChat(`"tools":[${functionOf(`{"x":[${list("[]", 490_000)}]}`)}]`),
  }),
  ...casesOf("validation of tools, size estimate", {
    "chat-128-large-tools": () =>
      rawChat(`"tools":[${list(functionOf(`{"properties":{${keys(1_400)}}}`), 128)}]`),
  }),
  ...casesOf("walks over response_format", {
    "chat-schema-nested-120-levels": schemaFormat(deepSchema(60)),
    "chat-schema-nested-900-levels": schemaFormat(deepSchema(450)),
  }),
  ...casesOf("patterns of a caller's schema", {
    "chat-schema-with-patterns": schemaFormat(
      `{"pattern":"^(a+)+$","default":"${"a".repeat(64_000)}!"}`,
    ),
  }),
  ...casesOf("validation of token ids", {
    "embeddings-990000-token-ids": () => embeddingRequest(Array<number>(990_000).fill(1)),
  }),
  ...casesOf("refusal of a large body", {
    "embeddings-texts-101-of-300kb": () =>
      embeddingRequest(Array<string>(101).fill(fill("漢字", 300_000))),
  }),
];
