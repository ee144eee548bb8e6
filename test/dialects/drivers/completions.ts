/** Legacy completions, as OpenAI documents them: one text goes in, one comes out. */

import type { FinishReason, Json, JsonObject } from "../../../src/call/chat.ts";
import type { Counts } from "../../providers/dialect.ts";
import type { Driver, Heard, HeardStream, Question } from "../driver.ts";
import { toCounts } from "./chat.ts";
import {
  check,
  countOf,
  given,
  listOf,
  objectOf,
  openAiError,
  readEvents,
  textOf,
} from "./events.ts";

export const completionsDriver: Driver = {
  name: "completions",
  path: "/completions",
  can: {
    turns: false,
    tools: false,
    images: false,
    schemas: false,
    thinking: false,
    stop: true,
    cachedTokens: true,
    writtenTokens: false,
    reasoningTokens: true,
  },
  idForm: /^cmpl-[0-9a-f]{32}$/,
  capField: "max_tokens",
  endMark: "data: [DONE]\n\n",
  keepAlive: ": keep-alive\n\n",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  toBody,
  fromReply,
  fromStream,
  fromError: openAiError,
};

function toBody(question: Question): Record<string, Json | undefined> {
  const { turns, stream } = question;
  const prompt = turns.flatMap((turn) =>
    "content" in turn ? turn.content.filter((part) => typeof part === "string") : [],
  );
  return given({
    model: question.model,
    prompt: prompt.join("\n"),
    max_tokens: question.cap,
    temperature: question.temperature,
    top_p: question.topP,
    stop: question.stop,
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
  });
}

function fromReply(body: unknown): Heard {
  const { id, object, created, model, choices, usage } = objectOf(body);
  check(object === "text_completion", `object ${String(object)}`);
  countOf(created);
  const [choice, ...others] = listOf(choices);
  check(others.length === 0, "choice that was not asked for");
  const { index, text, finish_reason: finish } = objectOf(choice);
  check(index === 0, "first choice with another index");
  return heard({
    id: textOf(id),
    model: textOf(model),
    text: textOf(text),
    finish: toFinish(finish),
    usage: toCounts(usage),
  });
}

function heard(said: Pick<Heard, "id" | "model" | "text" | "finish" | "usage">): Heard {
  return { ...said, reasoning: "", calls: [], echo: said.text };
}

function toFinish(finish: unknown): FinishReason {
  check(
    finish === "stop" || finish === "length" || finish === "content_filter",
    `finish_reason ${String(finish)}`,
  );
  return finish;
}

function fromStream(text: string): HeardStream {
  const { events, comments } = readEvents(text);
  const reader = new TextReader();
  for (const { name, data } of events) {
    check(name === undefined, `event line ${name}`);
    if (data === "[DONE]") reader.end();
    else reader.take(objectOf(JSON.parse(data)));
  }
  return reader.heard(comments);
}

class TextReader {
  #envelope: { readonly id: string; readonly model: string } | undefined;
  #text = "";
  #finish: FinishReason | undefined;
  #usage: Counts | undefined;
  #error: HeardStream["error"];
  #isDone = false;

  take(chunk: JsonObject): void {
    check(!this.#isDone && this.#error === undefined, "event behind the end");
    if (chunk["error"] !== undefined) {
      this.#error = openAiError(chunk);
      return;
    }
    const { id, object, model, choices, usage } = chunk;
    check(object === "text_completion", `object ${String(object)}`);
    this.#envelope ??= { id: textOf(id), model: textOf(model) };
    check(id === this.#envelope.id && model === this.#envelope.model, "chunk of another reply");
    const [choice, ...others] = listOf(choices);
    check(others.length === 0, "second choice in a chunk");
    if (choice === undefined) {
      check(this.#finish !== undefined && this.#usage === undefined, "usage before the finish");
      this.#usage = toCounts(usage);
      return;
    }
    const { text, finish_reason: finish } = objectOf(choice);
    check(this.#finish === undefined, "words behind the end");
    this.#text += textOf(text);
    if (finish !== null) this.#finish = toFinish(finish);
  }

  end(): void {
    check(this.#finish !== undefined && this.#usage !== undefined, "[DONE] before the usage");
    check(!this.#isDone && this.#error === undefined, "second end");
    this.#isDone = true;
  }

  heard(comments: number): HeardStream {
    const { id = "", model = "" } = this.#envelope ?? {};
    return {
      ...heard({ id, model, text: this.#text, finish: this.#finish, usage: this.#usage }),
      error: this.#error,
      isDone: this.#isDone,
      keepAlives: comments,
    };
  }
}
