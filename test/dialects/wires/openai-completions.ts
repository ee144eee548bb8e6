/** Legacy completions, as OpenAI and compatible servers answer them. */

import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import type { Answer, Asked, Counts } from "../../providers/dialect.ts";
import { openAiErrors } from "../../providers/dialects/errors/openai.ts";
import { openAiDialect } from "../../providers/dialects/openai.ts";
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

function toReply(answer: Answer): JsonObject {
  const choices = [choice(textOf(answer), answer.finishWord ?? answer.finish)];
  return { ...envelope, choices, ...toUsage(answer.usage) };
}

function toUsage(counts: Counts | undefined): { readonly usage?: Json } {
  if (counts === undefined) return {};
  const { input, output, cached, written, reasoning } = counts;
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: {
        ...(cached === undefined ? {} : { cached_tokens: cached }),
        ...(written === undefined ? {} : { cache_write_tokens: written }),
      },
      completion_tokens_details: reasoning === undefined ? {} : { reasoning_tokens: reasoning },
    },
  };
}

function toChunks(answer: Answer): readonly JsonObject[] {
  const texts = answer.pieces.flatMap((piece) => ("text" in piece ? [piece.text] : []));
  const told = toUsage(answer.usage);
  return [
    ...texts.map((text) => ({ ...envelope, choices: [choice(text, null)], usage: null })),
    { ...envelope, choices: [choice("", answer.finishWord ?? answer.finish)], usage: null },
    ...(told.usage === undefined ? [] : [{ ...envelope, choices: [], ...told }]),
  ];
}

function toAsked(request: RecordedRequest): Asked {
  if (request.method !== "POST" || request.path !== "/v1/completions")
    throw new Error(`${request.method} ${request.path} is no completion`);
  const body = isJsonObject(request.json) ? request.json : {};
  const { prompt, stop, max_tokens: cap, temperature, top_p: topP } = body;
  const texts = typeof prompt === "string" ? [prompt] : [];
  return {
    model: String(body["model"]),
    streamed: body["stream"] === true,
    system: [],
    pieces: texts.map((text) => ({ by: "user", text })),
    tools: [],
    toolChoice: undefined,
    cap: typeof cap === "number" ? cap : undefined,
    temperature: typeof temperature === "number" ? temperature : undefined,
    topP: typeof topP === "number" ? topP : undefined,
    stop: Array.isArray(stop) ? stop.map(String) : typeof stop === "string" ? [stop] : undefined,
    answerForm: undefined,
  };
}
