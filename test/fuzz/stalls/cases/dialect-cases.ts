import { type Carried, toOpaque as toOpaqueOf } from "../../../../src/wire/v1/carried.ts";
import {
  casesOf,
  fill,
  largestBytes,
  list,
  renamed,
  repliesTo,
  type StallCase,
  type StallRequest,
} from "./stall-case.ts";
import { chatStreamReply, eventsReply, rawReply } from "./upstream-bytes.ts";
import { vendorModels } from "./vendor-cases.ts";

/** The model of a vendor that speaks Responses itself. */
export const responsesModel = "openai-chat";

type Dialect = "responses" | "messages" | "completions";

const askedModel = "svc-3-flash";
/** Of the model that gets it back: the string of another is not even decoded. */
const toOpaque = (carried: Carried) => toOpaqueOf(askedModel, carried);

const before = { responses: '"store":false,', messages: '"max_tokens":64,', completions: "" };
/** A request with a raw piece of JSON behind the model. */
const raw = (dialect: Dialect, text: string, model = askedModel): StallRequest => ({
  path: `/v1/${dialect}`,
  body: Buffer.from(`{"model":"${model}",${before[dialect]}${text}}`),
});

/** Requests of one dialect by name, each with a piece of JSON. */
const asked = (dialect: Dialect, texts: Readonly<Record<string, () => string>>) =>
  casesOf(
    `reader of requests (src/wire/v1/${dialect})`,
    renamed(`${dialect}-`, texts, (text) => () => raw(dialect, text())),
  );

const toolUse =
  '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}';
const called =
  '{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"y"}';
/** What a vendor signs, in a string of ours. */
const signedThought = { type: "reasoning.text", text: "t", signature: "s" };
const thoughtsOf = (count: number) => Array.from({ length: count }, () => signedThought);
/** Strings of ours of about 4 MB, each heavy in another way. */
const heavyStrings: Readonly<Record<string, () => string>> = {
  "4mb-of-words": () =>
    toOpaque({ details: [{ ...signedThought, text: fill("word ", 3_000_000) }] }),
  "4mb-of-escapes": () =>
    toOpaque({ details: [{ ...signedThought, text: fill('"\n', 1_500_000) }] }),
  "4mb-of-unicode": () =>
    toOpaque({ details: [{ ...signedThought, text: fill("\u0301\u4e16", 3_000_000) }] }),
  "15000-thoughts": () => toOpaque({ details: thoughtsOf(15_000) }),
  "100000-thoughts": () => toOpaque({ details: thoughtsOf(100_000) }),
  "15000-calls": () =>
    toOpaque({
      calls: Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`c${at}`, {}])),
    }),
  "4mb-of-brackets": () => toOpaque({}) + Buffer.from("[".repeat(3_000_000)).toString("base64url"),
  "4mb-that-is-not-json": () => toOpaque({}) + "QUJD".repeat(1_000_000),
};
const reasoning = (opaque: string) =>
  `{"type":"reasoning","summary":[],"encrypted_content":"${opaque}"}`;
const thinking = (opaque: string) => `{"type":"thinking","thinking":"t","signature":"${opaque}"}`;
const user = '{"role":"user","content":"x"}';
const saidY = '{"role":"assistant","content":"y"}';
const textBlock = '{"type":"text","text":"x"}';
const summary = '{"type":"summary_text","text":"t"}';
const assistant = (blocks: string) =>
  `{"role":"assistant","content":[${blocks},{"type":"text","text":"y"}]}`;
/** A turn of the model between two of the user. */
const inTurn = (blocks: string) => `"messages":[${user},${assistant(blocks)},${user}]`;
const inInput = (items: string) => `"input":[${items},${saidY},${user}]`;
const inContent = (content: string) => `"messages":[{"role":"user","content":${content}}]`;

const heavyCases = [
  ...asked(
    "responses",
    renamed("encrypted-", heavyStrings, (opaque) => () => inInput(reasoning(opaque()))),
  ),
  ...asked(
    "messages",
    renamed("signature-", heavyStrings, (opaque) => () => inTurn(thinking(opaque()))),
  ),
];

/** Several that are together as much as is read of one request. */
const sharedCases = Object.entries({
  words: fill("word ", 700_000),
  escapes: fill('"', 24_000),
  unicode: fill("\u0301\u4e16", 700_000),
}).flatMap(([name, text]) => {
  const opaque = () => toOpaque({ details: [{ ...signedThought, text }] });
  const called = `8-carried-texts-of-${name}`;
  return [
    ...asked("responses", { [called]: () => inInput(list(reasoning(opaque()), 8)) }),
    ...asked("messages", { [called]: () => inTurn(list(thinking(opaque()), 8)) }),
  ];
});

