import { countUpTo, parseBounded } from "../../base/json/bounds.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";

/**
 * What vendors sign or encrypt beside an answer, and want back with the next request. Dialects other
 * than chat completions have one opaque string for it (`signature`, `data`, `encrypted_content`), so
 * all of it goes out in one such string of ours, and each adapter takes from it what is its own.
 *
 * The string names the model of our catalog that made it, and only that model gets it back, whichever
 * of its routes serves it. It is the caller's word when it comes back: adapters check what they take.
 */
export interface Carried {
  /** Entries of a message's `reasoning_details`. */
  readonly details?: readonly JsonObject[] | undefined;
  /** A message's own `extra_content`. */
  readonly extra?: JsonObject | undefined;
  /** The `extra_content` of tool calls, by the id of the call. */
  readonly calls?: Readonly<Record<string, JsonObject>> | undefined;
}

/** No vendor's own string begins so. */
const mark = "svc1.";
/** Of one request, in all: what is inside was not weighed with its body. */
const maxStrings = 4_000;
const maxChars = 8 * 1024 * 1024;
const maxGroups = 20_000;
const maxFields = 60_000;
const maxEscapes = 200_000;
const empty: Carried = {};
/** In front of the entries: base64url has no dot. */
const headOf = (model: string) => `${mark}${Buffer.from(model).toString("base64url")}.`;

/** Whether such a string is one of ours: no vendor may get it. */
export const isCarried = (text: Json | undefined): text is string =>
  typeof text === "string" && text.startsWith(mark);

/** `model`: the id, in our catalog, of the model that made it. */
export function toOpaque(model: string, carried: Carried): string {
  const entries = JSON.stringify(carried);
  // What goes out where nothing is signed is by far the most frequent.
  return headOf(model) + (entries === "{}" ? "" : Buffer.from(entries).toString("base64url"));
}

/** Reads the strings of one request, as far as these are together no work worth the name. */
export class CarriedReader {
  readonly #model: string;
  /** Made with the first string of ours: most requests have none. */
  #head: string | undefined;
  #strings = 0;
  #chars = 0;
  #groups = 0;
  #fields = 0;
  #escapes = 0;

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * Undefined: it is not ours, is of another model, was changed on its way, or is more than answers
   * ever had. Only what is of this model is decoded.
   */
  read(text: Json | undefined): Carried | undefined {
    if (!isCarried(text)) return undefined;
    this.#head ??= headOf(this.#model);
    if (!text.startsWith(this.#head)) return undefined;
    if (text.length === this.#head.length) return empty;
    if (this.#isFull) return undefined;
    this.#strings++;
    this.#chars += text.length;
    if (this.#isFull) return undefined;
    const json = Buffer.from(text.slice(this.#head.length), "base64url").toString();
    this.#groups += countUpTo(json, "{", maxGroups) + countUpTo(json, "[", maxGroups);
    this.#fields += countUpTo(json, ":", maxFields);
    this.#escapes += countUpTo(json, "\\", maxEscapes);
    return this.#isFull ? undefined : fromJson(json);
  }

  /** Nothing is even decoded from then on. */
  get #isFull(): boolean {
    const isLong = this.#strings > maxStrings || this.#chars > maxChars;
    const isHeavy = this.#groups > maxGroups || this.#fields > maxFields;
    return isLong || isHeavy || this.#escapes > maxEscapes;
  }
}

function fromJson(json: string): Carried | undefined {
  let value: unknown;
  try {
    value = parseBounded(json);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { details, extra, calls } = value;
  return {
    details: Array.isArray(details) ? details.filter(isJsonObject) : undefined,
    extra: isJsonObject(extra) ? extra : undefined,
    calls: isJsonObject(calls) ? toCalls(calls) : undefined,
  };
}

function toCalls(calls: JsonObject): Record<string, JsonObject> {
  const known: Record<string, JsonObject> = Object.create(null);
  for (const id in calls) {
    const extra = calls[id];
    if (isJsonObject(extra)) known[id] = extra;
  }
  return known;
}
