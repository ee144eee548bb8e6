import { ApiError } from "../../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";

interface Call {
  readonly index: number;
  /** As the upstream calls it; some call all of theirs 0, or nothing. */
  readonly givenIndex: Json | undefined;
  readonly givenId: Json | undefined;
  /** What the first piece says besides name and arguments; sent once the name is known. */
  readonly first: JsonObject;
  name: string | undefined;
  /** Those that came before the name. */
  held: string;
  readonly arguments: JsonEnd;
}

/** More than any model calls; an upstream that goes on has lost itself. */
const maxCalls = 1_000;
const maxArgumentChars = 4 * 1024 * 1024;

/**
 * The pieces of one choice's tool calls. Clients join what repeats, so id, type and name go out
 * once; and they tell calls apart by index, so that ours count from 0, whatever the upstream says:
 * some vendors number all calls 0 or not at all, repeat ids, or change them from piece to piece.
 */
export class ToolPieces {
  readonly #calls: Call[] = [];
  readonly #byId = new Map<string, Call>();
  readonly #byIndex = new Map<number, Call>();
  readonly #ids: CallIds;
  #namelessCalls = 0;

  constructor(idPrefix: string) {
    this.#ids = new CallIds(idPrefix);
  }

  /** Whether a call has begun whose name has not come: it has not been sent. */
  get hasNameless(): boolean {
    return this.#namelessCalls > 0;
  }

  /** May be fewer: a call whose name has not come yet is held back until it does. */
  take(pieces: readonly Json[]): JsonObject[] {
    return pieces.filter(isJsonObject).flatMap((piece) => {
      const found = this.#find(piece);
      const call = found === undefined || isAnother(found, piece) ? this.#begin(piece) : found;
      const isFirst = call.name === undefined;
      call.name ??= nameOf(piece);
      if (isFirst && call.name !== undefined) this.#namelessCalls--;
      const text = argumentsOf(piece);
      call.arguments.add(text ?? "");
      if (call.arguments.chars > maxArgumentChars)
        throw lost("tool call arguments that are too long");
      if (isFirst) call.held += text ?? "";
      if (call.name === undefined) return [];
      return isFirst ? [toFirst(call, call.name)] : [toNext(call, piece, text)];
    });
  }

  /** The call that a piece most likely belongs to. */
  #find({ index, id }: JsonObject): Call | undefined {
    const sameId = isText(id) ? this.#byId.get(id) : undefined;
    if (typeof index !== "number") return sameId ?? this.#calls.at(-1);
    return sameId?.givenIndex === index ? sameId : this.#byIndex.get(index);
  }

  #begin(piece: JsonObject): Call {
    const { index: givenIndex, id: givenId, type: _type, function: _called, ...rest } = piece;
    const index = this.#calls.length;
    if (index >= maxCalls) throw lost(`more than ${maxCalls} tool calls`);
    const first = { ...rest, index, id: this.#ids.take(givenId, index), type: "function" };
    const call: Call = {
      index,
      givenIndex,
      givenId,
      first,
      name: undefined,
      held: "",
      arguments: new JsonEnd(),
    };
    this.#calls.push(call);
    this.#namelessCalls++;
    if (isText(givenId)) this.#byId.set(givenId, call);
    if (typeof givenIndex === "number") this.#byIndex.set(givenIndex, call);
    return call;
  }
}

/** A name is told once a call: one that is told again begins another, unless it merely repeats. */
function isAnother(call: Call, piece: JsonObject): boolean {
  const name = nameOf(piece);
  if (name === undefined || call.name === undefined) return false;
  if (name !== call.name) return true;
  const { id } = piece;
  if (isText(id) && isText(call.givenId) && id !== call.givenId) return true;
  return (argumentsOf(piece) ?? "").trim() !== "" && call.arguments.isWhole;
}

/** Knows whether an object that comes in pieces has ended; each character is looked at once. */
export class JsonEnd {
  chars = 0;
  #depth = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;

  get isWhole(): boolean {
    return this.#hasBegun && this.#depth === 0 && !this.#isInString;
  }

  add(text: string): void {
    this.chars += text.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString) {
        if (unit === 0x5c) this.#isEscaped = true;
        else if (unit === 0x22) this.#isInString = false;
      } else if (unit === 0x22) this.#isInString = true;
      else if (unit === 0x7b || unit === 0x5b) {
        this.#depth++;
        this.#hasBegun = true;
      } else if (unit === 0x7d || unit === 0x5d) this.#depth--;
    }
  }
}

function toFirst({ first, held }: Call, name: string): JsonObject {
  return { ...first, function: { name, arguments: held } };
}

function toNext({ index }: Call, piece: JsonObject, text: string | undefined): JsonObject {
  const { index: _index, id: _id, type: _type, function: _called, ...rest } = piece;
  return { ...rest, index, function: text === undefined ? {} : { arguments: text } };
}

function lost(detail: string): ApiError {
  return new ApiError({
    code: "upstream_error",
    message: "The model's response ended early. Try again.",
    detail: `the provider sent ${detail}`,
  });
}

/** Each call of a choice has an id of its own: the answer to a call must name it. */
class CallIds {
  readonly #prefix: string;
  readonly #used = new Set<string>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  take(given: Json | undefined, index: number): string {
    let id = isText(given) && !this.#used.has(given) ? given : `${this.#prefix}${index}`;
    while (this.#used.has(id)) id += "_";
    this.#used.add(id);
    return id;
  }
}

/** The calls of a whole reply: each with an id, a type and its arguments as text. */
export function toWholeCalls(calls: readonly Json[], idPrefix: string): JsonObject[] {
  const ids = new CallIds(idPrefix);
  return calls.filter(isJsonObject).map((call, at) => ({
    ...call,
    id: ids.take(call["id"], at),
    type: "function",
    function: { name: nameOf(call) ?? "", arguments: argumentsOf(call) ?? "" },
  }));
}

/** Ids for calls of upstreams that give none: the answer to a call must name it. */
export const callIdPrefix = (replyId: string, choice: number) =>
  `call_${replyId.slice(replyId.indexOf("-") + 1)}_${choice}_`;

function nameOf({ function: called }: JsonObject): string | undefined {
  const name = isJsonObject(called) ? called["name"] : undefined;
  return isText(name) ? name : undefined;
}

/** Text of JSON; some servers send the object itself. */
function argumentsOf({ function: called }: JsonObject): string | undefined {
  const given = isJsonObject(called) ? called["arguments"] : undefined;
  if (given === undefined || given === null) return undefined;
  return typeof given === "string" ? given : JSON.stringify(given);
}

const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";
