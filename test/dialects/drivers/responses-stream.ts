/** Events of a streamed response: their order, their numbers, and that they say what the end says. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import type { HeardError, HeardStream } from "../driver.ts";
import { check, countOf, listOf, objectOf, readTypedEvents, textOf } from "./events.ts";
import { expectEnvelope, fromItem, fromResponse } from "./responses-reply.ts";

export function fromResponseStream(text: string): HeardStream {
  const { events, comments } = readTypedEvents(text);
  const reader = new ResponseReader();
  for (const event of events) reader.take(event);
  return { ...reader.heard(), keepAlives: comments };
}

/** A part of an item that is being said. */
interface OpenPart {
  readonly kind: string;
  readonly index: number;
  said: string;
  isSaid: boolean;
  readonly logprobs: Json[];
  readonly sources: Json[];
}

interface OpenItem {
  readonly id: string;
  readonly type: string;
  readonly parts: string[];
  /** Their types: a summary and the content are counted apart. */
  readonly kinds: string[];
  part: OpenPart | undefined;
}

/** Which events say a part, by the type of the part. */
const partEvents: Readonly<Record<string, readonly [delta: string, done: string, field: string]>> =
  {
    output_text: ["response.output_text.delta", "response.output_text.done", "text"],
    refusal: ["response.refusal.delta", "response.refusal.done", "refusal"],
    summary_text: [
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "text",
    ],
  };

class ResponseReader {
  #next = 0;
  #envelope: JsonObject | undefined;
  #isInProgress = false;
  #item: OpenItem | undefined;
  readonly #done: JsonObject[] = [];
  #last: JsonObject | undefined;
  #error: HeardError | undefined;