/** As many strings of ours as a body may have: in one turn of the model, or in a turn of its own each. */
const manyCarried = Object.entries({
  thoughts: toOpaque({ details: [signedThought] }),
  nothings: toOpaque({}),
}).flatMap(([name, opaque]) => [
  ...asked("responses", {
    [`16000-carried-${name}`]: () => inInput(list(reasoning(opaque), 16_000)),
    [`9000-turns-with-carried-${name}`]: () =>
      `"input":[${list(`${reasoning(opaque)},${saidY}`, 9_000)},${user}]`,
  }),
  ...asked("messages", {
    [`16000-carried-${name}`]: () => inTurn(list(thinking(opaque), 16_000)),
    [`5000-turns-with-carried-${name}`]: () =>
      `"messages":[${list(`${user},${assistant(thinking(opaque))}`, 5_000)},${user}]`,
  }),
]);

const requests: readonly StallCase[] = [
  ...asked("responses", {
    "9000-thoughts-in-one-turn": () =>
      inInput(list(`{"type":"reasoning","summary":[${summary}]}`, 9_000)),
    "25000-summaries-in-one-thought": () =>
      inInput(`{"type":"reasoning","summary":[${list(summary, 25_000)}]}`),
    "input-of-31mb": () => `"input":"${fill("hello world ", largestBytes)}"`,
    "90000-items": () => `"input":[${list(user, 90_000)}]`,
    "30000-calls": () => `"input":[${list(called, 30_000)}]`,
    "100000-reasoning-items": () =>
      `"input":[${list('{"type":"reasoning","id":"r","summary":[]}', 100_000)}]`,
    "instructions-of-31mb": () => `"instructions":"${fill("x", largestBytes)}","input":"x"`,
  }),
  ...asked("messages", {
    // No string of ours is with these thoughts.
    "16000-thoughts-in-one-message": () => inTurn(list(thinking("s"), 16_000)),
    "500-thoughts-of-30kb-in-one-message": () =>
      inTurn(list(thinking("s").replace('"t"', `"${fill("hm ", 30_000)}"`), 500)),
    "content-of-31mb": () => inContent(`"${fill("hello world ", largestBytes)}"`),
    "content-of-15mb": () => inContent(`"${fill("hello world ", 15_000_000)}"`),
    "90000-messages": () => `"messages":[${list(user, 90_000)}]`,
    "20000-results-of-tools": () => `"messages":[${list(toolUse, 20_000)}]`,
    "100000-blocks": () => inContent(`[${list(textBlock, 100_000)}]`),
    "system-of-300000-blocks": () => `"system":[${list(textBlock, 300_000)}],"messages":[${user}]`,
  }),
  ...casesOf("counting of tokens (src/ledger/tokens)", {
    "messages-count-tokens-of-31mb": () => ({
      path: "/v1/messages/count_tokens",
      body: Buffer.from(
        `{"model":"svc-3-flash",${inContent(`"${fill("\\u0301\\u0316", largestBytes)}"`)}}`,
      ),
    }),
  }),
  ...asked("completions", {
    "prompt-of-31mb": () => `"prompt":"${fill("hello world ", largestBytes)}"`,
    "100-prompts-of-marks": () => `"prompt":[${list(`"${fill("\u0301\u0316", 158_000)}"`, 100)}]`,
    "300000-prompts": () => `"prompt":[${list('"x"', 300_000)}]`,
    "5-million-tokens": () => `"prompt":[${list("1", 5_000_000)}]`,
  }),
];

const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const at = { item_id: "m", output_index: 0, content_index: 0 };
const natives = {
  responses: {
    model: responsesModel,
    start: event("response.created", { sequence_number: 0, response: { id: "r", output: [] } }),
    large: (text: string) =>
      event("response.created", { response: { id: "r", instructions: text, output: [] } }) +
      event("response.completed", { response: { id: "r", instructions: text, output: [] } }),
    delta: (text: string) => event("response.output_text.delta", { ...at, delta: text }),
    question: '"input":"Hi","stream":true',
  },
  messages: {
    model: vendorModels.anthropic,
    start: event("message_start", {
      message: { id: "m", type: "message", role: "assistant", content: [], usage: {} },
    }),
    large: (text: string) =>
      event("message_start", { message: { id: "m", odd: text, content: [], usage: {} } }) +
      event("message_delta", { delta: { stop_reason: "end_turn", odd: text }, usage: {} }) +
      event("message_stop", {}),
    delta: (text: string) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    question: '"messages":[{"role":"user","content":"Hi"}],"stream":true',
  },
} as const;

