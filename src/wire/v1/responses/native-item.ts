import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { EventLog } from "./event-log.ts";
import { TextPieces } from "./text-pieces.ts";

/** More than any answer has; longer items are not kept. */
const maxKeptChars = 32 * 1024 * 1024;

/** An event without a piece of text, and the text of the events after it. */
interface Step {
  readonly event: string;
  readonly words: TextPieces;
}

interface Part {
  readonly isSummary: boolean;
  readonly index: Json | undefined;
  part: JsonObject;
  /** Collected first: there can be many, and each copy of the part costs as much as all before. */
  readonly annotations: Json[];
  text: string;
  isTextDone: boolean;
  isDone: boolean;
}

/** The event that ends the text of a part, and its field for the text. */
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
 * An item of an upstream's own events that has begun and is not done. Its events are kept unparsed,
 * and read only if the stream is cut: then the item is ended here.
 */
export class NativeItem {
  readonly #item: JsonObject;
  readonly #at: number;
  readonly #first = new TextPieces();
  readonly #steps: Step[] = [];
  #words = this.#first;
  #chars = 0;

  constructor(item: JsonObject, at: number) {
    this.#item = item;
    this.#at = at;
  }

  /** An event of this item, with its piece of text. */
  note(event: string, words: string): void {
    this.#chars += words === "" ? event.length : words.length;
    if (this.#chars > maxKeptChars) return;
    if (words !== "") this.#words.add(words);
    else {
      this.#words = new TextPieces();
      this.#steps.push({ event, words: this.#words });
    }
  }

  /** The events that end it, and the item as far as it was received; undefined: it is too long. */
  end(log: EventLog): { readonly events: string; readonly item: JsonObject } | undefined {
    if (this.#chars > maxKeptChars) return undefined;
    const { parts, text, isTextDone } = this.#replay();
    const { type, status } = this.#item;
    const place = `"item_id":${JSON.stringify(this.#item["id"])},"output_index":${this.#at}`;
    let events = "";
    for (const part of parts) if (!part.isDone) events += endPart(part, place, log);
    const [ended, field = ""] = callEnds[String(type)] ?? [];
    if (ended !== undefined && !isTextDone)
      events += log.event(ended, `${place},"${field}":${JSON.stringify(text)}`);
    const item = {
      ...this.#item,
      ...(type === "reasoning" && status === undefined ? {} : { status: "incomplete" }),
      ...(ended === undefined ? {} : { [field]: text }),
      ...listOf("content", parts),
      ...listOf("summary", parts),
    };
    return { events: events + log.done(this.#at, JSON.stringify(item)), item };
  }

  #replay() {
    const parts: Part[] = [];
    let text = this.#first.text;
    let isTextDone = false;
    for (const { event, words } of this.#steps) {
      const data = dataIn(event);
      const type = String(data["type"]);
      const last = parts.at(-1);
      const open = last?.isDone === false ? last : undefined;
      if (type.endsWith("_part.added")) parts.push(toPart(type, data));
      else if (open === undefined) isTextDone ||= type.endsWith(".done");
      else takeStep(open, type, data);
      const now = parts.at(-1);
      if (now?.isDone === false) now.text += words.text;
      else text += words.text;
    }
    return { parts, text, isTextDone };
  }
}

function toPart(type: string, data: JsonObject): Part {
  const isSummary = type.startsWith("response.reasoning_summary");
  const part = isJsonObject(data["part"]) ? data["part"] : {};
  const index = data[isSummary ? "summary_index" : "content_index"];
  return {
    isSummary,
    index,
    part,
    annotations: [],
    text: "",
    isTextDone: false,
    isDone: false,
  };
}

function takeStep(open: Part, type: string, data: JsonObject): void {
  const { part, annotation } = data;
  if (type.endsWith("_part.done")) {
    open.isDone = true;
    if (isJsonObject(part)) open.part = part;
  } else if (type.endsWith(".annotation.added") && annotation !== undefined)
    open.annotations.push(annotation);
  else if (type.endsWith(".done")) open.isTextDone = true;
}

function endPart(open: Part, itemPlace: string, log: EventLog): string {
  const { isSummary, index, annotations, text, isTextDone } = open;
  const { type, annotations: known } = open.part;
  const kind = String(type);
  const place = `${itemPlace},"${isSummary ? "summary" : "content"}_index":${JSON.stringify(index)}`;
  const [ended, field = ""] = partEnds[kind] ?? [];
  let events = "";
  if (annotations.length > 0) {
    const earlier = Array.isArray(known) ? known : [];
    open.part = { ...open.part, annotations: [...earlier, ...annotations] };
  }
  if (ended !== undefined) {
    open.part = { ...open.part, [field]: text };
    const likely = kind === "output_text" ? ',"logprobs":[]' : "";
    if (!isTextDone)
      events = log.event(ended, `${place},"${field}":${JSON.stringify(text)}${likely}`);
  }
  const name = isSummary ? "response.reasoning_summary_part.done" : "response.content_part.done";
  return events + log.event(name, `${place},"part":${JSON.stringify(open.part)}`);
}

/** Empty if the item has no such parts: it may not have the field either. */
function listOf(name: "content" | "summary", parts: readonly Part[]): JsonObject {
  const own = parts.filter(({ isSummary }) => isSummary === (name === "summary"));
  return own.length === 0 ? {} : { [name]: own.map(({ part }) => part) };
}

/** The data of an event, from the text that callers get. */
export function dataIn(event: string): JsonObject {
  const data: unknown = JSON.parse(event.slice(event.indexOf("\ndata: ") + 7));
  return isJsonObject(data) ? data : {};
}
