import type { ChatBodyOptions, Exchange, Question } from "../conversation.ts";
import {
  type ChatUsage,
  countOf,
  type EventReader,
  type Fields,
  fieldsOf,
  textOf,
} from "./answer-events.ts";

/** Nothing is kept at the gateway: the page sends the whole conversation each time. */
export function toResponsesBody(options: ChatBodyOptions): Fields {
  const { model, parameters, history, question } = options;
  const { system, temperature, topP, maxTokens, effort, isJson } = parameters;
  return {
    model,
    instructions: system === "" ? undefined : system,
    input: [...history.flatMap(toItems), { role: "user", content: toContent(question) }],
    max_output_tokens: maxTokens,
    temperature,
    top_p: topP,
    reasoning: effort === undefined ? undefined : { effort },
    text: isJson ? { format: { type: "json_object" } } : undefined,
    store: false,
    stream: true,
  };
}

const toItems = ({ question, answer }: Exchange) => [
  { role: "user", content: toContent(question) },
  { role: "assistant", content: answer.text },
];

function toContent({ text, pictures }: Question): unknown {
  if (pictures.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "input_text", text }]),
    ...pictures.map(({ dataUri }) => ({
      type: "input_image",
      image_url: dataUri,
      detail: "auto",
    })),
  ];
}

const ends: Readonly<Record<string, string>> = { max_output_tokens: "length" };

export const createResponsesReader = (): EventReader => (event) => {
  switch (event["type"]) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      return { text: textOf(event["delta"]) };
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return { reasoning: textOf(event["delta"]) };
    case "response.completed":
    case "response.incomplete": {
      const { usage, incomplete_details: details } = fieldsOf(event["response"]);
      const reason = textOf(fieldsOf(details)["reason"]);
      const finishReason = reason === "" ? "stop" : (ends[reason] ?? reason);
      return { finishReason, usage: toUsage(fieldsOf(usage)), isLast: true };
    }
    default:
      return {};
  }
};

function toUsage(usage: Fields): ChatUsage | undefined {
  const prompt_tokens = countOf(usage["input_tokens"]);
  const completion_tokens = countOf(usage["output_tokens"]);
  return prompt_tokens === undefined || completion_tokens === undefined
    ? undefined
    : { prompt_tokens, completion_tokens };
}
