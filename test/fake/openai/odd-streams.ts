/**
 * Chat streams as no two vendors write them, made from a seed: each habit is one that compatible
 * servers have or had, and a stream mixes them at will. What the model meant is known beside it,
 * so that a reader can be held to it.
 */

import { seededRandom } from "../../fixtures/media/fixture.ts";
import { inPieces, type Reply } from "../script.ts";
import { CHAT_CREATED, CHAT_MODEL, usageOf, type VendorUsage } from "./chat-json.ts";
import { chatStream, DONE, type StreamEvent } from "./chat-stream.ts";
import {
  type Delta,
  type Dice,
  type MeantCall,
  pick,
  toolCallDeltas,
  toolHabits,
} from "./odd-tool-calls.ts";

export interface MeantChoice {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly MeantCall[];
  readonly finish: string;
}

export interface OddStream {
  readonly reply: Reply;
  /** The same, broken off at any byte, as by a vendor that dies. */
  readonly brokenReply: Reply;
  readonly choices: readonly MeantChoice[];
  /** Undefined: the upstream never counts. */
  readonly usage: VendorUsage | undefined;
  /** For the message of a test that fails. */
  readonly habits: Readonly<Record<string, unknown>>;
}

/** Text that has tripped readers: events inside text, separators, halves of characters. */
const words = [
  "Hello",
  " ",
  "",
  "\n\n",
  "data: [DONE]",
  "[DONE]",
  "Grüße ",
  "你好，世界",
  "👩‍👩‍👧",
  '"quoted" \\ and \t',
  "\u2028\u0085",
  "\r\n",
  ": ping",
  "event: error",
];

type Habits = ReturnType<typeof drawHabits>;

function drawHabits(dice: Dice) {
  const yes = (in100: number) => dice(100) < in100;
  return {
    choices: yes(15) ? 2 : 1,
    role: pick(dice, ["once", "every", "never", "null later", "empty later"] as const),
    unfinished: pick(dice, [null, "", undefined]),
    nullError: yes(25),
    identity: pick(dice, ["same", "changing", "absent", "null"] as const),
    usage: pick(dice, ["own", "every", "with finish", "twice", "never", "late choice"] as const),
    hasIndex: yes(70),
    besideText: pick(dice, [{}, { tool_calls: null }, { tool_calls: [] }, { refusal: null }]),
    finish: pick(dice, ["own", "with text", "twice", "and empty after"] as const),
    tools: pick(dice, toolHabits),
    hasFinish: yes(90),
    hasDone: yes(80),
    noise: yes(60),
    lineEnd: pick(dice, ["\n", "\r\n", "\r"] as const),
    lines: pick(dice, ["plain", "no space", "event and id", "comments", "two lines"] as const),
    framing: pick(dice, ["chunked", "close"] as const),
    eventsPerPart: pick(dice, [1, 1, 2, 3, 100]),
    finalBlankLine: yes(80),
    cuts: dice(6),
  };
}

export function oddStream(seed: number): OddStream {
  const dice = seededRandom(seed);
  const drawn = drawHabits(dice);
  // Without either, the stream would have been cut.
  const habits: Habits = { ...drawn, hasDone: drawn.hasDone || !drawn.hasFinish };
  const choices = Array.from({ length: habits.choices }, () => meanChoice(dice));
  const usage =
    habits.usage === "never"
      ? undefined
      : usageOf({ prompt: 1 + dice(50), completion: 1 + dice(50) });
  const chunks = withNoise({ dice, habits, chunks: toChunks({ dice, habits, choices, usage }) });
  const recording = chatStream({
    events: [
      ...chunks.flatMap((chunk) => toEvents(habits, chunk)),
      ...(habits.hasDone ? [DONE] : []),
    ],
    lineEnd: habits.lineEnd,
    framing: habits.framing,
    eventsPerPart: habits.eventsPerPart,
    finalBlankLine: habits.finalBlankLine,
  });
  const bodyBytes = recording.bytes.length - recording.head.length;
  const cuts = Array.from({ length: habits.cuts }, () => 1 + dice(recording.bytes.length - 1));
  return {
    reply: inPieces(
      recording,
      cuts.toSorted((one, other) => one - other),
    ),
    choices: choices.map((choice) => seenChoice(habits, choice)),
    usage,
    brokenReply: [
      { send: recording.bytes.subarray(0, recording.head.length + dice(bodyBytes)) },
      { close: true },
    ],
    habits: { seed, ...habits },
  };
}

function meanChoice(dice: Dice): MeantChoice {
  const sentence = (most: number) =>
    Array.from({ length: dice(most) }, () => pick(dice, words)).join("");
  const calls = Array.from({ length: dice(2) * dice(4) }, (_, at) => ({
    id: `call_${at}_${dice(1000)}`,
    name: pick(dice, ["get_weather", "look_up"]),
    text: JSON.stringify({ city: pick(dice, ["Zürich", "Oslo", "東京"]), n: dice(9) }),
  }));
  const finish = pick(dice, ["stop", "stop", "length", "content_filter"]);
  return { text: sentence(6), reasoning: dice(3) === 0 ? sentence(4) : "", calls, finish };
}

/** Whoever ends with "stop" after tool calls, or says nothing, means the tools. */
function seenChoice({ hasFinish, tools }: Habits, choice: MeantChoice): MeantChoice {
  const word = hasFinish ? choice.finish : "stop";
  const finish = word === "stop" && choice.calls.length > 0 ? "tool_calls" : word;
  const calls =
    tools === "no ids" ? choice.calls.map((call) => ({ ...call, id: "" })) : choice.calls;
  return { ...choice, calls, finish };
}

interface Telling {
  readonly dice: Dice;
  readonly habits: Habits;
  readonly choices: readonly MeantChoice[];
  readonly usage: VendorUsage | undefined;
}

