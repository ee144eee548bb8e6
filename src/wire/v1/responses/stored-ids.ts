import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { endless, maxItems } from "./event-log.ts";

/**
 * Items of a stored reply are found by their ids, which contain that of the response. So if a reply is
 * stored, the vendor's ids are replaced. The prefix that shows the kind of an item stays.
 */
export function toOwnId(given: string, responseId: string, at: number): string {
  const kind = given.slice(0, Math.max(0, given.indexOf("_"))) || "item";
  const known = /^[a-z]{2,4}$/.test(kind) ? kind : "item";
  return `${known}_${responseId.slice(responseId.indexOf("_") + 1)}_${at}`;
}

/** A whole reply with ids of its own. */
export function withOwnIds(response: JsonObject, responseId: string): JsonObject {
  const { output } = response;
  if (!Array.isArray(output)) return response;
  return { ...response, output: output.map((item, at) => withOwnId(item, responseId, at)) };
}

function withOwnId(item: Json, responseId: string, at: number): Json {
  if (!isJsonObject(item) || typeof item["id"] !== "string") return item;
  return { ...item, id: toOwnId(item["id"], responseId, at) };
}

/** Members of an event that can name an item. In strings, quotes are escaped: none matches. */
const idMember = /("(?:item_)?id"\s?:\s?")([^"\\]{1,512})(?=")/g;

/** The ids of one stream: every event of an item contains its id. */
export class StreamIds {
  readonly #responseId: string;
  readonly #own = new Map<string, string>();

  constructor(responseId: string) {
    this.#responseId = responseId;
  }

  /** Called for events that contain an item. */
  learn(item: Json | undefined, at: Json | undefined): void {
    const id = isJsonObject(item) ? item["id"] : undefined;
    if (typeof id !== "string" || typeof at !== "number" || this.#own.has(id)) return;
    if (this.#own.size >= maxItems) throw endless("too many items");
    this.#own.set(id, toOwnId(id, this.#responseId, at));
  }

  /** The event's text with our ids. Each id is looked up, because a stream can have many items. */
  replace(text: string): string {
    return text.replace(idMember, (whole, before: string, given: string) => {
      const own = this.#own.get(given);
      return own === undefined ? whole : before + own;
    });
  }
}
