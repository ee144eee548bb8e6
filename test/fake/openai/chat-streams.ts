/** The ways in which vendors' chat streams differ, each by the name of its quirk. */

import type { Recording } from "../http/reply.ts";
import { CHAT_USAGE, chatJson, usageOf } from "./chat-json.ts";
import {
  chatChunk,
  chatStream,
  DONE,
  openaiEvents,
  type StreamContent,
  type StreamEvent,
} from "./chat-stream.ts";

const ROLE = chatChunk({ delta: { role: "assistant", content: "" } });
const FINISH = chatChunk({ finish: "stop" });
const USAGE = chatChunk({ choices: [], usage: CHAT_USAGE });
const PIECES = ["Hello", "!", " How can I help?"] as const;
const TEXT = PIECES.map((piece) => chatChunk({ delta: { content: piece } }));

export const chatStreams = {
  openai: (content: StreamContent = {}) =>
    chatStream({ ...content, events: openaiEvents(content) }),
  crlf: (content: StreamContent = {}) =>
    chatStream({ ...content, lineEnd: "\r\n", events: openaiEvents(content) }),
  severalEventsInAPacket: () => chatStream({ eventsPerPart: 3, events: openaiEvents() }),
  /** Two, three and four bytes a character, and an emoji of many code points. */
  multiByte: () =>
    chatStream({
      events: openaiEvents({ pieces: ["Grüße ", "你好，世界", " 👋🏽", "👩‍👩‍👧", " €"] }),
    }),
  empty: () => chatStream({ events: openaiEvents({ pieces: [] }) }),
  withoutUsage: () => chatStream({ events: [ROLE, ...TEXT, FINISH, DONE] }),
  usageTwice: () => chatStream({ events: [ROLE, ...TEXT, FINISH, USAGE, USAGE, DONE] }),
  usageInEveryChunk: () => usageInEveryChunk(),
  finishAndUsageInOne: () =>
    chatStream({
      events: [ROLE, ...TEXT, chatChunk({ finish: "stop", usage: CHAT_USAGE }), DONE],
    }),
  roleInEveryChunk: () =>
    chatStream({
      events: [
        ...PIECES.map(withRole),
        chatChunk({ delta: { role: "assistant" }, finish: "stop" }),
        USAGE,
        DONE,
      ],
    }),
  /** `"error":null` in every chunk and `finish_reason:""` until the last. */
  nullErrors: () => nullErrors(),
  reasoning: () =>
    chatStream({
      events: [
        ROLE,
        chatChunk({ delta: { reasoning_content: "Six times " } }),
        chatChunk({ delta: { reasoning_content: "seven." } }),
        chatChunk({ delta: { content: "42" } }),
        FINISH,
        USAGE,
        DONE,
      ],
    }),
  toolCall: () => toolCall({ repeatsIdentity: false }),
  /** Id, type and name come again with every piece of the arguments. */
  toolCallRepeated: () => toolCall({ repeatsIdentity: true }),
  twoToolCalls: () => twoToolCalls(),
  twoChoices: () => twoChoices(),
  errorAfterStart: () =>
    brokenBy({ message: SERVER_ERROR, type: "server_error", param: null, code: null }),
  vllmErrorAfterStart: () =>
    brokenBy({ message: "EngineCore died", type: "InternalServerError", param: null, code: 500 }),
  errorFirst: () =>
    chatStream({
      events: [{ error: { message: SERVER_ERROR, type: "server_error", code: null } }],
    }),
  /** Pings, `event:`, `id:` and `retry:` lines, and `data:` without its space. */
  commentsAndFields: () => commentsAndFields(),
  withoutDone: () => chatStream({ events: [ROLE, ...TEXT, FINISH, USAGE] }),
  /** Well-formed HTTP to the end, but the answer stops in the middle. */
  cutBeforeFinish: () => chatStream({ events: [ROLE, ...TEXT] }),
  /** `[DONE]`, but no finish_reason before it. */
  doneWithoutFinish: () => chatStream({ events: [ROLE, ...TEXT, DONE] }),
  withoutFinalBlankLine: () => chatStream({ finalBlankLine: false, events: openaiEvents() }),
  jsonInsteadOfStream: () => chatJson(),
} as const;

