import type { Json, JsonObject } from "../../call/chat.ts";

interface Call {
  readonly index: number;
  /** As the upstream calls it; some call all of theirs 0, or nothing. */
  readonly givenIndex: Json | undefined;
  readonly givenId: Json | undefined;
  /** What the first piece will say; sent once the name is known. */
  readonly first: JsonObject;
  hasName: boolean;
  heldArguments: string;
}

/**
 * The pieces of one choice's tool calls. Clients join what repeats, so id, type and name go out
 * once; and they tell calls apart by index, so that ours count from 0, whatever the upstream says:
 * some vendors number all calls 0 or not at all, repeat ids, or change them from piece to piece.
 */
export class ToolPieces {
  readonly #calls: Call[] = [];
  readonly #idPrefix: string;

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix;
  }

  /** May be fewer: a call whose name has not come yet is held back until it does. */
  take(pieces: readonly Json[]): JsonObject[] {
    return pieces.filter(isObject).flatMap((piece) => {
      const known = this.#find(piece);
      const call = known ?? this.#begin(piece);
      return call.hasName ? [toNext(call, piece)] : toFirst(call, piece);
    });
  }

  #find(piece: JsonObject): Call | undefined {
    const { index, id } = piece;
    const isNumbered = typeof index === "number";
    const hasId = isText(id);
    const sameId = hasId ? this.#calls.findLast(({ givenId }) => givenId === id) : undefined;
    if (sameId !== undefined && (!isNumbered || sameId.givenIndex === index)) return sameId;
    const latest = isNumbered
      ? this.#calls.findLast(({ givenIndex }) => givenIndex === index)
      : this.#calls.at(-1);
    // A new id that comes with a name, or a name without a number, is another call.
    const isAnother =
      nameOf(piece) !== undefined && (hasId ? isText(latest?.givenId) : !isNumbered);
    return isAnother && latest?.hasName === true ? undefined : latest;
  }

  #begin(piece: JsonObject): Call {
    const { index: givenIndex, id: givenId, type, function: _called, ...rest } = piece;
    const index = this.#calls.length;
    const id = isText(givenId) ? givenId : `${this.#idPrefix}${index}`;
    const first = { ...rest, index, id, type: isText(type) ? type : "function" };
    const call = { index, givenIndex, givenId, first, hasName: false, heldArguments: "" };
    this.#calls.push(call);
    return call;
  }
}

function toFirst(call: Call, piece: JsonObject): readonly JsonObject[] {
  const name = nameOf(piece);
  call.heldArguments += argumentsOf(piece) ?? "";
  if (name === undefined) return [];
  call.hasName = true;
  return [{ ...call.first, function: { name, arguments: call.heldArguments } }];
}

function toNext(call: Call, piece: JsonObject): JsonObject {
  const { index: _index, id: _id, type: _type, function: _called, ...rest } = piece;
  const text = argumentsOf(piece);
  return {
    ...rest,
    index: call.index,
    function: text === undefined ? {} : { arguments: text },
  };
}

/** The calls of a whole reply: each with its id, its type and its arguments as text. */
export function toWholeCalls(calls: readonly Json[], idPrefix: string): JsonObject[] {
  return calls.filter(isObject).map((call, at) => ({
    ...call,
    id: isText(call["id"]) ? call["id"] : `${idPrefix}${at}`,
    type: isText(call["type"]) ? call["type"] : "function",
    function: { name: nameOf(call) ?? "", arguments: argumentsOf(call) ?? "" },
  }));
}

/** Ids for calls of upstreams that give none: the answer to a call must name it. */
export const callIdPrefix = (replyId: string, choice: number) =>
  `call_${replyId.slice(replyId.indexOf("-") + 1)}_${choice}_`;

function nameOf({ function: called }: JsonObject): string | undefined {
  const name = isObject(called) ? called["name"] : undefined;
  return isText(name) ? name : undefined;
}

/** Text of JSON; some servers send the object itself. */
function argumentsOf({ function: called }: JsonObject): string | undefined {
  const given = isObject(called) ? called["arguments"] : undefined;
  if (given === undefined || given === null) return undefined;
  return typeof given === "string" ? given : JSON.stringify(given);
}

const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
