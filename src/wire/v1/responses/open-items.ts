import type { Json, JsonObject } from "../../../call/chat.ts";
import type { EventLog } from "./event-log.ts";
import {
  callItem,
  emptyPart,
  type ItemStatus,
  messageItem,
  reasoningItem,
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

/** Reasoning, sent as a summary: that is what clients show. */
export class OpenReasoning {
  readonly #log: EventLog;
  readonly #id: string;
  readonly #at: number;
  readonly #place: string;
  readonly #text: Pieces;
  #hasBegun = false;

  constructor(log: EventLog, id: string) {
    this.#log = log;
    this.#id = id;
    this.#at = log.nextItem();
    this.#place = `"item_id":"${id}","output_index":${this.#at},"summary_index":0`;
    this.#text = new Pieces(log);
  }

  add(text: string): string {
    const delta = `${this.#place},"delta":${JSON.stringify(text)}`;
    this.#text.add(text);
    return this.#begin() + this.#log.event("response.reasoning_summary_text.delta", delta);
  }

  end(opaque: string | undefined): string {
    const { text } = this.#text;
    const said = JSON.stringify(text);
    const item = reasoningItem({ id: this.#id, text, opaque });
    return (
      this.#begin() +
      this.#log.event("response.reasoning_summary_text.done", `${this.#place},"text":${said}`) +
      this.#log.event(
        "response.reasoning_summary_part.done",
        `${this.#place},"part":{"type":"summary_text","text":${said}}`,
      ) +
      this.#log.done(this.#at, item)
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

/** A message: text, and a refusal as a part of its own. */
export class OpenMessage {
  readonly #log: EventLog;
  readonly #id: string;
  readonly #at: number;
  readonly #place: string;
  readonly #text: Pieces;
  readonly #refusal: Pieces;
  readonly #annotations: JsonObject[] = [];
  #logprobs: Json[] = [];
  /** The members with which every event of the text begins. */
  #textHead: string | undefined;
  #refusalPlace: string | undefined;
  #parts = 0;
  #textPart = 0;
  #refusalPart = 0;

  constructor(log: EventLog, id: string) {
    this.#log = log;
    this.#id = id;
    this.#at = log.nextItem();
    this.#place = `"item_id":"${id}","output_index":${this.#at}`;
    this.#text = new Pieces(log);
    this.#refusal = new Pieces(log);
  }

  /** For a message without text. */
  begin(): string {
    return this.#beginText();
  }

  addText(text: string, isPlain: boolean, logprobs: readonly Json[]): string {
    const before = this.#textHead === undefined ? this.#beginText() : "";
    this.#text.add(text);
    const said = isPlain ? `"${text}"` : JSON.stringify(text);
    let likely = "[]";
    if (logprobs.length > 0) {
      for (const one of logprobs) this.#logprobs.push(one);
      likely = JSON.stringify(logprobs);
    }
    const fields = `${this.#textHead}${said},"logprobs":${likely}`;
    return before + this.#log.event("response.output_text.delta", fields);
  }

  addRefusal(text: string): string {
    let before = "";
    if (this.#refusalPlace === undefined) {
      before = this.#open();
      this.#refusalPart = this.#parts++;
      this.#refusalPlace = `${this.#place},"content_index":${this.#refusalPart}`;
      before += this.#log.event(
        "response.content_part.added",
        `${this.#refusalPlace},"part":${refusalPart('""')}`,
      );
    }
    this.#refusal.add(text);
    const fields = `${this.#refusalPlace},"delta":${JSON.stringify(text)}`;
    return before + this.#log.event("response.refusal.delta", fields);
  }

  addAnnotations(annotations: readonly JsonObject[]): string {
    let events = this.#textHead === undefined ? this.#beginText() : "";
    for (const annotation of annotations) {
      const fields = `${this.#place},"content_index":${this.#textPart},"annotation_index":${this.#annotations.length},"annotation":${JSON.stringify(annotation)}`;
      events += this.#log.event("response.output_text.annotation.added", fields);
      this.#annotations.push(annotation);
    }
    return events;
  }

  end(status: ItemStatus): string {
    const parts: string[] = [];
    let events = "";
    if (this.#textHead !== undefined) {
      const text = JSON.stringify(this.#text.text);
      const logprobs = this.#logprobs;
      const place = `${this.#place},"content_index":${this.#textPart}`;
      const part = textPart({ text, annotations: this.#annotations, logprobs });
      parts[this.#textPart] = part;
      events += this.#log.event(
        "response.output_text.done",
        `${place},"text":${text},"logprobs":${JSON.stringify(logprobs)}`,
      );
      events += this.#log.event("response.content_part.done", `${place},"part":${part}`);
    }
    if (this.#refusalPlace !== undefined) {
      const refusal = JSON.stringify(this.#refusal.text);
      const part = refusalPart(refusal);
      parts[this.#refusalPart] = part;
      events += this.#log.event(
        "response.refusal.done",
        `${this.#refusalPlace},"refusal":${refusal}`,
      );
      events += this.#log.event(
        "response.content_part.done",
        `${this.#refusalPlace},"part":${part}`,
      );
    }
    return events + this.#log.done(this.#at, messageItem(this.#id, status, parts));
  }

  #open(): string {
    if (this.#parts > 0) return "";
    return this.#log.added(this.#at, messageItem(this.#id, "in_progress", []));
  }

  #beginText(): string {
    const before = this.#open();
    this.#textPart = this.#parts++;
    const place = `${this.#place},"content_index":${this.#textPart}`;
    this.#textHead = `${place},"delta":`;
    const fields = `${place},"part":${emptyPart}`;
    return before + this.#log.event("response.content_part.added", fields);
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
