import { type ChatBodyOptions, type Question, toTurns } from "../conversation.ts";
import {
  countOf,
  type EventReader,
  type Fields,
  fieldsOf,
  textOf,
  usageOf,
} from "./answer-events.ts";

/** The format requires a limit; this one is used where none is set. */
const usualMaxTokens = 4_096;

/** How many tokens a wish for reasoning allows. */
const budgets: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
};

export function toMessagesBody(options: ChatBodyOptions): Fields {
  const { model, parameters, mostTokens } = options;
  const { system, temperature, topP, maxTokens, effort = "", stop } = parameters;
  const budget = budgets[effort];
  const most = mostTokens ?? Number.POSITIVE_INFINITY;
  const limit = maxTokens ?? Math.min(most, (budget ?? 0) + usualMaxTokens);
  return {
    model,
    max_tokens: limit,
    system: system === "" ? undefined : system,
    messages: toTurns(options, toContent),
    temperature,
    top_p: topP,
    stop_sequences: stop,
    thinking:
      budget !== undefined
        ? // Thoughts are part of the limit, so they must leave room for the reply.
          { type: "enabled", budget_tokens: Math.min(budget, limit - 1) }
        : effort === "none"
          ? { type: "disabled" }
          : undefined,
    stream: true,
  };
}

function toContent({ text, pictures }: Question): unknown {
  if (pictures.length === 0) return text;
  return [
    ...pictures.map(({ dataUri }) => ({ type: "image", source: toSource(dataUri) })),
    ...(text === "" ? [] : [{ type: "text", text }]),
  ];
}

function toSource(dataUri: string): unknown {
  const [, type = "", data = ""] = /^data:([^;,]+);base64,(.*)$/s.exec(dataUri) ?? [];
  return { type: "base64", media_type: type, data };
}

const ends: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  refusal: "content_filter",
  tool_use: "tool_calls",
};

/** Input is counted in the first event, output in the last ones. */
export function createMessagesReader(): EventReader {
  let input = 0;
  const note = (usage: Fields) => {
    const counts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    const sum = counts.reduce((total, name) => total + (countOf(usage[name]) ?? 0), 0);
    if (sum > 0) input = sum;
  };
  return (event) => {
    switch (event["type"]) {
      case "message_start":
        note(fieldsOf(fieldsOf(event["message"])["usage"]));
        return {};
      case "content_block_delta": {
        const { text, thinking } = fieldsOf(event["delta"]);
        return { text: textOf(text), reasoning: textOf(thinking) };
      }
      case "message_delta": {
        const usage = fieldsOf(event["usage"]);
        note(usage);
        const reason = textOf(fieldsOf(event["delta"])["stop_reason"]);
        return {
          finishReason: reason === "" ? undefined : (ends[reason] ?? reason),
          usage: usageOf(input, usage["output_tokens"]),
        };
      }
      case "message_stop":
        return { isLast: true };
      default:
        return {};
    }
  };
}
