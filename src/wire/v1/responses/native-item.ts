import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { EventLog } from "./event-log.ts";

/** Longer than any answer; what is longer is not kept. */
const maxKeptChars = 32 * 1024 * 1024;
const joinedPieces = 64;

/** An event that is no piece of words, and the words behind it. */
interface Step {
  readonly event: string;
  readonly words: Words;
}

interface Part {
  readonly isSummary: boolean;
  readonly index: Json | undefined;
  part: JsonObject;
  said: string;
  isSaid: boolean;
  isDone: boolean;
}

/** The event that ends the words of a part, and its field for them. */
const partEnds: Readonly<Record<string, readonly [type: string, field: string]>> = {
  output_text: ["response.output_text.done", "text"],
  refusal: ["response.refusal.done", "refusal"],
  reasoning_text: ["response.reasoning_text.done", "text"],
  summary_text: ["response.reasoning_summary_text.done", "text"],
};
const callEnds: Readonly<Record<string, readonly [type: string, field: string]>> = {
  function_call: ["response.function_call_arguments.done", "arguments"],
  custom_tool_call: ["response.custom_tool_call_input.done", "input"],
};

/**
 * An item of an upstream's own events that has begun and is not done. Its events are kept as they
 * are, and looked at only if the stream is cut: then the item is ended here.
 */
export class NativeItem {
  readonly #item: JsonObject;
  readonly #at: number;
  readonly #first = new Words();
  readonly #steps: Step[] = [];
  #words = this.#first;
  #chars = 0;

  constructor(item: JsonObject, at: number) {
    this.#item = item;
    this.#at = at;
  }

  /** An event of this item, with the words in it. */
  note(event: string, words: string): void {
    this.#chars += words === "" ? event.length : words.length;
    if (this.#chars > maxKeptChars) return;
    if (words !== "") this.#words.add(words);
    else {
      this.#words = new Words();
      this.#steps.push({ event, words: this.#words });
    }
  }

  /** The events that end it, and the item as far as it came; undefined: it is too long. */
  end(log: EventLog): { readonly events: string; readonly item: JsonObject } | undefined {
    if (this.#chars > maxKeptChars) return undefined;
    const { parts, said, isSaid } = this.#replay();
    const { type, status } = this.#item;
    const place = `"item_id":${JSON.stringify(this.#item["id"])},"output_index":${this.#at}`;
    let events = "";
    for (const part of parts) if (!part.isDone) events += endPart(part, place, log);
    const [ended, field = ""] = callEnds[String(type)] ?? [];
    if (ended !== undefined && !isSaid)
      events += log.event(ended, `${place},"${field}":${JSON.stringify(said)}`);
    const item = {
      ...this.#item,
      ...(type === "reasoning" && status === undefined ? {} : { status: "incomplete" }),
      ...(ended === undefined ? {} : { [field]: said }),
      ...listOf("content", parts),
      ...listOf("summary", parts),
    };
    return { events: events + log.done(this.#at, JSON.stringify(item)), item };
  }

  #replay() {
    const parts: Part[] = [];
    let said = this.#first.text;
    let isSaid = false;
    for (const { event, words } of this.#steps) {
      const data = dataIn(event);
      const type = String(data["type"]);
      const last = parts.at(-1);
      const open = last?.isDone === false ? last : undefined;
      if (type.endsWith("_part.added")) parts.push(toPart(type, data));
      else if (open === undefined) isSaid ||= type.endsWith(".done");
      else takeStep(open, type, data);
      const now = parts.at(-1);
      if (now?.isDone === false) now.said += words.text;
      else said += words.text;
    }
    return { parts, said, isSaid };
  }
}

function toPart(type: string, data: JsonObject): Part {
  const isSummary = type.startsWith("response.reasoning_summary");
  const part = isJsonObject(data["part"]) ? data["part"] : {};
  const index = data[isSummary ? "summary_index" : "content_index"];
  return { isSummary, index, part, said: "", isSaid: false, isDone: false };
}

function takeStep(open: Part, type: string, data: JsonObject): void {
  const { part, annotation } = data;
  if (type.endsWith("_part.done")) {
    open.isDone = true;
    if (isJsonObject(part)) open.part = part;
  } else if (type.endsWith(".annotation.added") && annotation !== undefined) {
    const { annotations: known } = open.part;
    const annotations = [...(Array.isArray(known) ? known : []), annotation];
    open.part = { ...open.part, annotations };
  } else if (type.endsWith(".done")) open.isSaid = true;
}

function endPart(open: Part, itemPlace: string, log: EventLog): string {
  const { isSummary, index, said, isSaid } = open;
  const kind = String(open.part["type"]);
  const place = `${itemPlace},"${isSummary ? "summary" : "content"}_index":${JSON.stringify(index)}`;
  const [ended, field = ""] = partEnds[kind] ?? [];
  let events = "";
  if (ended !== undefined) {
    open.part = { ...open.part, [field]: said };
    const likely = kind === "output_text" ? ',"logprobs":[]' : "";
    if (!isSaid) events = log.event(ended, `${place},"${field}":${JSON.stringify(said)}${likely}`);
  }
  const name = isSummary ? "response.reasoning_summary_part.done" : "response.content_part.done";
  return events + log.event(name, `${place},"part":${JSON.stringify(open.part)}`);
}

/** Nothing where the item has no such parts: it may have no such field. */
function listOf(name: "content" | "summary", parts: readonly Part[]): JsonObject {
  const own = parts.filter(({ isSummary }) => isSummary === (name === "summary"));
  return own.length === 0 ? {} : { [name]: own.map(({ part }) => part) };
}

/** The data of an event as it goes to callers. */
export function dataIn(event: string): JsonObject {
  const data: unknown = JSON.parse(event.slice(event.indexOf("\ndata: ") + 7));
  return isJsonObject(data) ? data : {};
}

/** Pieces of text: many short strings take far more memory than few long ones. */
class Words {
  #joined: string[] = [];
  #pieces: string[] = [];

  add(text: string): void {
    if (this.#pieces.push(text) < joinedPieces) return;
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }

  get text(): string {
    return this.#joined.join("") + this.#pieces.join("");
  }
}
