import type { Json, JsonObject } from "../../../call/chat.ts";
import type { EventLog } from "./event-log.ts";
import {
  callItem,
  emptyPart,
  type ItemStatus,
  messageItem,
  reasoningItem,
  reasoningPart,
  refusalPart,
  textPart,
} from "./output-items.ts";
import { TextPieces } from "./text-pieces.ts";
import { type KnownTool, toCustomInput } from "./tool-book.ts";

/** Items of a stream that have begun and are not done. */

/** The text of an item, counted against the bound of the whole response. */
class Pieces {
  readonly #log: EventLog;
  readonly #pieces = new TextPieces();

  constructor(log: EventLog) {
    this.#log = log;
  }

  add(text: string): void {
    this.#log.keep(text.length);
    this.#pieces.add(text);
  }

  get text(): string {
    return this.#pieces.text;
  }
}

/**
 * Reasoning, sent as a summary: that is what clients show. Whether it is also the content is known
 * only at its end, when the vendor has signed it or not.
 */
export class OpenReasoning {
  readonly #log: EventLog;
  readonly #id: string;
  readonly #at: number;
  readonly #item: string;
  readonly #place: string;
  readonly #text: Pieces;
  #hasBegun = false;

  constructor(log: EventLog, id: string) {
    this.#log = log;
    this.#id = id;
    this.#at = log.nextItem();
    this.#item = `"item_id":"${id}","output_index":${this.#at}`;
    this.#place = `${this.#item},"summary_index":0`;
    this.#text = new Pieces(log);
  }

  add(text: string): string {
    const delta = `${this.#place},"delta":${JSON.stringify(text)}`;
    this.#text.add(text);
    return this.#begin() + this.#log.event("response.reasoning_summary_text.delta", delta);
  }

  end(opaque: string | undefined, isRaw: boolean): string {
    const { text } = this.#text;
    const said = JSON.stringify(text);
    const item = reasoningItem({ id: this.#id, text, isRaw, opaque });
    return (
      this.#begin() +
      this.#log.event("response.reasoning_summary_text.done", `${this.#place},"text":${said}`) +
      this.#log.event(
        "response.reasoning_summary_part.done",
        `${this.#place},"part":{"type":"summary_text","text":${said}}`,
      ) +
      (isRaw ? this.#content(said) : "") +
      this.#log.done(this.#at, item)
    );
  }

  /** Without deltas: OpenAI and Open Responses have different names for them. */
  #content(said: string): string {
    // The item has the text a second time.
    this.#log.keep(said.length);
    const place = `${this.#item},"content_index":0`;
    return (
      this.#log.event("response.content_part.added", `${place},"part":${reasoningPart('""')}`) +
      this.#log.event("response.content_part.done", `${place},"part":${reasoningPart(said)}`)
    );
  }

  #begin(): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    const item = reasoningItem({ id: this.#id, text: "", opaque: undefined });
    return (
      this.#log.added(this.#at, item) +
      this.#log.event(
        "response.reasoning_summary_part.added",
        `${this.#place},"part":{"type":"summary_text","text":""}`,
      )
    );
  }
}

/** A message: its parts are texts and refusals, one after another. */
export class OpenMessage {
  readonly #log: EventLog;
  readonly #id: string;
  readonly #at: number;
  readonly #place: string;
  readonly #done: string[] = [];
  #part: OpenText | OpenRefusal | undefined;

  constructor(log: EventLog, id: string) {
    this.#log = log;
    this.#id = id;
    this.#at = log.nextItem();
    this.#place = `"item_id":"${id}","output_index":${this.#at}`;
  }

  /** For a message without text. */
  begin(): string {
    return this.#inText(() => "");
  }

