/** Events of a streamed message: their order, and what they add up to. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import type { HeardError, HeardStream } from "../driver.ts";
import { check, countOf, listOf, objectOf, readTypedEvents, textOf } from "./events.ts";
import { fromError, fromMessage } from "./messages-reply.ts";

export function fromMessageStream(text: string): HeardStream {
  const { events, comments } = readTypedEvents(text);
  const reader = new MessageReader();
  for (const event of events) reader.take(event);
  return reader.heard(comments);
}

/** Which deltas a block may have, and the field that each adds to. */
const deltasOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { text_delta: "text" },
  thinking: { thinking_delta: "thinking", signature_delta: "signature" },
  redacted_thinking: {},
  tool_use: { input_json_delta: "partial_json" },
};

class MessageReader {
  #message: JsonObject | undefined;
  readonly #blocks: JsonObject[] = [];
  #open: Record<string, Json | undefined> | undefined;
  #json = "";
  #ending: JsonObject | undefined;
  #isDone = false;
  #error: HeardError | undefined;
  #pings = 0;

  take(event: JsonObject): void {
    const { type, index } = event;
    check(!this.#isDone && this.#error === undefined, `${String(type)} behind the end`);
    if (type === "ping") {
      this.#pings += 1;
      return;
    }
    if (type === "error") {
      this.#error = fromError(event);
      return;
    }
    if (type === "message_start") {
      this.#start(objectOf(event["message"]));
      return;
    }
    check(this.#message !== undefined, `${String(type)} before the beginning`);
    if (type === "message_delta") this.#end(event);
    else if (type === "message_stop") {
      check(this.#ending !== undefined, "end before its reason");
      this.#isDone = true;
    } else {
      check(this.#ending === undefined, `${String(type)} behind the reason of the end`);
      check(index === this.#blocks.length, `${String(type)} at ${String(index)}`);
      this.#takeBlock(type, event);
    }
  }

  #start(message: JsonObject): void {
    check(this.#message === undefined, "second beginning");
    const { content, stop_reason: stop, stop_sequence: sequence, usage } = message;
    check(listOf(content).length === 0, "beginning with content");
    check(stop === null && sequence === null, "beginning with an end");
    countOf(objectOf(usage)["input_tokens"]);
    countOf(objectOf(usage)["output_tokens"]);
    this.#message = message;
  }

  #takeBlock(type: unknown, event: JsonObject): void {
    if (type === "content_block_start") {
      check(this.#open === undefined, "block within another");
      const block = objectOf(event["content_block"]);
      expectEmpty(block);
      this.#open = { ...block };
      this.#json = "";
      return;
    }
    const open = this.#open;
    check(open !== undefined, `${String(type)} outside of a block`);
    if (type === "content_block_stop") {
      if (open["type"] === "tool_use")
        open["input"] = this.#json === "" ? {} : (JSON.parse(this.#json) as Json);
      this.#blocks.push(open);
      this.#open = undefined;
      return;
    }
    check(type === "content_block_delta", `event ${String(type)}`);
    const delta = objectOf(event["delta"]);
    if (open["type"] === "text" && delta["type"] === "citations_delta") {
      open["citations"] = [...listOf(open["citations"] ?? []), objectOf(delta["citation"])];
      return;
    }
    const field = deltasOf[String(open["type"])]?.[String(delta["type"])];
    check(field !== undefined, `${String(delta["type"])} in a block ${String(open["type"])}`);
    const piece = textOf(delta[field]);
    if (field === "partial_json") this.#json += piece;
    else open[field] = textOf(open[field]) + piece;
  }

  #end({ delta, usage }: JsonObject): void {
    check(this.#open === undefined, "end within a block");
    check(this.#ending === undefined, "second reason of the end");
    const { stop_reason: stop, stop_sequence: sequence } = objectOf(delta);
    check(sequence !== undefined, "end without stop_sequence");
    // What the end counts replaces what the beginning knew.
    const known = objectOf(this.#message?.["usage"]);
    const told = Object.entries(objectOf(usage)).filter(([, value]) => value !== null);
    this.#ending = {
      stop_reason: stop ?? null,
      stop_sequence: sequence,
      usage: { ...known, ...Object.fromEntries(told) },
    };
  }

  heard(comments: number): HeardStream {
    const end = { error: this.#error, isDone: this.#isDone, keepAlives: comments + this.#pings };
    if (this.#isDone)
      return {
        ...fromMessage({ ...this.#message, content: this.#blocks, ...this.#ending }),
        ...end,
      };
    const blocks = this.#open === undefined ? this.#blocks : [...this.#blocks, this.#open];
    const said = (field: string) => blocks.map((block) => String(block[field] ?? "")).join("");
    return {
      id: String(this.#message?.["id"] ?? ""),
      model: String(this.#message?.["model"] ?? ""),
      text: said("text"),
      reasoning: said("thinking"),
      calls: [],
      finish: undefined,
      usage: undefined,
      echo: blocks,
      ...end,
    };
  }
}

function expectEmpty(block: JsonObject): void {
  const { type, text, thinking, input } = block;
  check(deltasOf[String(type)] !== undefined, `block ${String(type)}`);
  if (type === "text") check(text === "", "text that begins with words");
  if (type === "thinking") check(thinking === "", "thought that begins with words");
  if (type === "tool_use")
    check(Object.keys(objectOf(input)).length === 0, "call that begins with input");
}
