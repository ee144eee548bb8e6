import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import type { Dice } from "./dice.ts";
import type { FuzzBody, FuzzJson } from "./json-text.ts";
import { oddText, oddWellFormedText, promptMark } from "./odd-values.ts";
import { sentence } from "./words.ts";

/** The endpoints that take a body, each with its own kinds of bodies. */
export type BodyKind = "chat" | "text-embeddings" | "media-embeddings" | "speech";

export const bodyKinds: readonly BodyKind[] = [
  "chat",
  "text-embeddings",
  "media-embeddings",
  "speech",
];

export const pathOf = {
  chat: "/v1/chat/completions",
  "text-embeddings": "/v1/embeddings",
  "media-embeddings": "/v1/embeddings",
  speech: "/v1/audio/speech",
} as const satisfies Record<BodyKind, string>;

const base64 = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
const images: readonly string[] = [
  `data:image/png;base64,${base64("tiny.png")}`,
  `data:image/jpeg;base64,${base64("tiny.jpg")}`,
  `data:image/webp;base64,${base64("tiny.webp")}`,
  `data:image/gif;base64,${base64("tiny.gif")}`,
];
const videos: readonly string[] = ["h264-1s.mp4", "h264-3s.mp4", "vp9-2s.webm"].map(base64);
const videoObject = (bytes: string): FuzzJson => ({ video: { bytesBase64Encoded: bytes } });
const voices = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;

/** One body a kind with every field in it, so that each can be made wrong in turn. */
export const wholeBodies: Readonly<Record<BodyKind, readonly FuzzBody[]>> = {
  chat: [
    {
      model: "svc-3-flash",
      messages: [
        { role: "system", content: `${promptMark} be brief`, name: "s" },
        { role: "developer", content: [{ type: "text", text: promptMark }] },
        {
          role: "user",
          content: [
            { type: "text", text: promptMark },
            { type: "image_url", image_url: { url: images[0] ?? "", detail: "low" } },
          ],
          name: "u",
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: promptMark },
            { type: "refusal", refusal: promptMark },
          ],
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } },
          ],
          name: "a",
        },
        { role: "tool", content: promptMark, tool_call_id: "call_1" },
      ],
      max_tokens: 16,
      max_completion_tokens: 32,
      temperature: 1,
      top_p: 0.5,
      stream: false,
      stream_options: { include_usage: true },
      stop: ["a", "b"],
      n: 1,
      seed: 7,
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { "50256": -100 },
      tools: [
        {
          type: "function",
          function: {
            name: "f",
            description: "d",
            parameters: { type: "object", properties: {} },
            strict: true,
          },
        },
      ],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: true,
      response_format: { type: "json_schema", json_schema: { name: "x", schema: {} } },
      user: "someone",
      metadata: { a: "b" },
      store: false,
      service_tier: "auto",
      reasoning_effort: "low",
      modalities: ["text"],
      functions: [],
      function_call: "auto",
      web_search_options: null,
    },
  ],
  "text-embeddings": [
    {
      model: "svc-embedding-2",
      input: [promptMark, "two"],
      dimensions: 768,
      encoding_format: "float",
      user: "someone",
    },
    { model: "svc-embedding-2", input: [[1, 2], [3]] },
    { model: "svc-embedding-2", input: [1, 2, 3] },
  ],
  "media-embeddings": [
    { model: "multimodal-embedding-1", input: [...images], encoding_format: "base64", user: "x" },
    { model: "multimodal-embedding-1", input: videoObject(videos[0] ?? "") },
    { model: "multimodal-embedding-1", input: [videoObject(videos[1] ?? "")] },
  ],
  speech: [
    {
      model: "svc-2.5-flash-tts",
      input: promptMark,
      voice: "Kore",
      response_format: "wav",
      stream_format: "audio",
      speed: 1.5,
      instructions: "calm",
    },
    { model: "svc-2.5-pro-tts", input: promptMark, voice: "Puck", response_format: "pcm" },
  ],
};

