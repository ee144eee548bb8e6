/** Chat completions, as OpenAI documents them. */

import {
  type FinishReason,
  finishReasons,
  type Json,
  type JsonObject,
} from "../../../src/call/chat.ts";
import type { Counts } from "../../providers/dialect.ts";
import {
  type Content,
  type Driver,
  fullAbilities,
  type Heard,
  type HeardStream,
  type Question,
  type Turn,
} from "../driver.ts";
import {
  check,
  countOf,
  given,
  listOf,
  objectOf,
  openAiError,
  parsedArguments,
  readEvents,
  textOf,
} from "./events.ts";

export const chatDriver: Driver = {
  name: "chat",
  path: "/chat/completions",
  can: { ...fullAbilities, writtenTokens: false },
  idForm: /^chatcmpl-[0-9a-f]{32}$/,
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
  const { model, turns, system, tools, toolChoice, schema, stream } = question;
  const messages = turns.map(toMessage);
  return given({
    model,
    messages: system === undefined ? messages : [{ role: "system", content: system }, ...messages],
    max_tokens: question.cap,
    temperature: question.temperature,
    top_p: question.topP,
    stop: question.stop,
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
    tools: tools?.map(({ name, description, parameters, strict }) => ({
      type: "function",
      function: given({ name, description, parameters, strict }),
    })),
    tool_choice:
      typeof toolChoice === "object" ? { type: "function", function: toolChoice } : toolChoice,
    response_format:
      schema === undefined
        ? undefined
        : { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
    reasoning_effort: question.thinks === true ? "low" : undefined,
  });
}

function toMessage(turn: Turn): JsonObject {
  if ("echo" in turn) return objectOf(turn.echo);
  if (turn.by === "user") return { role: "user", content: toContent(turn.content) };
  if (turn.by === "tool") {
    const content = toContent(turn.content);
    return given({ role: "tool", tool_call_id: turn.id, content, is_error: turn.isError });
  }
  if (turn.by !== "assistant") return { role: turn.by, content: turn.text };
  const calls = turn.calls?.map(({ id, name, arguments: text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const said = [turn.text, turn.between].filter((text) => text !== undefined);
  const content = said.length > 1 ? said.map((text) => ({ type: "text", text })) : said[0];
  const { refusal } = turn;
  return given({ role: "assistant", content: content ?? null, refusal, tool_calls: calls });
}

function toContent(content: Content): Json {
  const [only] = content;
  if (content.length === 1 && typeof only === "string") return only;
  return content.map((part) => {
    if (typeof part === "string") return { type: "text", text: part };
    if ("filename" in part) {
      const { filename, base64 } = part;
      return {
        type: "file",
        file: { filename, file_data: `data:application/pdf;base64,${base64}` },
      };
    }
    const { mediaType, base64, detail } = part;
    const url = `data:${mediaType};base64,${base64}`;
    return { type: "image_url", image_url: given({ url, detail }) };
  });
}

function fromReply(body: unknown): Heard {
  return readWhole(body, "chat.completion");
}

/** Another format's choice as chat has it. */
type ToChoice = (choice: JsonObject) => JsonObject;

export function readWhole(body: unknown, named: string, toChoice: ToChoice = (one) => one): Heard {
  const { id, object, created, model, choices, usage } = objectOf(body);
  check(object === named, `object ${String(object)}`);
  countOf(created);
  const [choice, ...others] = listOf(choices);
  check(others.length === 0, "choice that was not asked for");
  const { index, message, logprobs, finish_reason: finish } = toChoice(objectOf(choice));
  check(index === 0, "first choice with another index");
  return {
    id: textOf(id),
    model: textOf(model),
    ...fromMessage(objectOf(message)),
    logprobs: toLogprobs(logprobs),
    finish: toFinish(finish),
    usage: toCounts(usage),
  };
}

type HeardMessage = Pick<Heard, "text" | "refusal" | "sources" | "reasoning" | "calls" | "echo">;

function fromMessage(message: JsonObject): HeardMessage {
  const { role, content, reasoning_content: reasoning, tool_calls: calls } = message;
  const { refusal = null, annotations } = message;
  check(role === "assistant", `role ${String(role)}`);
  check(content === null || typeof content === "string", "content of that kind");
  return {
    text: content ?? "",
    refusal: refusal === null ? "" : textOf(refusal),
    sources: listOf(annotations ?? []).map((source) => toSource(objectOf(source))),
    reasoning: reasoning === undefined || reasoning === null ? "" : textOf(reasoning),
    calls: listOf(calls ?? []).map((call) => {
      const { id, type, function: called } = objectOf(call);
      check(type === "function", `tool call of type ${String(type)}`);
      const { name, arguments: text } = objectOf(called);
      return { id: textOf(id), name: textOf(name), arguments: parsedArguments(textOf(text)) };
    }),
    echo: message,
  };
}

/** The fields of a source stand below its type. */
function toSource({ type, ...rest }: JsonObject): JsonObject {
  return { type, ...objectOf(rest[textOf(type)]) };
}

function toLogprobs(logprobs: unknown): readonly Json[] {
  return logprobs === null ? [] : listOf(objectOf(logprobs)["content"]);
}

function toFinish(finish: unknown): FinishReason {
  const known = finishReasons.find((reason) => reason === finish);
  check(known !== undefined, `finish_reason ${String(finish)}`);
  return known;
}

function toCounts(usage: unknown): Counts {
  const told = objectOf(usage, "reply without usage");
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = told;
  check(total === countOf(input) + countOf(output), "total that is not the sum");
  const before = objectOf(told["prompt_tokens_details"] ?? {});
  const after = objectOf(told["completion_tokens_details"] ?? {});
  return countsOf({
    input: countOf(input),
    output: countOf(output),
    cached: before["cached_tokens"],
    written: before["cache_write_tokens"],
    reasoning: after["reasoning_tokens"],
  });
}

/** What a format leaves out, or gives as null, is not known. */
export function countsOf(told: {
  readonly input: number;
  readonly output: number;
  readonly cached?: unknown;
  readonly written?: unknown;
  readonly reasoning?: unknown;
}): Counts {
  const { input, output, cached, written, reasoning } = told;
  return {
    input,
    output,
    ...(typeof cached === "number" ? { cached } : {}),
    ...(typeof written === "number" ? { written } : {}),
    ...(typeof reasoning === "number" ? { reasoning } : {}),
  };
}

function fromStream(text: string): HeardStream {
  return readChunks(text, "chat.completion.chunk");
}

export function readChunks(text: string, named: string, toChoice?: ToChoice): HeardStream {
  const { events, comments } = readEvents(text);
  const reader = new ChunkReader(named, toChoice);
  for (const { name, data } of events) {
    check(name === undefined, `event line ${name}`);
    if (data === "[DONE]") reader.end();
    else reader.take(objectOf(JSON.parse(data)));
  }
  return { ...reader.heard(), keepAlives: comments };
}

/** Joins chunks as the SDKs do. */
class ChunkReader {
  readonly #named: string;
  readonly #toChoice: ToChoice;
  #envelope: { readonly id: string; readonly model: string } | undefined;
  #message: JsonObject = {};
  readonly #logprobs: Json[] = [];
  #finish: FinishReason | undefined;
  #usage: Counts | undefined;
  #error: HeardStream["error"];
  #isDone = false;

  constructor(named: string, toChoice: ToChoice = (choice) => choice) {
    this.#named = named;
    this.#toChoice = toChoice;
  }

  take(chunk: JsonObject): void {
    check(!this.#isDone && this.#error === undefined, "event behind the end");
    if (chunk["error"] !== undefined) {
      this.#error = openAiError(chunk);
      return;
    }
    const { id, object, model, choices, usage } = chunk;
    check(object === this.#named, `object ${String(object)}`);
    this.#envelope ??= { id: textOf(id), model: textOf(model) };
    check(id === this.#envelope.id && model === this.#envelope.model, "chunk of another reply");
    const [choice, ...others] = listOf(choices);
    check(others.length === 0, "second choice in a chunk");
    if (choice === undefined) {
      check(this.#finish !== undefined && this.#usage === undefined, "usage before the finish");
      this.#usage = toCounts(usage);
      return;
    }
    check(usage === null, "usage beside a choice");
    this.#takeChoice(this.#toChoice(objectOf(choice)));
  }

  end(): void {
    check(this.#finish !== undefined && this.#usage !== undefined, "[DONE] before the usage");
    check(!this.#isDone && this.#error === undefined, "second end");
    this.#isDone = true;
  }

  heard(): Omit<HeardStream, "keepAlives"> {
    const isSilent = Object.keys(this.#message).length === 0;
    return {
      id: this.#envelope?.id ?? "",
      model: this.#envelope?.model ?? "",
      ...fromMessage(isSilent ? { role: "assistant", content: null } : withContent(this.#message)),
      logprobs: this.#logprobs,
      finish: this.#finish,
      usage: this.#usage,
      error: this.#error,
      isDone: this.#isDone,
    };
  }

  #takeChoice({ index, delta, logprobs = null, finish_reason: finish }: JsonObject): void {
    check(index === 0 && this.#finish === undefined, "piece of another choice, or behind the end");
    const isFirst = Object.keys(this.#message).length === 0;
    check((objectOf(delta)["role"] !== undefined) === isFirst, "role but in the first piece");
    this.#message = joined(this.#message, objectOf(delta));
    this.#logprobs.push(...toLogprobs(logprobs));
    if (finish !== null) this.#finish = toFinish(finish);
  }
}

const withContent = (message: JsonObject): JsonObject => {
  const calls = message["tool_calls"];
  const plain = { ...message, content: message["content"] ?? null };
  if (!Array.isArray(calls)) return plain;
  // The place of a call is a matter of the stream.
  return {
    ...plain,
    tool_calls: calls.map((call) => {
      const { index: _, ...rest } = objectOf(call);
      return rest;
    }),
  };
};

/** Texts behind each other; lists by the `index` of each entry; `index`, `type` and `role` stay. */
function joined(before: JsonObject, delta: JsonObject): JsonObject {
  const after: Record<string, Json | undefined> = { ...before };
  for (const [name, value] of Object.entries(delta)) {
    const known = after[name];
    if (known === undefined || known === null || ["index", "type", "role"].includes(name))
      after[name] = value;
    else if (value === null || value === undefined) continue;
    else if (typeof known === "string") after[name] = known + textOf(value);
    else if (Array.isArray(known)) after[name] = joinedLists(known, listOf(value));
    else after[name] = joined(objectOf(known), objectOf(value));
  }
  return after;
}

function joinedLists(known: readonly Json[], added: readonly Json[]): readonly Json[] {
  const list = [...known];
  for (const entry of added.map((one) => objectOf(one))) {
    const place = countOf(entry["index"], "entry of a list without its index");
    const before = list[place];
    list[place] = before === undefined ? entry : joined(objectOf(before), entry);
  }
  return list;
}
