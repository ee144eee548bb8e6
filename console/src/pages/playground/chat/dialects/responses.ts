import { type ChatBodyOptions, type Question, toTurns } from "../conversation.ts";
import { type EventReader, type Fields, fieldsOf, textOf, usageOf } from "./answer-events.ts";

/** Nothing is kept at the gateway: the page sends the whole conversation each time. */
export function toResponsesBody(options: ChatBodyOptions): Fields {
  const { model, parameters } = options;
  const { system, temperature, topP, maxTokens, effort, isJson } = parameters;
  return {
    model,
    instructions: system === "" ? undefined : system,
    input: toTurns(options, toContent),
    max_output_tokens: maxTokens,
    temperature,
    top_p: topP,
    reasoning: effort === undefined ? undefined : { effort },
    text: isJson ? { format: { type: "json_object" } } : undefined,
    store: false,
    stream: true,
  };
}

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

export function createResponsesReader(): EventReader {
  let summarized: unknown;
  return (event) => {
    switch (event["type"]) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return { text: textOf(event["delta"]) };
      case "response.reasoning_summary_text.delta":
        summarized = event["item_id"];
        return { reasoning: textOf(event["delta"]) };
      case "response.reasoning_text.delta":
        // The same thought again, in full.
        return event["item_id"] === summarized ? {} : { reasoning: textOf(event["delta"]) };
      case "response.completed":
      case "response.incomplete": {
        const { usage, incomplete_details: details } = fieldsOf(event["response"]);
        const reason = textOf(fieldsOf(details)["reason"]);
        const finishReason = reason === "" ? "stop" : (ends[reason] ?? reason);
        const { input_tokens: input, output_tokens: output } = fieldsOf(usage);
        return { finishReason, usage: usageOf(input, output), isLast: true };
      }
      default:
        return {};
    }
  };
}
