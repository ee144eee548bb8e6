import { type ChatResult, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { upstreamError } from "../../kit/failure.ts";
import { toExtras } from "../chat-reply.ts";
import { finishOf, fromResponsesUsage, outputOf } from "../responses-reply.ts";
import { throwTold } from "../told-failure.ts";
import { DetailWriter } from "./carried.ts";

export interface ReplyOptions {
  readonly provider: string;
  readonly mark: string;
}

/** Between thoughts, and between messages, of one answer. */
export const paragraph = "\n\n";

/** A whole response as the reply of a chat. */
export function fromResponseOfChat(reply: unknown, { provider, mark }: ReplyOptions): ChatResult {
  const response: JsonObject = isJsonObject(reply) ? reply : {};
  throwTold(response, provider);
  const answer = new WholeAnswer(provider, mark);
  for (const item of outputOf(response, provider)) if (isJsonObject(item)) answer.add(item);
  return {
    choices: [
      {
        index: 0,
        message: answer.toMessage(),
        logprobs: answer.logprobs,
        finishReason: finishOf(response),
      },
    ],
    usage: fromResponsesUsage(response["usage"]),
    extras: toExtras(response),
  };
}

/** Puts the items of a response together as one message. */
export class WholeAnswer {
  readonly #provider: string;
  readonly #writer: DetailWriter;
  readonly #texts: string[] = [];
  readonly #thoughts: string[] = [];
  readonly #annotations: JsonObject[] = [];
  readonly #logprobs: Json[] = [];
  readonly #details: JsonObject[] = [];
  readonly #calls: JsonObject[] = [];
  #refusal = "";

  constructor(provider: string, mark: string) {
    this.#provider = provider;
    this.#writer = new DetailWriter(mark);
  }

  add(item: JsonObject): void {
    switch (item["type"]) {
      case "message":
        this.#addMessage(item);
        break;
      case "reasoning": {
        for (const text of thoughtsOf(item)) this.#thoughts.push(text);
        const place = this.#calls.length + (this.#hasText || this.#calls.length > 0 ? 1 : 0);
        const detail = this.#writer.take(item, place);
        if (detail !== undefined) this.#details.push(detail);
        break;
      }
      case "function_call":
        this.#calls.push(toToolCall(item, this.#provider));
        break;
      default:
    }
  }

  toMessage(): JsonObject {
    const message: Record<string, Json> = {
      role: "assistant",
      content: this.#hasText || this.#calls.length === 0 ? this.#texts.join(paragraph) : null,
      refusal: this.#refusal === "" ? null : this.#refusal,
    };
    if (this.#thoughts.length > 0) message["reasoning_content"] = this.#thoughts.join(paragraph);
    if (this.#details.length > 0) message["reasoning_details"] = this.#details;
    if (this.#annotations.length > 0) message["annotations"] = this.#annotations;
    if (this.#calls.length > 0) message["tool_calls"] = this.#calls;
    return message;
  }

  get logprobs(): Json {
    return this.#logprobs.length === 0 ? null : { content: this.#logprobs, refusal: null };
  }

  get #hasText(): boolean {
    return this.#texts.length > 0;
  }

  #addMessage({ content }: JsonObject): void {
    let said = "";
    for (const part of Array.isArray(content) ? content.filter(isJsonObject) : []) {
      const { text, refusal, annotations, logprobs } = part;
      if (typeof text === "string") said += text;
      if (typeof refusal === "string") this.#refusal += refusal;
      for (const one of listOf(annotations).map(toAnnotation))
        if (one !== undefined) this.#annotations.push(one);
      for (const one of listOf(logprobs)) this.#logprobs.push(toLikely(one));
    }
    if (said !== "") this.#texts.push(said);
  }
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** What can be read of a thought: its text, where a server shows it, or else its summary. */
export function thoughtsOf({ content, summary }: JsonObject): readonly string[] {
  for (const parts of [content, summary]) {
    const texts = listOf(parts).flatMap(({ text }) =>
      typeof text === "string" && text !== "" ? [text] : [],
    );
    if (texts.length > 0) return texts;
  }
  return [];
}

export function toToolCall(item: JsonObject, provider: string): JsonObject {
  const { name, arguments: text } = item;
  if (typeof name !== "string" || name === "")
    throw upstreamError("upstream_error", {
      detail: `${provider} sent a tool call without a name`,
    });
  return {
    id: callIdOf(item),
    type: "function",
    function: { name, arguments: typeof text === "string" ? text : "" },
  };
}

/** Undefined: the gateway makes one. */
function callIdOf({ call_id: id, id: itemId }: JsonObject): string | undefined {
  for (const one of [id, itemId]) if (typeof one === "string" && one !== "") return one;
  return undefined;
}

/** Chat completions have addresses only, each in an object of its own. */
export function toAnnotation(given: JsonObject): JsonObject | undefined {
  const { type, url, title, start_index, end_index } = given;
  if (type !== "url_citation" || typeof url !== "string") return undefined;
  return { type, url_citation: { url, title, start_index, end_index } };
}

/** Streams leave the bytes out. */
export const toLikely = (given: JsonObject): JsonObject => ({
  ...given,
  bytes: given["bytes"] ?? null,
  top_logprobs: listOf(given["top_logprobs"]).map((one) => ({
    ...one,
    bytes: one["bytes"] ?? null,
  })),
});
