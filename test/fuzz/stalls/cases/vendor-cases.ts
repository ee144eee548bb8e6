import { anthropicEvents, anthropicMessage } from "../../../fake/vendors/anthropic-messages.ts";
import { geminiEvent, geminiReply } from "../../../fake/vendors/gemini-replies.ts";
import {
  casesOf,
  chatRequest,
  fill,
  largestBytes,
  list,
  nested,
  rawChat,
  renamed,
  repliesTo,
  type StallCase,
} from "./stall-case.ts";
import { eventsReply, rawReply } from "./upstream-bytes.ts";

/** What only the translation for one vendor does: every vendor has a model of its own here. */
export const vendorModels = { gemini: "gemini-chat", anthropic: "anthropic-chat" } as const;
type Vendor = keyof typeof vendorModels;

const usage = { input_tokens: 9, output_tokens: 3 };
const answer = { blocks: [{ type: "text", text: "Hi" }], stopReason: "end_turn", usage } as const;
const good: Readonly<Record<Vendor, () => readonly Uint8Array[]>> = {
  gemini: () =>
    rawReply({
      body: [JSON.stringify(geminiReply({ parts: [{ text: "Hi" }], finishReason: "STOP" }))],
    }),
  anthropic: () => rawReply({ body: [anthropicMessage(answer)] }),
};

const image = (url: string) => [{ type: "image_url", image_url: { url } }];
const contents: Readonly<Record<string, () => unknown>> = {
  "ascii-31mb": () => fill("hello world ", largestBytes),
  "image-of-31mb": () => image(`data:image/png;base64,${fill("QUJD", largestBytes)}`),
  "data-uri-of-semicolons-31mb": () => image(`data:image/png${";".repeat(largestBytes)},`),
  "data-uri-of-percents-31mb": () => image(`data:image/png,${fill("%41", largestBytes)}`),
  "data-uri-of-letters-31mb": () => image(`data:${"a".repeat(largestBytes)},`),
  "image-address-of-31mb": () => image(`https://a.example/${"a".repeat(largestBytes)}`),
};

const user = '{"role":"user","content":"x"}';
const calling = (calls: string) => `{"role":"assistant","tool_calls":[${calls}]}`;
const callWith = (text: string) =>
  `{"id":"a","type":"function","function":{"name":"f","arguments":"${text}"}}`;
const result = '{"role":"tool","tool_call_id":"a","content":"y"}';
const messages = (text: () => string) => () => `"messages":[${text()}]`;
const largeTool = () =>
  `{"type":"function","function":{"name":"f","parameters":{"properties":{${list('"k":{"type":"string"}', 700)}}}}}`;
const fields: Readonly<Record<string, () => string>> = {
  "90000-messages": messages(() => list(`${user},{"role":"assistant","content":"y"}`, 45_000)),
  "30000-tool-calls": messages(() => `${user},${calling(list(callWith("{}"), 30_000))}`),
  "20000-answers-of-tools": messages(
    () => `${user},${list(`${calling(callWith("{}"))},${result}`, 15_000)}`,
  ),
  "arguments-nested-10mb": messages(() => `${user},${calling(callWith("[".repeat(10_000_000)))}`),
  "arguments-of-40000-levels": messages(
    () => `${user},${calling(callWith(`{\\"a\\":${nested(40_000)}}`))}`,
  ),
  "128-large-tools": () => `"tools":[${list(largeTool(), 128)}]`,
};

/** The same requests to the model of each vendor. */
const requests = (["gemini", "anthropic"] as const).flatMap((vendor) => {
  const model = vendorModels[vendor];
  return casesOf(
    `translation of requests (src/providers, ${vendor})`,
    {
      ...renamed(`${vendor}-`, contents, (content) => () => chatRequest(content(), { model })),
      ...renamed(`${vendor}-`, fields, (raw) => () => rawChat(`"model":"${model}",${raw()}`)),
    },
    { reply: good[vendor] },
  );
});

const streamed = (vendor: Vendor) => () =>
  chatRequest("Hi", { model: vendorModels[vendor], stream: true });
const geminiStream = (count: number, more: object = {}) => {
  const content = { parts: [{ text: "a" }] };
  const event = (own: object) => geminiEvent({ candidates: [{ index: 0, content, ...own }] });
  return eventsReply([event(more).repeat(count), event({ finishReason: "STOP" })]);
};
const logprobsResult = {
  chosenCandidates: [{ token: "a", logProbability: -1 }],
  topCandidates: [],
};

const anthropicStream = (text: string, count: number) => {
  const events = anthropicEvents({ ...answer, blocks: [{ type: "text", text }] });
  const delta = events.find((event) => event.includes("content_block_delta")) ?? "";
  const at = events.indexOf(delta);
  return eventsReply([
    [...events.slice(0, at), delta.repeat(count), ...events.slice(at + 1)].join(""),
  ]);
};

export const vendorCases: readonly StallCase[] = [
  ...requests,
  ...repliesTo(streamed("gemini"), "reader of streams (src/providers/gemini)", {
    "gemini-stream-of-50000-events": () => geminiStream(50_000),
  }),
  ...repliesTo(
    streamed("gemini"),
    "logprobs beside texts (src/providers/gemini/chat/candidate-parts.ts)",
    {
      "gemini-stream-of-20000-events-with-logprobs": () => geminiStream(20_000, { logprobsResult }),
    },
  ),
  ...repliesTo(
    streamed("gemini"),
    "failures between events (src/providers/gemini/told-failure.ts)",
    {
      "gemini-stream-of-stray-text": () =>
        eventsReply([`${" ,".repeat(15_000)}"error"${"] ".repeat(15_000)}x`]),
    },
  ),
  ...repliesTo(streamed("anthropic"), "reader of streams (src/providers/ai-sdk)", {
    "anthropic-stream-of-50000-events": () => anthropicStream("a", 50_000),
    "anthropic-stream-event-of-10mb": () => anthropicStream("a".repeat(10_000_000), 1),
    "anthropic-stream-of-15mb-without-a-line-end": () => eventsReply(["a".repeat(15_000_000)]),
    "anthropic-stream-of-comments-10mb": () => eventsReply([": x\n".repeat(2_500_000)]),
    "anthropic-stream-of-carriage-returns-10mb": () => eventsReply(["\r".repeat(10_000_000)]),
  }),
  ...repliesTo(
    () => chatRequest("Hi", { model: vendorModels.anthropic }),
    "reader of replies (src/providers/ai-sdk)",
    { "anthropic-answer-nested-10mb": () => rawReply({ body: ["[".repeat(10_000_000)] }) },
  ),
];
