import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { isPlace } from "./chat-reply.ts";

/** Signed thoughts of a long answer are some hundred kilobytes. */
const maxChars = 4 * 1024 * 1024;
const maxEntries = 10_000;
const joined: ReadonlySet<string> = new Set(["text", "summary", "data", "signature"]);

/**
 * The `reasoning_details` of one streamed answer. A vendor sends them in pieces; clients' helpers keep
 * the last piece only, or fail where one has no index. So they are put together here, for one delta
 * at the end.
 */
export class StreamDetails {
  readonly #entries = new Map<string, Record<string, Json | undefined>>();
  #chars = 0;

  take(details: readonly Json[]): void {
    for (const piece of details) {
      if (!isJsonObject(piece)) continue;
      const { index: place, type } = piece;
      const index = isPlace(place) ? place : this.#entries.size;
      const key = `${index} ${typeof type === "string" ? type.slice(0, 100) : ""}`;
      const entry = this.#entries.get(key) ?? { index };
      if (this.#entries.size >= maxEntries && !this.#entries.has(key)) return;
      this.#entries.set(key, entry);
      for (const name in piece) this.#add(entry, name, piece[name]);
    }
  }

  #add(entry: Record<string, Json | undefined>, name: string, value: Json | undefined): void {
    if (name === "index" || value === undefined || value === null) return;
    const known = entry[name];
    if (known === undefined) this.#chars += name.length;
    if (typeof value === "string") this.#chars += value.length;
    if (this.#chars > maxChars) return;
    const isLonger = joined.has(name) && typeof known === "string" && typeof value === "string";
    entry[name] = isLonger ? known + value : value;
  }

  /** Undefined where there are none, or more than anyone sends back. */
  end(): readonly JsonObject[] | undefined {
    const isWhole = this.#entries.size > 0 && this.#chars <= maxChars;
    return isWhole ? [...this.#entries.values()] : undefined;
  }
}
