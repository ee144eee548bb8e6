import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import type { Dice } from "./dice.ts";
import type { FuzzBody, FuzzJson } from "./json-text.ts";
import { oddWellFormedText, promptMark } from "./odd-values.ts";
import { sentence } from "./words.ts";

const base64 = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
export const png = base64("tiny.png");
const images: readonly string[] = ["png", "jpg", "webp", "gif"].map(
  (type) => `data:image/${type.replace("jpg", "jpeg")};base64,${base64(`tiny.${type}`)}`,
);
const videos = ["h264-1s.mp4", "h264-3s.mp4", "vp9-2s.webm"].map(
  (name): FuzzJson => ({ video: { bytesBase64Encoded: base64(name) } }),
);

/** Either end of a range, or a number within it. */
const within = (dice: Dice, least: number, most: number) =>
  dice.pick([least, most, least + (dice.below(1_001) / 1_000) * (most - least)]);

const userOf = (dice: Dice) => `user-${dice.below(100_000)}`;

/** What a chat and a legacy completion have in common. */
const sampling = (dice: Dice): FuzzBody => ({
  temperature: within(dice, 0, 2),
  top_p: within(dice, 0, 1),
  stream: dice.pick([true, true, false, null]),
  stream_options: { include_usage: dice.pick([true, false, null]) },
  stop: dice.pick<FuzzJson>(["x", ["x"], dice.list(16, () => "x")]),
  seed: dice.pick([0, -1, 2 ** 53]),
  presence_penalty: within(dice, -2, 2),
  frequency_penalty: within(dice, -2, 2),
  logit_bias: { "50256": dice.pick([-100, 100]) },
  user: userOf(dice),
});

export function wholeChat(dice: Dice): FuzzBody {
  const tool: FuzzJson = {
    type: "function",
    function: { name: "f", description: dice.pick([null, "d"]), parameters: {}, strict: true },
  };
  const jsonSchema = { type: "json_schema", json_schema: { name: "x", schema: {} } };
  return {
    ...sampling(dice),
    model: dice.pick(["svc-3-flash", "svc-2-flash", "vendor/with-slash"]),
    messages: dice.list(dice.between(1, 6), () => chatMessage(dice)),
    max_tokens: dice.pick([1, 16, 2 ** 31, Number.MAX_SAFE_INTEGER]),
    max_completion_tokens: dice.between(1, 100_000),
    n: dice.pick([1, 2, 128]),
    logprobs: dice.percent(50),
    top_logprobs: dice.between(0, 20),
    tools: dice.list(dice.pick([1, 128]), () => tool),
    tool_choice: dice.pick(["none", "auto", { type: "function", function: { name: "f" } }]),
    parallel_tool_calls: true,
    response_format: dice.pick<FuzzJson>([{ type: "text" }, { type: "json_object" }, jsonSchema]),
    metadata: { a: oddWellFormedText(dice) },
    store: false,
    service_tier: "auto",
    reasoning_effort: "low",
    modalities: ["text"],
    functions: [],
    function_call: "auto",
    web_search_options: null,
  };
}

function chatMessage(dice: Dice): FuzzJson {
  const text = () =>
    dice.weighted<() => string>([
      [6, () => sentence(dice)],
      [1, () => ""],
      [1, () => `${promptMark} ${"long ".repeat(dice.between(1, 300))}`],
    ])();
  const part = () => ({ type: "text", text: text() });
  const image = { type: "image_url", image_url: { url: dice.pick(images), detail: "low" } };
  const call = { id: "c", type: "function", function: { name: "f", arguments: text() } };
  return dice.pick<() => FuzzJson>([
    () => ({ role: dice.pick(["system", "developer", "user", "assistant"]), content: text() }),
    () => ({ role: "user", content: dice.list(dice.between(1, 4), part), name: "u" }),
    () => ({ role: "user", content: [part(), image] }),
    () => ({ role: "assistant", content: null, tool_calls: [call] }),
    () => ({ role: "assistant", content: [part(), { type: "refusal", refusal: text() }] }),
    () => ({ role: "tool", content: text(), tool_call_id: "c" }),
  ])();
}

export function wholeCompletion(dice: Dice): FuzzBody {
  const isList = dice.percent(25);
  const several: readonly FuzzJson[] = [
    [sentence(dice), "two"],
    [[1, 2], [dice.below(50_000)]],
  ];
  const one: readonly FuzzJson[] = [sentence(dice), [sentence(dice)], [1, 2, dice.below(50_000)]];
  return {
    ...sampling(dice),
    model: "svc-3-flash",
    prompt: dice.pick(isList ? several : one),
    // Not allowed with several prompts.
    suffix: isList ? null : "s",
    max_tokens: dice.between(1, 64),
    n: 1,
    best_of: 1,
    logprobs: dice.between(0, 5),
    echo: false,
  };
}

export function wholeTextEmbedding(dice: Dice): FuzzBody {
  const ids = () => dice.list(dice.between(1, 50), () => dice.below(100_000));
  const input = dice.pick<() => FuzzJson>([
    () => sentence(dice, 100),
    () => dice.list(dice.pick([1, 2, 100]), () => sentence(dice)),
    ids,
    () => dice.list(dice.pick([1, 3, 100]), ids),
  ]);
  return {
    model: "svc-embedding-2",
    input: input(),
    dimensions: dice.pick([768, 1536, 3072]),
    encoding_format: dice.pick(["float", "base64"]),
    user: userOf(dice),
  };
}

export function wholeMediaEmbedding(dice: Dice): FuzzBody {
  const input = dice.weighted<() => FuzzJson>([
    [1, () => dice.pick(images)],
    [8, () => dice.list(dice.between(1, 8), () => dice.pick(images))],
    [1, () => dice.pick(videos)],
    [1, () => [dice.pick(videos)]],
  ]);
  return {
    model: "multimodal-embedding-1",
    input: input(),
    encoding_format: dice.pick(["float", "base64"]),
    user: userOf(dice),
  };
}

export function wholeSpeech(dice: Dice): FuzzBody {
  const input = dice.weighted<() => string>([
    [8, () => sentence(dice, 60)],
    [1, () => dice.pick(["x", "𝒜", "é", "\n"]).repeat(dice.between(1, 5_000))],
    [1, () => dice.pick(["x".repeat(5_000), "𝒜".repeat(5_000)])],
  ]);
  return {
    model: dice.pick(["svc-2.5-flash-tts", "svc-2.5-pro-tts"]),
    input: input(),
    voice: dice.pick(["Kore", "Puck", "Charon", "Fenrir", "Aoede"]),
    response_format: dice.pick(["wav", "pcm", null]),
    stream_format: "audio",
    speed: 1.5,
    instructions: sentence(dice),
  };
}
