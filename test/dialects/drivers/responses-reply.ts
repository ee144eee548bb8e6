/** A response that is over: whole, or as the last event of a stream has it. */

import type { FinishReason, Json, JsonObject } from "../../../src/call/chat.ts";
import type { Counts } from "../../providers/dialect.ts";
import type { Heard, HeardCall } from "../driver.ts";
import { countsOf } from "./chat.ts";
import { check, countOf, listOf, objectOf, parsedArguments, textOf } from "./events.ts";

/** Fields that SDKs read without asking whether they are there. */
const required = [
  "id",
  "object",
  "created_at",
  "status",
  "error",
  "incomplete_details",
  "instructions",
  "metadata",
  "model",
  "output",
  "parallel_tool_calls",
  "temperature",
  "tool_choice",
  "tools",
  "top_p",
];

export function fromResponse(response: JsonObject): Heard {
  expectEnvelope(response);
  const { id, model, output, status, incomplete_details: cut } = response;
  const items = listOf(output).map((item) => objectOf(item));
  const parts = items.map(fromItem);
  const calls = parts.flatMap(({ call }) => call ?? []);
  return {
    id: textOf(id),
    model: textOf(model),
    text: parts.map(({ text = "" }) => text).join(""),
    refusal: parts.map(({ refusal = "" }) => refusal).join(""),
    sources: parts.flatMap(({ sources = [] }) => sources),
    logprobs: parts.flatMap(({ logprobs = [] }) => logprobs),
    reasoning: parts.map(({ reasoning = "" }) => reasoning).join(""),
    calls,
    finish: toFinish(status, cut, calls.length > 0),
    usage: toCounts(response["usage"]),
    echo: items,
  };
}

export function expectEnvelope(response: JsonObject): void {
  const missing = required.filter((name) => response[name] === undefined);
  check(missing.length === 0, `response without ${missing.join()}`);
  check(response["object"] === "response", `object ${String(response["object"])}`);
  countOf(response["created_at"]);
}

function toFinish(status: unknown, cut: unknown, hasCalls: boolean): FinishReason {
  if (status === "completed") {
    check(cut === null, "completed response that is incomplete");
    return hasCalls ? "tool_calls" : "stop";
  }
  check(status === "incomplete", `end with the status ${String(status)}`);
  const { reason } = objectOf(cut);
  check(reason === "max_output_tokens" || reason === "content_filter", `cut by ${String(reason)}`);
  return reason === "content_filter" ? "content_filter" : "length";
}

interface HeardItem {
  readonly text?: string;
  readonly refusal?: string;
  readonly sources?: readonly JsonObject[];
  readonly logprobs?: readonly Json[];
  readonly reasoning?: string;
  readonly call?: HeardCall;
}

/** One item of an output, as it is when it is done. */
export function fromItem(item: JsonObject): HeardItem {
  const { type, id, status } = item;
  textOf(id, "item without an id");
  switch (type) {
    case "message": {
      check(item["role"] === "assistant", "message of another role");
      check(status === "completed" || status === "incomplete", `status ${String(status)}`);
      const parts = listOf(item["content"]).map(fromPart);
      return {
        text: parts.map(({ text = "" }) => text).join(""),
        refusal: parts.map(({ refusal = "" }) => refusal).join(""),
        sources: parts.flatMap(({ sources = [] }) => sources),
        logprobs: parts.flatMap(({ logprobs = [] }) => logprobs),
      };
    }
    case "reasoning": {
      const { summary, content } = item;
      const [sum, whole] = [summary, content ?? []].map((parts) =>
        listOf(parts)
          .map((part) => textOf(objectOf(part)["text"]))
          .join(""),
      );
      // The same text is in both.
      check(whole === "" || sum === "" || whole === sum, "a summary that differs from its content");
      return { reasoning: whole || sum || "" };
    }
    case "function_call": {
      check(status === "completed" || status === "incomplete", `status ${String(status)}`);
      const { call_id: callId, name, arguments: text } = item;
      return {
        call: {
          id: textOf(callId),
          name: textOf(name),
          arguments: parsedArguments(textOf(text)),
        },
      };
    }
    default:
      throw new Error(`no such item was asked for: ${String(type)}`);
  }
}

function fromPart(part: Json): HeardItem {
  const { type, text, annotations, logprobs = [], refusal } = objectOf(part);
  if (type === "refusal") return { refusal: textOf(refusal) };
  check(type === "output_text", `part ${String(type)}`);
  const sources = listOf(annotations, "text without annotations").map((one) => objectOf(one));
  return { text: textOf(text), sources, logprobs: listOf(logprobs) };
}

function toCounts(usage: unknown): Counts {
  const told = objectOf(usage, "response without usage");
  const { input_tokens: input, output_tokens: output, total_tokens: total } = told;
  check(total === countOf(input) + countOf(output), "total that is not the sum");
  return countsOf({
    input: countOf(input),
    output: countOf(output),
    cached: countOf(objectOf(told["input_tokens_details"])["cached_tokens"]),
    reasoning: countOf(objectOf(told["output_tokens_details"])["reasoning_tokens"]),
  });
}