  take(event: JsonObject): void {
    const { type, sequence_number: number } = event;
    check(this.#last === undefined, `${String(type)} behind the end`);
    check(number === this.#next, `${String(type)} with the number ${String(number)}`);
    this.#next += 1;
    if (type === "error") {
      check(this.#error === undefined, "second error");
      const { code, message, param } = event;
      check(param === null || typeof param === "string", "param of that kind");
      this.#error = { code: textOf(code), message: textOf(message), type: "error", param };
      return;
    }
    if (this.#error !== undefined) {
      check(type === "response.failed", `${String(type)} behind an error`);
      const response = objectOf(event["response"]);
      check(response["status"] === "failed", "failure with another status");
      textOf(objectOf(response["error"])["code"]);
      this.#last = response;
      return;
    }
    this.#takeSaid(String(type), event);
  }

  #takeSaid(type: string, event: JsonObject): void {
    switch (type) {
      case "response.created":
        check(this.#envelope === undefined, "second beginning");
        this.#envelope = objectOf(event["response"]);
        expectEnvelope(this.#envelope);
        check(this.#envelope["status"] === "in_progress", "beginning with another status");
        check(listOf(this.#envelope["output"]).length === 0, "beginning with an output");
        return;
      case "response.in_progress":
        check(this.#envelope !== undefined && !this.#isInProgress, "such place for in_progress");
        this.#isInProgress = true;
        return;
      case "response.output_item.added":
        this.#open(event);
        return;
      case "response.output_item.done":
        this.#close(event);
        return;
      case "response.completed":
      case "response.incomplete":
        check(this.#isInProgress && this.#item === undefined, "end in the middle of an item");
        this.#end(type, objectOf(event["response"]));
        return;
      default:
        this.#takePiece(type, event);
    }
  }

  #open({ output_index: place, item }: JsonObject): void {
    check(this.#isInProgress, "item before the beginning");
    check(this.#item === undefined, "item within another");
    check(place === this.#done.length, `item at ${String(place)}`);
    const { id, type } = objectOf(item);
    this.#item = { id: textOf(id), type: textOf(type), parts: [], kinds: [], part: undefined };
    if (type === "function_call") {
      const { arguments: text, name, call_id: callId } = objectOf(item);
      check(text === "", "call that begins with arguments");
      textOf(name);
      textOf(callId);
      this.#item.part = newPart("function_call", 0);
    }
  }

  #close({ output_index: place, item }: JsonObject): void {
    const open = this.#item;
    check(open !== undefined && place === this.#done.length, "end of an item that is not open");
    const done = objectOf(item);
    check(done["id"] === open.id && done["type"] === open.type, "end of another item");
    if (open.type === "function_call") {
      check(open.part?.isSaid === true, "call that ends before its arguments");
      check(done["arguments"] === open.part.said, "arguments that differ from their pieces");
    } else {
      check(open.part === undefined, "item that ends before its part");
      const { text = "", refusal = "", reasoning = "" } = fromItem(done);
      // A model refuses after what it says.
      const whole = text + refusal + reasoning;
      const parts = open.type === "reasoning" ? [...new Set(open.parts)] : open.parts;
      check(whole === parts.join(""), "item that differs from its pieces");
    }
    fromItem(done);
    this.#done.push(done);
    this.#item = undefined;
  }

  #takePiece(type: string, event: JsonObject): void {
    const open = this.#item;
    check(open !== undefined, `${type} outside of an item`);
    check(event["item_id"] === open.id, `${type} of another item`);
    check(event["output_index"] === this.#done.length, `${type} of another place`);
    if (open.type === "function_call") takeArguments(open, type, event);
    else if (type === "response.content_part.added" || type.endsWith("summary_part.added"))
      openPart(open, event);
    else if (type === "response.content_part.done" || type.endsWith("summary_part.done"))
      closePart(open, event);
    else takeWords(open, type, event);
  }

  #end(type: string, response: JsonObject): void {
    const expected = type === "response.completed" ? "completed" : "incomplete";
    check(response["status"] === expected, `${type} with the status ${String(response["status"])}`);
    check(response["id"] === this.#envelope?.["id"], "end of another response");
    const same = JSON.stringify(response["output"]) === JSON.stringify(this.#done);
    check(same, "output that differs from its items");
    this.#last = response;
  }

  heard(): Omit<HeardStream, "keepAlives"> {
    if (this.#last !== undefined && this.#error === undefined)
      return { ...fromResponse(this.#last), error: undefined, isDone: true };
    const said = this.#done.map(fromItem);
    const { id, model } = this.#envelope ?? {};
    const open = this.#item;
    const words = [...(open?.parts ?? []), open?.part?.said ?? ""].join("");
    return {
      id: String(id ?? ""),
      model: String(model ?? ""),
      text: said.map(({ text = "" }) => text).join("") + (open?.type === "message" ? words : ""),
      reasoning:
        said.map(({ reasoning = "" }) => reasoning).join("") +
        (open?.type === "reasoning" ? words : ""),
      calls: said.flatMap(({ call }) => call ?? []),
      finish: undefined,
      usage: undefined,
      echo: this.#done,
      error: this.#error,
      isDone: false,
    };
  }
}

function takeArguments({ part }: OpenItem, type: string, event: JsonObject): void {
  check(part !== undefined && !part.isSaid, `${type} behind the arguments`);
  if (type === "response.function_call_arguments.delta") {
    part.said += textOf(event["delta"]);
    return;
  }
  check(type === "response.function_call_arguments.done", `${type} of a call`);
  check(event["arguments"] === part.said, "arguments that differ from their pieces");
  part.isSaid = true;
}

/** Summaries count their parts by `summary_index`, all others by `content_index`. */
const indexOf = (kind: string, event: JsonObject) =>
  countOf(event[kind === "summary_text" ? "summary_index" : "content_index"], "place of a part");

function openPart(item: OpenItem, event: JsonObject): void {
  check(item.part === undefined, "part within another");
  const { type } = objectOf(event["part"]);
  const kind = textOf(type);
  const index = indexOf(kind, event);
  const isSummary = kind === "summary_text";
  const before = item.kinds.filter((other) => (other === "summary_text") === isSummary);
  check(index === before.length, `part at ${index}`);
  item.part = newPart(kind, index);
}

const newPart = (kind: string, index: number): OpenPart => ({
  kind,
  index,
  said: "",
  isSaid: false,
  logprobs: [],
  sources: [],
});

function closePart(item: OpenItem, event: JsonObject): void {
  const { part } = item;
  check(part !== undefined, "end of a part that is not open");
  const done = objectOf(event["part"]);
  // Raw reasoning has no deltas: its part comes whole.
  if (part.kind === "reasoning_text") part.said = textOf(done["text"]);
  else check(part.isSaid, "end of a part before its words");
  check(indexOf(part.kind, event) === part.index, "end of another part");
  const [, , field = "text"] = partEvents[part.kind] ?? [];
  check(done["type"] === part.kind, "end of a part of another kind");
  check(done[field] === part.said, "part that differs from its pieces");
  const { logprobs = [], annotations = [] } = done;
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  check(isSame(logprobs, part.logprobs), "logprobs that differ from their pieces");
  check(isSame(annotations, part.sources), "annotations that were not added");
  item.parts.push(part.said);
  item.kinds.push(part.kind);
  item.part = undefined;
}

function takeWords(item: OpenItem, type: string, event: JsonObject): void {
  const { part } = item;
  check(part !== undefined && !part.isSaid, `${type} outside of a part`);
  const [delta, done, field = ""] = partEvents[part.kind] ?? [];
  check(indexOf(part.kind, event) === part.index, `${type} of another part`);
  if (type === "response.output_text.annotation.added") {
    part.sources.push(objectOf(event["annotation"]));
    return;
  }
  if (type === delta) {
    part.logprobs.push(...listOf(event["logprobs"] ?? []));
    part.said += textOf(event["delta"]);
    return;
  }
  check(type === done, `${type} in a part ${part.kind}`);
  check(event[field] === part.said, "text that differs from its pieces");
  part.isSaid = true;
}