/** Streams of a vendor that speaks the caller's dialect, without an end. */
const replies = (["responses", "messages"] as const).flatMap((dialect): readonly StallCase[] => {
  const { model, start, large, delta, question } = natives[dialect];
  const ends = `${event("message_stop", {})}${event("response.completed", { response: {} })}`;
  const streams: Readonly<Record<string, () => readonly string[]>> = {
    "of-50000-events": () => [start, delta("a").repeat(50_000)],
    "event-of-10mb": () => [start, delta("a".repeat(10_000_000))],
    "event-of-10mb-of-escapes": () => [start, delta('"'.repeat(5_000_000))],
    "of-15mb-without-a-line-end": () => [start, "a".repeat(15_000_000)],
    "event-of-4mb-of-escapes": () => [start, delta('"'.repeat(2_097_000))],
    "event-of-1mb-of-escapes": () => [start, delta('"'.repeat(599_000))],
    "event-of-4mb-of-unicode-escapes": () => [start, delta("\u0001".repeat(699_000))],
    "with-15mb-at-both-ends": () => [large("a".repeat(15_000_000))],
    "with-4mb-at-both-ends": () => [large("a".repeat(4_190_000))],
    "with-escapes-at-both-ends": () => [large('"'.repeat(595_000))],
    "of-20000-ends": () => [start, ends.repeat(20_000)],
  };
  const streamed = () => raw(dialect, question, model);
  const whole = () => raw(dialect, question.replace(',"stream":true', ""), model);
  return [
    ...repliesTo(
      streamed,
      "reader of native streams (src/providers)",
      renamed(`${dialect}-native-stream-`, streams, (body) => () => eventsReply(body())),
    ),
    ...repliesTo(whole, "reader of native replies (src/providers)", {
      [`${dialect}-native-answer-nested-10mb`]: () => rawReply({ body: ["[".repeat(10_000_000)] }),
    }),
  ];
});

const piece = (text: string, more: object = {}) => ({
  tool_calls: [{ index: 0, function: { arguments: text }, ...more }],
});
const openCall = piece("", { id: "c", function: { name: "f", arguments: '{"a":"' } });

const caps = { responses: '"max_output_tokens":8000', messages: '"max_tokens":8000' } as const;

const many = (count: number, delta: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => delta(index));
const extra = (index: number) => ({ extra_content: { [`k${index}`]: 1 } });
const citation = { type: "url_citation", url_citation: { url: "https://a.example" } };

/** Deltas of a server that speaks chat completions, which are translated. */
const deltas: Readonly<Record<string, () => readonly object[]>> = {
  "20000-extra-contents": () => many(20_000, extra),
  "20000-signatures-of-one-call": () => [
    openCall,
    ...many(20_000, (index) => piece("a", extra(index))),
  ],
  "20000-texts-within-a-call": () => [
    openCall,
    ...many(20_000, () => ({ content: "a" })),
    piece('"}'),
  ],
  "900-changes-within-a-call": () => [
    openCall,
    ...many(900, (index) => (index % 2 === 0 ? { content: "a" } : { reasoning_content: "b" })),
    piece('"}'),
  ],
  "20000-citations": () => many(20_000, () => ({ annotations: [citation] })),
};
const translated = (["responses", "messages"] as const).flatMap((dialect) =>
  repliesTo(
    // The last of two fields of one name counts.
    () => raw(dialect, `${natives[dialect].question},${caps[dialect]}`),
    `writer of events (src/wire/v1/${dialect})`,
    renamed(`${dialect}-stream-of-`, deltas, (made) => () => chatStreamReply(made())),
  ),
);

/** Replies that are stored: their items get ids of their own. */
const itemIds = Array.from(
  { length: 10_000 },
  (_, at) => `msg_${at.toString(16).padStart(40, "0")}`,
);
const message = (id: string) => ({ id, type: "message", role: "assistant", content: [] });
const added = itemIds.map((id, index) =>
  event("response.output_item.added", { output_index: index, item: message(id) }),
);
const completed = (output: readonly object[]) =>
  event("response.completed", {
    response: {
      id: "r",
      status: "completed",
      output,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  });
const nameDelta = (id: string, index: number) =>
  event("response.output_text.delta", { ...at, item_id: id, output_index: index, delta: "a" });
const manyIds = () =>
  event("response.output_text.annotation.added", {
    ...at,
    annotation: Array.from({ length: 100_000 }, () => ({ id: "m" })),
  });
const stored: Readonly<Record<string, () => readonly string[]>> = {
  "of-6000-items": () => [added.slice(0, 6_000).join(""), completed([])],
  "of-10000-items": () => [added.join(""), completed(itemIds.map(message))],
  "of-6000-items-named-in-turn": () => [
    added.slice(0, 6_000).join(""),
    ...itemIds.slice(0, 6_000).map(nameDelta),
    completed([]),
  ],
  "event-of-1mb-of-ids": () => [manyIds(), completed([])],
};
const storedCases = repliesTo(
  () => ({
    path: "/v1/responses",
    body: Buffer.from(`{"model":"${responsesModel}","input":"Hi","stream":true}`),
  }),
  "ids of stored items (src/wire/v1/responses/stored-ids.ts)",
  renamed(
    "responses-stored-stream-",
    stored,
    (events) => () => eventsReply([natives.responses.start, ...events()]),
  ),
);

export const dialectCases: readonly StallCase[] = [
  ...requests,
  ...heavyCases,
  ...sharedCases,
  ...manyCarried,
  ...replies,
  ...translated,
  ...storedCases,
];
