/** Legacy completions, as OpenAI and compatible servers answer them. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import type { Answer, Asked, SentRequest } from "../../providers/dialect.ts";
import { bodyAt, numberOf, textsOf } from "../../providers/dialects/asked.ts";
import { openAiErrors } from "../../providers/dialects/errors/openai.ts";
import { openAiDialect, toOpenAiUsage } from "../../providers/dialects/openai.ts";
import type { Wire } from "./wire.ts";

const json = { "content-type": "application/json" };
const sse = { "content-type": "text/event-stream; charset=utf-8" };
const envelope = {
  id: "cmpl-vendor0001",
  object: "text_completion",
  created: 1_791_968_400,
  model: "gpt-3.5-turbo-instruct:20230824-v2",
};

const chat = openAiDialect({ name: "", quirks: { capName: "max_tokens" } });

export function completionsWire(model: string): Wire {
  return {
    name: "completions",
    model,
    can: { ...chat.can, tools: false, images: false, schemas: false, reasoning: false },
    whole: (answer) => ({ headers: json, packets: [JSON.stringify(toReply(answer))] }),
    streamed: (answer) => {
      const events = toChunks(answer).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
      const wholeFromBytes = Buffer.byteLength(events.join("")) + "data: [DONE]".length;
      return { headers: sse, packets: [...events, "data: [DONE]\n\n"], wholeFromBytes };
    },
    error: openAiErrors.error,
    fault: openAiErrors.fault,
    asked: toAsked,
  };
}

const textOf = ({ pieces }: Answer) =>
  pieces.map((piece) => ("text" in piece ? piece.text : "")).join("");

const choice = (text: string, finish: string | null): JsonObject => ({
  text,
  index: 0,
  logprobs: null,
  finish_reason: finish,
});

const told = ({ usage }: Answer): { readonly usage?: Json } =>
  usage === undefined ? {} : { usage: toOpenAiUsage(usage) };

function toReply(answer: Answer): JsonObject {
  const choices = [choice(textOf(answer), answer.finishWord ?? answer.finish)];
  return { ...envelope, choices, ...told(answer) };
}

function toChunks(answer: Answer): readonly JsonObject[] {
  const texts = answer.pieces.flatMap((piece) => ("text" in piece ? [piece.text] : []));
  return [
    ...texts.map((text) => ({ ...envelope, choices: [choice(text, null)], usage: null })),
    { ...envelope, choices: [choice("", answer.finishWord ?? answer.finish)], usage: null },
    ...(answer.usage === undefined ? [] : [{ ...envelope, choices: [], ...told(answer) }]),
  ];
}

function toAsked(request: SentRequest): Asked {
  const body = bodyAt(request, "/v1/completions");
  const { prompt, stop } = body;
  const texts = typeof prompt === "string" ? [prompt] : [];
  return {
    model: String(body["model"]),
    streamed: body["stream"] === true,
    system: [],
    pieces: texts.map((text) => ({ by: "user", text })),
    tools: [],
    toolChoice: undefined,
    cap: numberOf(body["max_tokens"]),
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    stop: typeof stop === "string" ? [stop] : textsOf(stop),
    answerForm: undefined,
  };
}
