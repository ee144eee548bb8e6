import { ApiError } from "../../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { JsonEnd, ToolPieces } from "./tool-pieces.ts";

/** Of all calls that wait; an upstream that sends more has lost itself. */
const maxHeldChars = 16 * 1024 * 1024;

/** A piece of a call, in the order in which blocks or items can tell it. */
export type ToolPiece =
  | { readonly kind: "begin"; readonly id: string; readonly name: string }
  | { readonly kind: "arguments"; readonly text: string };

interface Call {
  readonly id: string;
  readonly name: string;
  /** Arguments that wait for their turn. */
  held: string[];
  readonly end: JsonEnd;
}

/**
 * Calls for dialects in which one ends before the next begins. Most servers send calls in this way,
 * too; of those that mix them, the later calls wait until the one before them is whole.
 */
export class ToolBlocks {
  readonly #pieces: ToolPieces;
  readonly #calls: Call[] = [];
  /** The call whose block is open. */
  #current = -1;
  #heldChars = 0;
  /** What vendors want back with a call, by its id. */
  extras: Record<string, JsonObject> | undefined;

  constructor(idPrefix: string) {
    this.#pieces = new ToolPieces(idPrefix);
  }

  get hasNameless(): boolean {
    return this.#pieces.hasNameless;
  }

  /** Whether all calls that have begun seem to be at their end. */
  get isWhole(): boolean {
    const isLast = this.#current === this.#calls.length - 1;
    return isLast && this.#calls[this.#current]?.end.isWhole === true && !this.hasNameless;
  }

  take(given: readonly Json[]): readonly ToolPiece[] {
    const told: ToolPiece[] = [];
    for (const piece of this.#pieces.take(given)) this.#takePiece(piece, told);
    return told;
  }

  /** All that still waits. */
  end(): readonly ToolPiece[] {
    const told: ToolPiece[] = [];
    while (this.#current < this.#calls.length - 1) this.#next(told);
    return told;
  }

  #takePiece(piece: JsonObject, told: ToolPiece[]): void {
    const { index, id, function: called, extra_content: extra } = piece;
    const { name, arguments: text } = isJsonObject(called) ? called : {};
    const place = Number(index);
    let call = this.#calls[place];
    if (call === undefined) {
      call = { id: String(id), name: String(name), held: [], end: new JsonEnd() };
      this.#calls[place] = call;
    }
    if (isJsonObject(extra)) (this.extras ??= Object.create(null))[call.id] = extra;
    if (typeof text === "string" && text !== "") {
      call.end.add(text);
      if (place === this.#current) told.push({ kind: "arguments", text });
      else if (place > this.#current) this.#hold(call, text);
    }
    while (this.#mayMoveOn()) this.#next(told);
  }

  #hold({ held }: Call, text: string): void {
    this.#heldChars += text.length;
    if (this.#heldChars > maxHeldChars)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: "the provider sent calls among each other that are too long",
      });
    held.push(text);
  }

  #mayMoveOn(): boolean {
    if (this.#calls[this.#current + 1] === undefined) return false;
    return this.#current === -1 || this.#calls[this.#current]?.end.isWhole === true;
  }

  #next(told: ToolPiece[]): void {
    const call = this.#calls[++this.#current];
    // The name of a call may come behind those of later ones.
    if (call === undefined) return;
    told.push({ kind: "begin", id: call.id, name: call.name });
    const text = call.held.join("");
    this.#heldChars -= text.length;
    call.held = [];
    if (text !== "") told.push({ kind: "arguments", text });
  }
}
