import { fill, largestBytes, type StallCase, type StallRequest } from "./stall-case.ts";
import { eventsReply, rawReply } from "./upstream-bytes.ts";
import { vendorModels } from "./vendor-cases.ts";

/** The model of a vendor that speaks Responses itself. */
export const responsesModel = "openai-chat";

type Dialect = "responses" | "messages" | "completions";

/** A request with a raw piece of JSON behind the model. */
const raw = (dialect: Dialect, text: string, model = "svc-3-flash"): StallRequest => ({
  path: `/v1/${dialect}`,
  body: Buffer.from(
    `{"model":"${model}",${dialect === "messages" ? '"max_tokens":64,' : ""}${text}}`,
  ),
});
const list = (unit: string, count: number) => Array<string>(count).fill(unit).join(",");

const asked = (dialect: Dialect, name: string, text: () => string): StallCase => ({
  name: `${dialect}-${name}`,
  attacks: `reader of requests (src/wire/v1/${dialect})`,
  request: () => raw(dialect, text()),
});

const toolUse =
  '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}';
const called =
  '{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"y"}';
/** Looks like a string of ours that carries what vendors sign. */
const carried = `svc1.${"QUJD".repeat(1_000_000)}`;

const requests: readonly StallCase[] = [
  asked("responses", "input-of-31mb", () => `"input":"${fill("hello world ", largestBytes)}"`),
  asked(
    "responses",
    "90000-items",
    () => `"input":[${list('{"role":"user","content":"x"}', 90_000)}]`,
  ),
  asked("responses", "30000-calls", () => `"input":[${list(called, 30_000)}]`),
  asked(
    "responses",
    "100000-reasoning-items",
    () => `"input":[${list('{"type":"reasoning","id":"r","summary":[]}', 100_000)}]`,
  ),
  asked(
    "responses",
    "encrypted-content-of-4mb",
    () =>
      `"input":[{"type":"reasoning","id":"r","summary":[],"encrypted_content":"${carried}"},{"role":"user","content":"x"}]`,
  ),
  asked(
    "responses",
    "instructions-of-31mb",
    () => `"instructions":"${fill("x", largestBytes)}","input":"x"`,
  ),
  asked(
    "messages",
    "content-of-31mb",
    () => `"messages":[{"role":"user","content":"${fill("hello world ", largestBytes)}"}]`,
  ),
  asked(
    "messages",
    "90000-messages",
    () => `"messages":[${list('{"role":"user","content":"x"}', 90_000)}]`,
  ),
  asked("messages", "20000-results-of-tools", () => `"messages":[${list(toolUse, 20_000)}]`),
  asked(
    "messages",
    "100000-blocks",
    () => `"messages":[{"role":"user","content":[${list('{"type":"text","text":"x"}', 100_000)}]}]`,
  ),
  asked(
    "messages",
    "signature-of-4mb",
    () =>
      `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"${carried}"}]},{"role":"user","content":"x"}]`,
  ),
  asked(
    "messages",
    "system-of-300000-blocks",
    () =>
      `"system":[${list('{"type":"text","text":"x"}', 300_000)}],"messages":[{"role":"user","content":"x"}]`,
  ),
  {
    name: "messages-count-tokens-of-31mb",
    attacks: "counting of tokens (src/ledger/tokens)",
    request: () => ({
      path: "/v1/messages/count_tokens",
      body: Buffer.from(
        `{"model":"svc-3-flash","messages":[{"role":"user","content":"${fill("\\u0301\\u0316", largestBytes)}"}]}`,
      ),
    }),
  },
  asked("completions", "prompt-of-31mb", () => `"prompt":"${fill("hello world ", largestBytes)}"`),
  asked("completions", "300000-prompts", () => `"prompt":[${list('"x"', 300_000)}]`),
  asked("completions", "5-million-tokens", () => `"prompt":[${list("1", 5_000_000)}]`),
];

const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const at = { item_id: "m", output_index: 0, content_index: 0 };
const natives = {
  responses: {
    model: responsesModel,
    start: event("response.created", { sequence_number: 0, response: { id: "r", output: [] } }),
    delta: (text: string) => event("response.output_text.delta", { ...at, delta: text }),
    question: '"input":"Hi","stream":true',
  },
  messages: {
    model: vendorModels.anthropic,
    start: event("message_start", {
      message: { id: "m", type: "message", role: "assistant", content: [], usage: {} },
    }),
    delta: (text: string) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    question: '"messages":[{"role":"user","content":"Hi"}],"stream":true',
  },
} as const;

/** Streams of a vendor that speaks the caller's dialect, without an end. */
const replies = (["responses", "messages"] as const).flatMap((dialect): readonly StallCase[] => {
  const { model, start, delta, question } = natives[dialect];
  const answered = (name: string, body: () => readonly string[]): StallCase => ({
    name: `${dialect}-native-${name}`,
    attacks: "reader of native streams (src/providers)",
    request: () => raw(dialect, question, model),
    reply: () => eventsReply(body()),
  });
  return [
    answered("stream-of-50000-events", () => [start, delta("a").repeat(50_000)]),
    answered("stream-event-of-10mb", () => [start, delta("a".repeat(10_000_000))]),
    answered("stream-event-of-10mb-of-escapes", () => [start, delta('"'.repeat(5_000_000))]),
    answered("stream-of-15mb-without-a-line-end", () => [start, "a".repeat(15_000_000)]),
    answered("stream-of-20000-ends", () => [
      start,
      `${event("message_stop", {})}${event("response.completed", { response: {} })}`.repeat(20_000),
    ]),
    {
      name: `${dialect}-native-answer-nested-10mb`,
      attacks: "reader of native replies (src/providers)",
      request: () => raw(dialect, question.replace(',"stream":true', ""), model),
      reply: () => rawReply({ body: ["[".repeat(10_000_000)] }),
    },
  ];
});

export const dialectCases: readonly StallCase[] = [...requests, ...replies];