/** A random body that must be served. */
export function validBody(dice: Dice, kind: BodyKind): FuzzBody {
  switch (kind) {
    case "chat":
      return validChat(dice);
    case "text-embeddings":
      return {
        model: "svc-embedding-2",
        input: textInput(dice),
        ...some(dice, "dimensions", () => dice.pick([768, 1536, 3072])),
        ...some(dice, "encoding_format", () => dice.pick(["float", "base64"])),
        ...some(dice, "unknown_field", () => oddText(dice)),
      };
    case "media-embeddings":
      return {
        model: "multimodal-embedding-1",
        input: mediaInput(dice),
        ...some(dice, "encoding_format", () => dice.pick(["float", "base64"])),
        ...some(dice, "user", () => `user-${dice.below(100_000)}`),
        ...some(dice, "unknown_field", () => oddText(dice)),
      };
    case "speech":
      return {
        model: dice.pick(["svc-2.5-flash-tts", "svc-2.5-pro-tts"]),
        input: dice.weighted<() => string>([
          [8, () => sentence(dice, 60)],
          [1, () => dice.pick(["x", "𝒜", "é", "\n"]).repeat(dice.between(1, 5_000))],
          [1, () => dice.pick(["x".repeat(5_000), "𝒜".repeat(5_000)])],
        ])(),
        voice: dice.pick(voices),
        ...some(dice, "response_format", () => dice.pick(["wav", "pcm", null])),
        ...some(dice, "unknown_field", () => oddText(dice)),
      };
    default:
      return kind satisfies never;
  }
}

/** Each optional field stands in about a third of the bodies. */
function some(dice: Dice, name: string, make: () => FuzzJson): FuzzBody {
  return dice.percent(35) ? { [name]: make() } : {};
}

function validChat(dice: Dice): FuzzBody {
  const number = (least: number, most: number) => () =>
    dice.pick([least, most, least + (dice.below(1_001) / 1_000) * (most - least)]);
  return {
    model: dice.pick(["svc-3-flash", "svc-2-flash", "vendor/with-slash"]),
    messages: dice.list(dice.between(1, 6), () => validMessage(dice)),
    ...some(dice, "max_tokens", () => dice.pick([1, 16, 2 ** 31, Number.MAX_SAFE_INTEGER])),
    ...some(dice, "max_completion_tokens", () => dice.between(1, 100_000)),
    ...some(dice, "temperature", number(0, 2)),
    ...some(dice, "top_p", number(0, 1)),
    ...some(dice, "stream", () => dice.pick([true, true, false, null])),
    ...some(dice, "stream_options", () => ({ include_usage: dice.pick([true, false, null]) })),
    ...some(dice, "stop", () => dice.pick(["x", ["x"], dice.list(16, () => "x")])),
    ...some(dice, "n", () => dice.pick([1, 2, 128])),
    ...some(dice, "seed", () => dice.pick([0, -1, 2 ** 53])),
    ...some(dice, "presence_penalty", number(-2, 2)),
    ...some(dice, "frequency_penalty", number(-2, 2)),
    ...some(dice, "top_logprobs", () => dice.between(0, 20)),
    ...some(dice, "tools", () => dice.list(dice.pick([0, 1, 128]), () => validTool(dice))),
    ...some(dice, "tool_choice", () => dice.pick(["none", "auto", { type: "function" }])),
    ...some(dice, "response_format", () => ({ type: dice.pick(["text", "json_object"]) })),
    ...some(dice, "metadata", () => ({ a: oddWellFormedText(dice) })),
    ...some(dice, "unknown_field", () => dice.pick([1, "x", [{ a: [] }], { b: {} }])),
  };
}

function validMessage(dice: Dice): FuzzJson {
  const text = () =>
    dice.weighted<() => string>([
      [6, () => sentence(dice)],
      [1, () => ""],
      [1, () => `${promptMark} ${"long ".repeat(dice.between(1, 300))}`],
    ])();
  const part = () => ({ type: "text", text: text() });
  return dice.pick<() => FuzzJson>([
    () => ({ role: dice.pick(["system", "developer", "user", "assistant"]), content: text() }),
    () => ({ role: "user", content: dice.list(dice.between(1, 4), part) }),
    () => ({
      role: "user",
      content: [part(), { type: "image_url", image_url: { url: dice.pick(images) } }],
    }),
    () => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: text() } }],
    }),
    () => ({ role: "tool", content: text(), tool_call_id: "c" }),
  ])();
}

function validTool(dice: Dice): FuzzJson {
  const description = dice.pick([null, "d"]);
  return { type: "function", function: { name: "f", description, parameters: {} } };
}

function textInput(dice: Dice): FuzzJson {
  const ids = () => dice.list(dice.between(1, 50), () => dice.below(100_000));
  return dice.pick<() => FuzzJson>([
    () => sentence(dice, 100),
    () => dice.list(dice.pick([1, 2, 100]), () => sentence(dice)),
    ids,
    () => dice.list(dice.pick([1, 3, 100]), ids),
  ])();
}

function mediaInput(dice: Dice): FuzzJson {
  return dice.weighted<() => FuzzJson>([
    [1, () => dice.pick(images)],
    [8, () => dice.list(dice.between(1, 8), () => dice.pick(images))],
    [1, () => videoObject(dice.pick(videos))],
    [1, () => [videoObject(dice.pick(videos))]],
  ])();
}