type OddChunk = Readonly<Record<string, unknown>>;

/** All chunks but the noise, those of the choices shuffled into each other. */
function toChunks({ dice, habits, choices, usage }: Telling): readonly OddChunk[] {
  const queues = choices.map((choice, index) => choicesOf({ dice, habits, choice, index }));
  const chunks: OddChunk[] = [];
  while (queues.some(({ length }) => length > 0)) {
    const next = pick(
      dice,
      queues.filter(({ length }) => length > 0),
    ).shift();
    if (next !== undefined) chunks.push({ choices: [next] });
  }
  const last = chunks.pop() ?? {};
  const grown = (at: number) => ({ ...usage, completion_tokens: at, total_tokens: at });
  switch (habits.usage) {
    case "never":
      return [...chunks, last];
    case "own":
      return [...chunks.map((chunk) => ({ ...chunk, usage: null })), last, { choices: [], usage }];
    case "every":
      return [...chunks.map((chunk, at) => ({ ...chunk, usage: grown(at) })), { ...last, usage }];
    case "with finish":
      return [...chunks, { ...last, usage }];
    case "twice":
      return [...chunks, { ...last, usage }, { choices: [], usage }];
    case "late choice":
      return [
        ...chunks,
        last,
        { choices: [{ index: 0, delta: { role: "assistant", content: "" } }], usage },
      ];
    default:
      return habits.usage satisfies never;
  }
}

/** The chunks of one choice, as choices. */
function choicesOf(options: {
  readonly dice: Dice;
  readonly habits: Habits;
  readonly choice: MeantChoice;
  readonly index: number;
}): Record<string, unknown>[] {
  const { dice, habits, choice, index } = options;
  const deltas: Delta[] = [
    ...split(dice, choice.reasoning).map((reasoning_content) => ({
      content: null,
      reasoning_content,
    })),
    ...split(dice, choice.text).map((content) => ({ content, ...habits.besideText })),
    ...toolCallDeltas({ dice, habit: habits.tools, calls: choice.calls }),
  ];
  if (deltas.length === 0 || dice(2) === 0) deltas.unshift({ content: "" });
  const place = habits.hasIndex || habits.choices > 1 ? { index } : {};
  const unfinished = habits.unfinished === undefined ? {} : { finish_reason: habits.unfinished };
  const told = deltas.map((delta, at) => ({
    ...place,
    delta: { ...roleAt(habits, at), ...delta },
    ...unfinished,
  }));
  if (!habits.hasFinish) return told;
  const ended = { ...place, delta: {}, finish_reason: choice.finish };
  switch (habits.finish) {
    case "own":
      return [...told, ended];
    case "with text":
      return told.map((chunk, at) =>
        at === told.length - 1 ? { ...chunk, ...ended, delta: chunk.delta } : chunk,
      );
    case "twice":
      return [...told, ended, ended];
    case "and empty after":
      return [
        ...told,
        ended,
        { ...place, delta: { role: "assistant", content: "" }, ...unfinished },
      ];
    default:
      return habits.finish satisfies never;
  }
}

function roleAt({ role }: Habits, at: number): Delta {
  switch (role) {
    case "once":
      return at === 0 ? { role: "assistant" } : {};
    case "every":
      return { role: "assistant" };
    case "never":
      return {};
    case "null later":
      return { role: at === 0 ? "assistant" : null };
    case "empty later":
      return { role: at === 0 ? "assistant" : "" };
    default:
      return role satisfies never;
  }
}

/** Cut anywhere between two code points. */
function split(dice: Dice, text: string): readonly string[] {
  const letters = [...text];
  const pieces: string[] = [];
  while (letters.length > 0) pieces.push(letters.splice(0, 1 + dice(5)).join(""));
  return pieces;
}

/** Chunks that say nothing, in front, between and, where they cannot be mistaken, behind. */
function withNoise(options: {
  readonly dice: Dice;
  readonly habits: Habits;
  readonly chunks: readonly OddChunk[];
}): readonly OddChunk[] {
  const { dice, habits, chunks } = options;
  if (!habits.noise) return chunks;
  const nothing: readonly OddChunk[] = [
    {},
    { choices: [] },
    { choices: null },
    { object: "ping" },
    { choices: [{ index: 0, delta: null, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: null }] },
    { choices: [{ index: 0, finish_reason: null }] },
    { choices: [], prompt_filter_results: [] },
    { choices: [null] },
  ];
  return chunks.flatMap((chunk) => (dice(3) === 0 ? [pick(dice, nothing), chunk] : [chunk]));
}

function toEvents(habits: Habits, chunk: OddChunk): readonly StreamEvent[] {
  const identities = {
    same: { id: "chatcmpl-vendor", created: CHAT_CREATED, model: CHAT_MODEL },
    changing: {
      id: `chatcmpl-${JSON.stringify(chunk).length}`,
      created: CHAT_CREATED + JSON.stringify(chunk).length,
      model: CHAT_MODEL,
    },
    absent: {},
    null: { id: null, created: null, model: null },
  };
  const whole = {
    object: "chat.completion.chunk",
    ...identities[habits.identity],
    ...chunk,
    ...(habits.nullError ? { error: null } : {}),
  };
  const json = JSON.stringify(whole);
  switch (habits.lines) {
    case "plain":
      return [whole];
    case "no space":
      return [`data:${json}`];
    case "event and id":
      return [`event: message\nid: 7\ndata: ${json}`];
    case "comments":
      return [": ping", `:\ndata: ${json}`];
    case "two lines":
      // A line break between two members is white space for JSON.
      return [`data: {\ndata: ${json.slice(1)}`];
    default:
      return habits.lines satisfies never;
  }
}