  addText(text: string, isPlain: boolean, logprobs: readonly Json[]): string {
    // By far the most frequent.
    if (this.#part instanceof OpenText) return this.#part.add(text, isPlain, logprobs);
    return this.#inText((part) => part.add(text, isPlain, logprobs));
  }

  addRefusal(text: string): string {
    if (this.#part instanceof OpenRefusal) return this.#part.add(text);
    const before = this.#next();
    const part = new OpenRefusal(this.#log, this.#nextPlace);
    this.#part = part;
    return before + part.begin() + part.add(text);
  }

  addAnnotations(annotations: readonly JsonObject[]): string {
    return this.#inText((part) => part.cite(annotations));
  }

  end(status: ItemStatus): string {
    const events = this.#endPart();
    return events + this.#log.done(this.#at, messageItem(this.#id, status, this.#done));
  }

  #inText(add: (part: OpenText) => string): string {
    if (this.#part instanceof OpenText) return add(this.#part);
    const before = this.#next();
    const part = new OpenText(this.#log, this.#nextPlace);
    this.#part = part;
    return before + part.begin() + add(part);
  }

  /** Ends the part that is open, and begins the message with its first one. */
  #next(): string {
    if (this.#part !== undefined) return this.#endPart();
    return this.#log.added(this.#at, messageItem(this.#id, "in_progress", []));
  }

  get #nextPlace(): string {
    return `${this.#place},"content_index":${this.#done.length}`;
  }

  #endPart(): string {
    if (this.#part === undefined) return "";
    const { events, part } = this.#part.end();
    this.#log.keep(partChars);
    this.#done.push(part);
    return events;
  }
}

/** About what a part takes in memory, besides its text. */
const partChars = 128;

interface EndedPart {
  readonly events: string;
  readonly part: string;
}

class OpenText {
  readonly #log: EventLog;
  readonly #place: string;
  readonly #text: Pieces;
  readonly #annotations: JsonObject[] = [];
  readonly #logprobs: Json[] = [];
  /** The members with which every event of the text begins. */
  readonly #head: string;

  constructor(log: EventLog, place: string) {
    this.#log = log;
    this.#place = place;
    this.#head = `${place},"delta":`;
    this.#text = new Pieces(log);
  }

  begin(): string {
    return this.#log.event("response.content_part.added", `${this.#place},"part":${emptyPart}`);
  }

  add(text: string, isPlain: boolean, logprobs: readonly Json[]): string {
    this.#text.add(text);
    const quoted = isPlain ? `"${text}"` : JSON.stringify(text);
    let likely = "[]";
    if (logprobs.length > 0) {
      for (const one of logprobs) this.#logprobs.push(one);
      likely = JSON.stringify(logprobs);
    }
    const fields = `${this.#head}${quoted},"logprobs":${likely}`;
    return this.#log.event("response.output_text.delta", fields);
  }

  cite(annotations: readonly JsonObject[]): string {
    let events = "";
    for (const annotation of annotations) {
      const fields = `${this.#place},"annotation_index":${this.#annotations.length},"annotation":${JSON.stringify(annotation)}`;
      events += this.#log.event("response.output_text.annotation.added", fields);
      this.#annotations.push(annotation);
    }
    return events;
  }

  end(): EndedPart {
    const text = JSON.stringify(this.#text.text);
    const logprobs = this.#logprobs;
    const part = textPart({ text, annotations: this.#annotations, logprobs });
    const fields = `${this.#place},"text":${text},"logprobs":${JSON.stringify(logprobs)}`;
    const events =
      this.#log.event("response.output_text.done", fields) +
      this.#log.event("response.content_part.done", `${this.#place},"part":${part}`);
    return { events, part };
  }
}

class OpenRefusal {
  readonly #log: EventLog;
  readonly #place: string;
  readonly #text: Pieces;

  constructor(log: EventLog, place: string) {
    this.#log = log;
    this.#place = place;
    this.#text = new Pieces(log);
  }

  begin(): string {
    const fields = `${this.#place},"part":${refusalPart('""')}`;
    return this.#log.event("response.content_part.added", fields);
  }

  add(text: string): string {
    this.#text.add(text);
    const fields = `${this.#place},"delta":${JSON.stringify(text)}`;
    return this.#log.event("response.refusal.delta", fields);
  }

  end(): EndedPart {
    const refusal = JSON.stringify(this.#text.text);
    const part = refusalPart(refusal);
    const events =
      this.#log.event("response.refusal.done", `${this.#place},"refusal":${refusal}`) +
      this.#log.event("response.content_part.done", `${this.#place},"part":${part}`);
    return { events, part };
  }
}

/** A call, which stays open until another item begins. */
export class OpenCall {
  readonly #callId: string;
  readonly #log: EventLog;
  readonly #tool: KnownTool;
  readonly #id: string;
  readonly #at: number;
  readonly #place: string;
  readonly #text: Pieces;

  constructor(
    log: EventLog,
    tool: KnownTool,
    { id, callId }: { readonly id: string; readonly callId: string },
  ) {
    this.#callId = callId;
    this.#log = log;
    this.#tool = tool;
    this.#id = id;
    this.#at = log.nextItem();
    this.#place = `"item_id":"${id}","output_index":${this.#at}`;
    this.#text = new Pieces(log);
  }

  begin(): string {
    return this.#log.added(this.#at, this.#item("in_progress", ""));
  }

  /** Input that is JSON only for the model is sent when it is complete. */
  add(text: string): string {
    this.#text.add(text);
    if (this.#tool.kind !== "function") return "";
    const fields = `${this.#place},"delta":${JSON.stringify(text)}`;
    return this.#log.event("response.function_call_arguments.delta", fields);
  }

  end(status: ItemStatus): string {
    const { text } = this.#text;
    return this.#inputDone(text) + this.#log.done(this.#at, this.#item(status, text));
  }

  #inputDone(text: string): string {
    switch (this.#tool.kind) {
      case "function":
        return this.#log.event(
          "response.function_call_arguments.done",
          `${this.#place},"arguments":${JSON.stringify(text)}`,
        );
      case "custom": {
        const input = JSON.stringify(text === "" ? "" : toCustomInput(text));
        return (
          this.#log.event(
            "response.custom_tool_call_input.delta",
            `${this.#place},"delta":${input}`,
          ) +
          this.#log.event("response.custom_tool_call_input.done", `${this.#place},"input":${input}`)
        );
      }
      case "tool_search":
        return "";
      default:
        return this.#tool.kind satisfies never;
    }
  }

  #item(status: ItemStatus, text: string): string {
    return callItem({
      tool: this.#tool,
      id: this.#id,
      callId: this.#callId,
      status,
      arguments: text,
    });
  }
}