const SERVER_ERROR = "The server had an error while processing your request. Sorry about that!";

function withRole(piece: string): StreamEvent {
  return chatChunk({ delta: { role: "assistant", content: piece } });
}

/** Gemini's compatible face: the counts grow, and the last chunk has the final ones. */
function usageInEveryChunk(): Recording {
  const grown = (completion: number) => usageOf({ prompt: 19, completion });
  const texts = PIECES.map((content, at) =>
    chatChunk({ delta: { role: "assistant", content }, usage: grown(2 + 3 * at) }),
  );
  return chatStream({ events: [...texts, chatChunk({ finish: "stop", usage: grown(10) }), DONE] });
}

function nullErrors(): Recording {
  const extra = { error: null };
  return chatStream({
    events: [
      chatChunk({ delta: { role: "assistant", content: "" }, finish: "", extra }),
      ...PIECES.map((content) => chatChunk({ delta: { content }, finish: "", extra })),
      chatChunk({ finish: "stop", extra }),
      chatChunk({ choices: [], usage: CHAT_USAGE, extra }),
      DONE,
    ],
  });
}

function toolCall({ repeatsIdentity }: { readonly repeatsIdentity: boolean }): Recording {
  const events = ["", '{"city":', '"Zürich",', '"unit":"celsius"}'].map((text, at) => {
    const isNamed = at === 0 || repeatsIdentity;
    const call = {
      index: 0,
      ...(isNamed ? { id: "call_vendor_a1", type: "function" } : {}),
      function: { ...(isNamed ? { name: "get_weather" } : {}), arguments: text },
    };
    const role = at === 0 ? { role: "assistant", content: null } : {};
    return chatChunk({ delta: { ...role, tool_calls: [call] } });
  });
  return chatStream({ events: [...events, chatChunk({ finish: "tool_calls" }), USAGE, DONE] });
}

function twoToolCalls(): Recording {
  const opening = (index: number) => ({
    index,
    id: `call_vendor_${index}`,
    type: "function",
    function: { name: "get_weather", arguments: "" },
  });
  const more = (index: number, text: string) => ({ index, function: { arguments: text } });
  const deltas = [
    { role: "assistant", content: null, tool_calls: [opening(0)] },
    { tool_calls: [more(0, '{"city":"Bern"}')] },
    { tool_calls: [opening(1)] },
    { tool_calls: [more(1, '{"city":"Oslo"}')] },
  ];
  const events = deltas.map((delta) => chatChunk({ delta }));
  return chatStream({ events: [...events, chatChunk({ finish: "tool_calls" }), USAGE, DONE] });
}

function twoChoices(): Recording {
  const both = (delta: Readonly<Record<string, unknown>>) =>
    [0, 1].map((index) => chatChunk({ index, delta }));
  return chatStream({
    events: [
      ...both({ role: "assistant", content: "" }),
      chatChunk({ index: 0, delta: { content: "Heads" } }),
      chatChunk({ index: 1, delta: { content: "Tai" } }),
      chatChunk({ index: 0, finish: "stop" }),
      chatChunk({ index: 1, delta: { content: "ls" } }),
      chatChunk({ index: 1, finish: "length" }),
      USAGE,
      DONE,
    ],
  });
}

function brokenBy(error: Readonly<Record<string, unknown>>): Recording {
  return chatStream({ events: [ROLE, ...TEXT, { error }] });
}

function commentsAndFields(): Recording {
  const asLines = (chunk: unknown) => `event: message\nid: 7\ndata: ${JSON.stringify(chunk)}`;
  return chatStream({
    events: [
      ": ping",
      "retry: 3000",
      asLines(ROLE),
      ":",
      ...TEXT.map(asLines),
      ": ping",
      `data:${JSON.stringify(FINISH)}`,
      "event: heartbeat",
      USAGE,
      DONE,
    ],
  });
}
