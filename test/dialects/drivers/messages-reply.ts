/** A message that is over: whole, or as the events of a stream add up to. */

import type { FinishReason, JsonObject } from "../../../src/call/chat.ts";
import type { Counts } from "../../providers/dialect.ts";
import type { Heard, HeardError } from "../driver.ts";
import { countsOf } from "./chat.ts";
import { check, countOf, listOf, objectOf, textOf } from "./events.ts";

export function fromMessage(message: JsonObject): Heard {
  const { id, type, role, model, content, stop_reason: stop } = message;
  check(type === "message" && role === "assistant", `reply of type ${String(type)}`);
  check(message["stop_sequence"] !== undefined, "reply without stop_sequence");
  const blocks = listOf(content).map((block) => objectOf(block));
  const ofType = (wanted: string) => blocks.filter((block) => block["type"] === wanted);
  for (const { type: kind } of blocks)
    check(
      ["text", "thinking", "redacted_thinking", "tool_use"].includes(String(kind)),
      `block ${String(kind)}`,
    );
  for (const { signature } of ofType("thinking")) textOf(signature, "thought without a signature");
  return {
    id: textOf(id),
    model: textOf(model),
    text: ofType("text")
      .map(({ text }) => textOf(text))
      .join(""),
    reasoning: ofType("thinking")
      .map(({ thinking }) => textOf(thinking))
      .join(""),
    calls: ofType("tool_use").map(({ id: callId, name, input }) => ({
      id: textOf(callId),
      name: textOf(name),
      arguments: objectOf(input, "input that is not an object"),
    })),
    ...sourcesIn(ofType("text")),
    finish: toFinish(stop),
    usage: toCounts(message["usage"]),
    echo: blocks,
  };
}

/** In the form of chat; only pages have one in both. */
function sourcesIn(blocks: readonly JsonObject[]): Pick<Heard, "sources"> {
  const sources = blocks.flatMap(({ citations }) =>
    listOf(citations ?? []).map((citation) => {
      const { type, url, title } = objectOf(citation);
      check(type === "web_search_result_location", `citation of type ${String(type)}`);
      return { type: "url_citation", url: textOf(url), title: textOf(title) };
    }),
  );
  return sources.length === 0 ? {} : { sources };
}

const finishWords: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

function toFinish(stop: unknown): FinishReason {
  const finish = finishWords[String(stop)];
  check(finish !== undefined, `stop_reason ${String(stop)}`);
  return finish;
}

/** What was read from a cache, and written to it, is not part of `input_tokens` here. */
function toCounts(usage: unknown): Counts {
  const told = objectOf(usage, "reply without usage");
  const { cache_read_input_tokens: cached, cache_creation_input_tokens: written } = told;
  const beside = Number(cached ?? 0) + Number(written ?? 0);
  return countsOf({
    input: countOf(told["input_tokens"]) + countOf(beside),
    output: countOf(told["output_tokens"]),
    cached,
    written,
  });
}

/** Our code and the field are beside what the format has. */
export function fromError(body: unknown): HeardError {
  const { type, error } = objectOf(body);
  check(type === "error", `error of type ${String(type)}`);
  const { type: kind, message, code, param = null } = objectOf(error);
  check(param === null || typeof param === "string", "param of that kind");
  return { type: textOf(kind), message: textOf(message), code: textOf(code), param };
}
