import type { ApiError } from "../../../base/errors.ts";
import type { ChatPart, FinishReason, JsonObject } from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import type { ChatWriter, ReplyIdentity } from "../dialect.ts";
import { toErrorBody } from "../error-reply.ts";
import { Said } from "../said.ts";
import { fieldsOf, toWireUsage } from "./reply.ts";

/** Keep-alives are comments, and never `: ping`, on which one client drops its buffer. */
export const keepAliveComment = ": keep-alive\n\n";

interface ChunkOptions {
  /** The kind of object that each event is. */
  readonly object: string;
  readonly identity: ReplyIdentity;
  readonly includeUsage: boolean;
  readonly choices: number;
}

/**
 * What the streams of chat and of legacy completions share. Every choice gets exactly one
 * finish_reason. A finish is held back until something follows, so that the last one leaves in one
 * write with the usage and `[DONE]`.
 */
export abstract class ChunkWriter<State extends { readonly isFinished: boolean }>
  implements ChatWriter
{
  readonly keepAlive = keepAliveComment;
  readonly said = new Said();
  readonly choices: number;
  abstract readonly reasoningChars: number;
  /** What an event begins with, up to its choices. */
  protected head: string;
  /** What follows them. */
  protected readonly tail: string;
  /** The last event, as far as its choices go: what ends it depends on what follows. */
  protected held = "";
  protected readonly states = new Map<number, State>();
  readonly #fixed: string;
  readonly #includeUsage: boolean;
  #extras: JsonObject | undefined;

  constructor({ object, identity, includeUsage, choices }: ChunkOptions) {
    this.choices = choices;
    const { id, createdS, model } = identity;
    const fixed = JSON.stringify({ id, object, created: createdS, model });
    this.#fixed = `data: ${fixed.slice(0, -1)}`;
    this.head = `${this.#fixed},"choices":[`;
    this.tail = includeUsage ? `],"usage":null}\n\n` : "]}\n\n";
    this.#includeUsage = includeUsage;
  }

  abstract write(part: ChatPart): string;
  /** Holds a choice's finish back, and returns the events that go before it. */
  protected abstract finish(index: number, reason: FinishReason): string;

  set extras(extras: JsonObject | undefined) {
    if (extras === this.#extras || extras === undefined) return;
    this.#extras = extras;
    this.head = `${this.#fixed}${fieldsOf(this.inEvery(extras))},"choices":[`;
  }

  get extras(): JsonObject | undefined {
    return this.#extras;
  }

  get hasBegun(): boolean {
    return this.states.size > 0;
  }

  get isFinished(): boolean {
    if (this.states.size < this.choices) return false;
    for (const { isFinished } of this.states.values()) if (!isFinished) return false;
    return true;
  }

  end(usage: Usage, isCut = false): string {
    let finishes = "";
    for (const [index, state] of this.states)
      if (!state.isFinished)
        finishes += this.finish(index, isCut ? "length" : this.usualEnd(state));
    const counted = this.#includeUsage
      ? `${this.head}],"usage":${JSON.stringify(toWireUsage(usage))}}\n\n`
      : "";
    return `${finishes}${this.releaseLast()}${counted}data: [DONE]\n\n`;
  }

  fail(error: ApiError): string {
    return `data: ${JSON.stringify(toErrorBody(error))}\n\n`;
  }

  /** Those of the extras that go out with every event. */
  protected inEvery(extras: JsonObject): JsonObject {
    return extras;
  }

  /** Why a choice ended, where the upstream did not report it. */
  protected usualEnd(_state: State): FinishReason {
    return "stop";
  }

  protected release(): string {
    if (this.held === "") return "";
    const held = this.held + this.tail;
    this.held = "";
    return held;
  }

  protected releaseLast(): string {
    return this.release();
  }
}
