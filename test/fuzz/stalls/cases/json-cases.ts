import {
  chatRequest,
  embeddingRequest,
  fill,
  largestBytes,
  rawChat,
  type StallCase,
} from "./stall-case.ts";

/** JSON that is cheap to send and dear to parse, check, walk or write again. */
const list = (unit: string, count: number) => Array<string>(count).fill(unit).join(",");
const keys = (count: number, toKey: (at: number) => string | number = (at) => `k${at}`) =>
  Array.from({ length: count }, (_, at) => `"${toKey(at)}":1`).join(",");
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const deepSchema = (levels: number): string =>
  `${'{"anyOf":['.repeat(levels)}{"$ref":"#"}${"]}".repeat(levels)}`;
const schemaFormat = (schema: string) =>
  `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":${schema}}}`;

const parser = "JSON parser";
const unknown = (name: string, raw: () => string, attacks = parser): StallCase => ({
  name: `json-${name}`,
  attacks,
  request: () => rawChat(`"unknown":${raw()}`),
});

/** Near the bound of a million values: a field weighs five. */
const mostKeys = 190_000;

export const jsonCases: readonly StallCase[] = [
  unknown(
    "nested-31mb",
    () => nested(largestBytes / 2),
    "bounds of JSON (src/base/json/bounds.ts)",
  ),
  unknown("nested-64kb", () => nested(32_000)),
  unknown("990000-numbers", () => `[${list("1", 990_000)}]`),
  unknown("490000-empty-lists", () => `[${list("[]", 490_000)}]`),
  unknown("190000-keys", () => `{${keys(mostKeys)}}`),
  unknown("190000-numbers-as-keys", () => `{${keys(mostKeys, (at) => at * 20_011)}}`),
  unknown("190000-times-the-same-key", () => `{${keys(mostKeys, () => "k")}}`),
  unknown("31mb-of-commas", () => `[${",".repeat(largestBytes)}]`, "bounds of JSON"),
  unknown("31mb-of-spaces", () => `[${" ".repeat(largestBytes)}]`, "bounds of JSON"),
  unknown("a-number-of-31mb", () => "1".repeat(largestBytes)),
  unknown("a-fraction-of-31mb", () => `0.${"1".repeat(largestBytes)}`),
  unknown("long-numbers-31mb", () => `[${list(`1.${"23456789".repeat(4)}e-5`, 700_000)}]`),
  unknown("nul-escapes-31mb", () => `"${fill("\\u0000", largestBytes)}"`),
  unknown("backslashes-31mb", () => `"${fill("\\\\", largestBytes)}"`, "bounds of JSON, parser"),
  unknown("quotes-31mb", () => `"${fill('\\"', largestBytes)}"`, "bounds of JSON, parser"),
  unknown("open-string-of-31mb", () => `"${"a".repeat(largestBytes)}`),
  {
    name: "json-newlines-in-a-message-31mb",
    attacks: "parser, and the writer for the upstream",
    request: () => chatRequest("\n".repeat(largestBytes / 2)),
  },
  {
    name: "json-source-code-24mb",
    attacks: "bounds of JSON, parser, writer",
    request: () => chatRequest(fill('  const x = "a";\n', 24_000_000)),
  },
  {
    name: "json-63kb-at-a-high-rate",
    attacks: "parser, below the size from which bounds are checked",
    request: () => rawChat(`"unknown":{${keys(6_000)}}`),
    times: 200,
    atOnce: 8,
  },
  {
    name: "chat-90000-messages",
    attacks: "validation and walks over messages",
    request: () => rawChat(`"messages":[${list('{"role":"user","content":"x"}', 90_000)}]`),
  },
  {
    name: "chat-90000-text-parts",
    attacks: "validation and walks over parts",
    request: () =>
      rawChat(
        `"messages":[{"role":"user","content":[${list('{"type":"text","text":"x"}', 90_000)}]}]`,
      ),
  },
  {
    name: "chat-60000-image-addresses",
    attacks: "check of image addresses",
    request: () =>
      rawChat(
        `"messages":[{"role":"user","content":[${list('{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}', 60_000)}]}]`,
      ),
  },
  {
    name: "chat-an-image-address-of-31mb",
    attacks: "check of image addresses",
    request: () =>
      chatRequest([
        {
          type: "image_url",
          image_url: { url: `https://a.example/${"a.".repeat(largestBytes / 2)}` },
        },
      ]),
  },
  {
    name: "chat-an-image-host-of-31mb",
    attacks: "check of image addresses",
    request: () =>
      chatRequest([
        { type: "image_url", image_url: { url: `https://${"a.".repeat(largestBytes / 2)}/` } },
      ]),
  },
  {
    name: "chat-wrong-part-behind-90000-good-ones",
    attacks: "validation, and the search for the field to name",
    request: () =>
      rawChat(
        `"messages":[{"role":"user","content":[${list('{"type":"text","text":"x"}', 90_000)},{"type":"x"}]}]`,
      ),
  },
  {
    name: "chat-message-with-190000-keys",
    attacks: "parser, size estimate",
    request: () => rawChat(`"messages":[{"role":"user","content":"x",${keys(mostKeys)}}]`),
  },
  {
    name: "chat-metadata-with-190000-keys",
    attacks: "validation of metadata",
    request: () => rawChat(`"metadata":{${keys(mostKeys)}}`),
  },
  {
    name: "chat-logit-bias-with-190000-keys",
    attacks: "validation of logit_bias",
    request: () => rawChat(`"logit_bias":{${keys(mostKeys, (at) => at)}}`),
  },
  {
    name: "chat-900000-stop-words",
    attacks: "validation of stop",
    request: () => rawChat(`"stop":[${list('"x"', 900_000)}]`),
  },
  {
    name: "chat-tools-with-490000-empty-lists",
    attacks: "check of the depth (src/wire/v1/chat/call.ts)",
    request: () =>
      rawChat(
        `"tools":[{"type":"function","function":{"name":"f","parameters":{"x":[${list("[]", 490_000)}]}}}]`,
      ),
  },
  {
    name: "chat-128-large-tools",
    attacks: "validation of tools, size estimate",
    request: () =>
      rawChat(
        `"tools":[${list(`{"type":"function","function":{"name":"f","parameters":{"properties":{${keys(1_400)}}}}}`, 128)}]`,
      ),
  },
  {
    name: "chat-schema-nested-120-levels",
    attacks: "walks over response_format",
    request: () => rawChat(schemaFormat(deepSchema(60))),
  },
  {
    name: "chat-schema-nested-900-levels",
    attacks: "walks over response_format",
    request: () => rawChat(schemaFormat(deepSchema(450))),
  },
  {
    name: "chat-schema-with-patterns",
    attacks: "patterns of a caller's schema",
    request: () =>
      rawChat(schemaFormat(`{"pattern":"^(a+)+$","default":"${"a".repeat(64_000)}!"}`)),
  },
  {
    name: "embeddings-990000-token-ids",
    attacks: "validation of token ids",
    request: () => embeddingRequest(Array<number>(990_000).fill(1)),
  },
  {
    name: "embeddings-texts-101-of-300kb",
    attacks: "refusal of a large body",
    request: () => embeddingRequest(Array<string>(101).fill(fill("漢字", 300_000))),
  },
];
