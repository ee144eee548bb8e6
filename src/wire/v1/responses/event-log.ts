import { ApiError } from "../../../base/errors.ts";

/** Longer than any answer: an upstream that sends more is broken. */
const maxOutputChars = 32 * 1024 * 1024;
/** Of one response. */
export const maxItems = 10_000;

/** Numbers the events of one response, and keeps its items for the last event. */
export class EventLog {
  #sequence: number;
  #items = 0;
  #chars = 0;
  readonly #done: (string | undefined)[] = [];

  constructor(firstSequence = 0) {
    this.#sequence = firstSequence;
  }

  /** How many items have begun. */
  get items(): number {
    return this.#items;
  }

  /** JSON of the items that are done. */
  get output(): readonly string[] {
    return this.#done.filter((item) => item !== undefined);
  }

  nextItem(): number {
    if (this.#items >= maxItems) throw endless("too many items");
    return this.#items++;
  }

  /** Counts text that an item keeps until it is done. */
  keep(chars: number): void {
    this.#chars += chars;
    if (this.#chars > maxOutputChars) throw endless("an answer that does not end");
  }

  /** `fields`: the members of an object, as JSON without braces. */
  event(type: string, fields: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${fields}}\n\n`;
  }

  /** `item`: its JSON. */
  added(at: number, item: string): string {
    return this.event("response.output_item.added", `"output_index":${at},"item":${item}`);
  }

  done(at: number, item: string): string {
    this.#done[at] = item;
    return this.event("response.output_item.done", `"output_index":${at},"item":${item}`);
  }
}

/** For an upstream that sends more than any model writes. */
export function endless(detail: string): ApiError {
  return new ApiError({
    code: "upstream_error",
    message: "The model's response ended early. Try again.",
    detail: `the provider sent ${detail}`,
  });
}
