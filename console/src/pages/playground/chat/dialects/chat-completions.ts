import { type ChatBodyOptions, type Question, toTurns } from "../conversation.ts";
import {
  type ChatPart,
  type EventReader,
  type Fields,
  fieldsOf,
  textOf,
  usageOf,
} from "./answer-events.ts";

export function toChatBody(options: ChatBodyOptions): Fields {
  const { model, parameters } = options;
  const { system, temperature, topP, maxTokens, seed, effort, isJson, stop } = parameters;
  return {
    model,
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      ...toTurns(options, toContent),
    ],
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop,
    seed,
    presence_penalty: parameters.presencePenalty,
    frequency_penalty: parameters.frequencyPenalty,
    reasoning_effort: effort,
    response_format: isJson ? { type: "json_object" } : undefined,
    stream: true,
    stream_options: { include_usage: true },
  };
}

function toContent({ text, pictures }: Question): unknown {
  if (pictures.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...pictures.map(({ dataUri }) => ({ type: "image_url", image_url: { url: dataUri } })),
  ];
}

/** Ends with `[DONE]`. */
export const createChatReader = (): EventReader => (event) => {
  const [choice]: readonly unknown[] = Array.isArray(event["choices"]) ? event["choices"] : [];
  const { delta, finish_reason: finish } = fieldsOf(choice);
  const { content, refusal, reasoning_content: thought, reasoning } = fieldsOf(delta);
  const usage = fieldsOf(event["usage"]);
  const part: ChatPart = {
    text: textOf(content) + textOf(refusal),
    reasoning: textOf(thought ?? reasoning),
    finishReason: typeof finish === "string" ? finish : undefined,
    usage: usageOf(usage["prompt_tokens"], usage["completion_tokens"]),
  };
  return part;
};
