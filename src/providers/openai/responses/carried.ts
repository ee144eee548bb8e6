import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { toMark } from "../../kit/provenance.ts";
import { isPlace } from "../chat-reply.ts";

/**
 * Models encrypt what they thought, and want it back in front of what it led to. It goes to the
 * caller as an entry of `reasoning_details`, and comes back in the next request's message:
 *
 *     { type: "reasoning.encrypted", format, data, index, place }
 *
 * `format` is a mark of whose it is, and no name; `index` counts the entries, as clients expect;
 * `place` says what it stands before: 0 the text, 1 the first call, 2 the second …
 */
const type = "reasoning.encrypted";
const maxChars = 1024 * 1024;
/** Of one reply: clients send all of it back with each further request. */
const maxTotalChars = 4 * 1024 * 1024;

/** Other accounts and servers could not read it. */
export const markOf = (baseUrl: string): string => toMark(`responses ${baseUrl}`);

/** Makes the entries of one reply. */
export class DetailWriter {
  readonly #mark: string;
  #index = 0;
  #chars = 0;

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** Undefined: the item has nothing encrypted, or more than anyone sends back. */
  take({ encrypted_content: data }: JsonObject, place: number): JsonObject | undefined {
    if (!isBounded(data)) return undefined;
    this.#chars += data.length;
    if (this.#chars > maxTotalChars) return undefined;
    return { type, format: this.#mark, data, index: this.#index++, place };
  }
}

export interface ReasoningItem {
  readonly place: number;
  readonly item: JsonObject;
}

/** Those of a message that are of this vendor, in their order, as items of a request. */
export function toReasoningItems(
  { reasoning_details: details }: JsonObject,
  mark: string,
): readonly ReasoningItem[] {
  if (!Array.isArray(details)) return [];
  const items: ReasoningItem[] = [];
  for (const detail of details) {
    if (!isJsonObject(detail) || detail["type"] !== type || detail["format"] !== mark) continue;
    const { data, place } = detail;
    if (!isBounded(data)) continue;
    const item = { type: "reasoning", summary: [], encrypted_content: data };
    items.push({ place: isPlace(place) ? place : 0, item });
  }
  return items;
}

const isBounded = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxChars;
