import { anthropicEvents, anthropicMessage } from "../../../fake/vendors/anthropic-messages.ts";
import { geminiEvent, geminiReply } from "../../../fake/vendors/gemini-replies.ts";
import { chatRequest, fill, largestBytes, rawChat, type StallCase } from "./stall-case.ts";
import { eventsReply, rawReply } from "./upstream-bytes.ts";

/** What only the translation for one vendor does: every vendor has a model of its own here. */
export const vendorModels = { gemini: "gemini-chat", anthropic: "anthropic-chat" } as const;
type Vendor = keyof typeof vendorModels;
const vendors: readonly Vendor[] = ["gemini", "anthropic"];

const usage = { input_tokens: 9, output_tokens: 3 };
const answer = { blocks: [{ type: "text", text: "Hi" }], stopReason: "end_turn", usage } as const;
const good: Readonly<Record<Vendor, () => readonly Uint8Array[]>> = {
  gemini: () =>
    rawReply({
      body: [JSON.stringify(geminiReply({ parts: [{ text: "Hi" }], finishReason: "STOP" }))],
    }),
  anthropic: () => rawReply({ body: [anthropicMessage(answer)] }),
};
const list = (unit: string, count: number) => Array<string>(count).fill(unit).join(",");

/** The same request to the model of each vendor. */
const toEach = (name: string, content: () => unknown, more: () => object = () => ({})) =>
  vendors.map(
    (vendor): StallCase => ({
      name: `${vendor}-${name}`,
      attacks: `translation of requests (src/providers, ${vendor})`,
      request: () => chatRequest(content(), { model: vendorModels[vendor], ...more() }),
      reply: good[vendor],
    }),
  );
const rawToEach = (name: string, raw: () => string) =>
  vendors.map(
    (vendor): StallCase => ({
      name: `${vendor}-${name}`,
      attacks: `translation of requests (src/providers, ${vendor})`,
      request: () => rawChat(`"model":"${vendorModels[vendor]}",${raw()}`),
      reply: good[vendor],
    }),
  );
const image = (url: string) => [{ type: "image_url", image_url: { url } }];
const streamed = (vendor: Vendor) => () =>
  chatRequest("Hi", { model: vendorModels[vendor], stream: true });

const requests: readonly StallCase[] = [
  ...toEach("ascii-31mb", () => fill("hello world ", largestBytes)),
  ...toEach("image-of-31mb", () => image(`data:image/png;base64,${fill("QUJD", largestBytes)}`)),
  ...toEach("data-uri-of-semicolons-31mb", () =>
    image(`data:image/png${";".repeat(largestBytes)},`),
  ),
  ...toEach("data-uri-of-percents-31mb", () =>
    image(`data:image/png,${fill("%41", largestBytes)}`),
  ),
  ...toEach("data-uri-of-letters-31mb", () => image(`data:${"a".repeat(largestBytes)},`)),
  ...toEach("image-address-of-31mb", () => image(`https://a.example/${"a".repeat(largestBytes)}`)),
  ...rawToEach(
    "90000-messages",
    () =>
      `"messages":[${list('{"role":"user","content":"x"},{"role":"assistant","content":"y"}', 45_000)}]`,
  ),
  ...rawToEach(
    "30000-tool-calls",
    () =>
      `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${list('{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}', 30_000)}]}]`,
  ),
  ...rawToEach(
    "20000-answers-of-tools",
    () =>
      `"messages":[{"role":"user","content":"x"},${list('{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"y"}', 15_000)}]`,
  ),
  ...rawToEach(
    "arguments-nested-10mb",
    () =>
      `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"${"[".repeat(10_000_000)}"}}]}]`,
  ),
  ...rawToEach(
    "arguments-of-40000-levels",
    () =>
      `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"a\\":${"[".repeat(40_000)}${"]".repeat(40_000)}}"}}]}]`,
  ),
  ...rawToEach(
    "128-large-tools",
    () =>
      `"tools":[${list(`{"type":"function","function":{"name":"f","parameters":{"properties":{${list('"k":{"type":"string"}', 700)}}}}}`, 128)}]`,
  ),
];

const geminiEvents = (count: number, parts: readonly object[], more: object = {}) =>
  geminiEvent({
    candidates: [{ index: 0, content: { parts }, ...more }],
  }).repeat(count);
const words = [{ text: "a" }];
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

const replies: readonly StallCase[] = [
  {
    name: "gemini-stream-of-50000-events",
    attacks: "reader of streams (src/providers/gemini)",
    request: streamed("gemini"),
    reply: () =>
      eventsReply([geminiEvents(50_000, words), geminiEvents(1, words, { finishReason: "STOP" })]),
  },
  {
    name: "gemini-stream-of-20000-events-with-logprobs",
    attacks: "logprobs beside texts (src/providers/gemini/chat/candidate-parts.ts)",
    request: streamed("gemini"),
    reply: () =>
      eventsReply([
        geminiEvents(20_000, words, { logprobsResult }),
        geminiEvents(1, words, { finishReason: "STOP" }),
      ]),
  },
  {
    name: "gemini-stream-of-stray-text",
    attacks: "failures between events (src/providers/gemini/told-failure.ts)",
    request: streamed("gemini"),
    reply: () => eventsReply([`${" ,".repeat(15_000)}"error"${"] ".repeat(15_000)}x`]),
  },
  {
    name: "anthropic-stream-of-50000-events",
    attacks: "reader of streams (src/providers/ai-sdk)",
    request: streamed("anthropic"),
    reply: () => anthropicStream("a", 50_000),
  },
  {
    name: "anthropic-stream-event-of-10mb",
    attacks: "reader of streams (src/providers/ai-sdk)",
    request: streamed("anthropic"),
    reply: () => anthropicStream("a".repeat(10_000_000), 1),
  },
  {
    name: "anthropic-stream-of-15mb-without-a-line-end",
    attacks: "reader of streams (src/providers/ai-sdk)",
    request: streamed("anthropic"),
    reply: () => eventsReply(["a".repeat(15_000_000)]),
  },
  {
    name: "anthropic-stream-of-comments-10mb",
    attacks: "reader of streams (src/providers/ai-sdk)",
    request: streamed("anthropic"),
    reply: () => eventsReply([": x\n".repeat(2_500_000)]),
  },
  {
    name: "anthropic-stream-of-carriage-returns-10mb",
    attacks: "reader of streams (src/providers/ai-sdk)",
    request: streamed("anthropic"),
    reply: () => eventsReply(["\r".repeat(10_000_000)]),
  },
  {
    name: "anthropic-answer-nested-10mb",
    attacks: "reader of replies (src/providers/ai-sdk)",
    request: () => chatRequest("Hi", { model: vendorModels.anthropic }),
    reply: () => rawReply({ body: ["[".repeat(10_000_000)] }),
  },
];

export const vendorCases: readonly StallCase[] = [...requests, ...replies];
