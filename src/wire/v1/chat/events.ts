import { ApiError } from "../../../base/errors.ts";
import {
  type ChatPart,
  type FinishReason,
  type Json,
  type JsonObject,
  wordsOf,
} from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import type { ChatWriter, ReplyIdentity } from "../dialect.ts";
import { toErrorBody } from "../error-reply.ts";
import { Said } from "../said.ts";
import { fieldsOf, toWireUsage } from "./reply.ts";
import { callIdPrefix, ToolPieces } from "./tool-pieces.ts";

/** Keep-alives are comments, and never `: ping`, on which one client drops its buffer. */
export const keepAliveComment = ": keep-alive\n\n";

/** The same thoughts may go out under two names. */
const reasoningCharsOf = (delta: Readonly<Record<string, Json | undefined>>) =>
  Math.max(charsOf(delta["reasoning_content"]), charsOf(delta["reasoning"]));

const charsOf = (value: Json | undefined) => (typeof value === "string" ? value.length : 0);

interface ChoiceState {
  /** Of clients' helpers, one keeps only the last piece of a list, and one fails: it goes in one delta. */
  details: JsonObject[] | undefined;
  tools: ToolPieces | undefined;
  hasRole: boolean;
  isFinished: boolean;
}

/**
 * Turns parts into events. Clients join what repeats, so role, tool ids and tool names go out
 * once; every choice gets exactly one finish_reason. A finish is held back until something
 * follows, so that the last one leaves in one write with the usage and `[DONE]`.
 */
export class ChatEventWriter implements ChatWriter {
  readonly keepAlive = keepAliveComment;
  readonly #id: string;
  /** What all events begin with, up to their choices. */
  readonly #fixed: string;
  #head: string;
  readonly #tail: string;
  readonly #includeUsage: boolean;
  /** How many choices were asked for. */
  readonly #expected: number;
  readonly #choices = new Map<number, ChoiceState>();
  /** The last event, as far as its choices go: what ends it depends on what follows. */
  #held = "";
  #extras: JsonObject | undefined;
  readonly #said = new Said();
  #reasoningChars = 0;

  constructor(
    { id, createdS, model }: ReplyIdentity,
    { includeUsage, choices }: { readonly includeUsage: boolean; readonly choices: number },
  ) {
    this.#expected = choices;
    this.#id = id;
    const fixed = JSON.stringify({ id, object: "chat.completion.chunk", created: createdS, model });
    this.#fixed = `data: ${fixed.slice(0, -1)}`;
    this.#head = `${this.#fixed},"choices":[`;
    this.#tail = includeUsage ? `],"usage":null}\n\n` : "]}\n\n";
    this.#includeUsage = includeUsage;
  }

  /**
   * What the upstream says of the whole reply. Its words (a fingerprint, a tier) are in every event
   * from then on, as clients know it; lists, such as sources, are in the last one that has a choice.
   */
  set extras(extras: JsonObject | undefined) {
    if (extras === this.#extras || extras === undefined) return;
    this.#extras = extras;
    this.#head = `${this.#fixed}${fieldsOf(pick(extras, isWord))},"choices":[`;
  }

  /** How much of the model's thoughts went out with its words. */
  get reasoningChars(): number {
    return this.#reasoningChars;
  }

  /** What was sent, for counting if the upstream reports no usage. */
  get said(): Said {
    return this.#said;
  }

  get choices(): number {
    return this.#expected;
  }

  get hasBegun(): boolean {
    return this.#choices.size > 0;
  }

  /** Every choice that was asked for has ended. */
  get isFinished(): boolean {
    if (this.#choices.size < this.#expected) return false;
    for (const { isFinished } of this.#choices.values()) if (!isFinished) return false;
    return true;
  }

  /** Events for one part; "" when it has none. Usage and the end are for `end`. */
  write(part: ChatPart): string {
    switch (part.type) {
      case "text-delta":
        return this.#text(part);
      case "delta":
        return this.#delta(part.index, part.delta, part.logprobs);
      case "reasoning-detail":
        (this.#state(part.index).details ??= []).push(part.detail);
        return "";
      case "finish":
        return this.#finish(part.index, part.reason);
      // Of other dialects.
      case "native":
      case "usage":
      case "done":
        return "";
      default:
        return part satisfies never;
    }
  }

  /** The last bytes of a stream that ended well, or was cut because it became too long. */
  end(usage: Usage, isCut = false): string {
    let finishes = "";
    for (const [index, state] of this.#choices)
      if (!state.isFinished) {
        const reason = state.tools === undefined ? "stop" : "tool_calls";
        finishes += this.#finish(index, isCut ? "length" : reason);
      }
    const counted = this.#includeUsage
      ? `${this.#head}],"usage":${JSON.stringify(toWireUsage(usage))}}\n\n`
      : "";
    return `${finishes}${this.#releaseLast()}${counted}data: [DONE]\n\n`;
  }

  /** The last bytes of a stream that broke: never a clean end. */
  fail(error: ApiError): string {
    return `data: ${JSON.stringify(toErrorBody(error))}\n\n`;
  }

  #text({ index, text, isPlain }: Extract<ChatPart, { type: "text-delta" }>): string {
    const state = this.#state(index);
    if (state.isFinished || (text === "" && state.hasRole)) return "";
    const role = state.hasRole ? "" : `"role":"assistant",`;
    state.hasRole = true;
    this.#said.add(text);
    const content = isPlain === true ? `"${text}"` : JSON.stringify(text);
    return `${this.#release()}${this.#head}{"index":${index},"delta":{${role}"content":${content}},"logprobs":null,"finish_reason":null}${this.#tail}`;
  }

  #delta(index: number, given: JsonObject, logprobs: Json): string {
    const state = this.#state(index);
    if (state.isFinished) return "";
    const { role: _role, tool_calls: calls, ...rest } = given;
    const delta: Record<string, Json | undefined> = state.hasRole
      ? rest
      : { role: "assistant", ...rest };
    if (Array.isArray(calls) && calls.length > 0) {
      state.tools ??= new ToolPieces(callIdPrefix(this.#id, index));
      const pieces = state.tools.take(calls);
      if (pieces.length > 0) delta["tool_calls"] = pieces;
    }
    if (state.hasRole && logprobs === null && isSilent(delta)) return "";
    state.hasRole = true;
    const text = JSON.stringify(delta);
    this.#said.add(wordsOf(delta));
    this.#reasoningChars += reasoningCharsOf(delta);
    return `${this.#release()}${this.#head}{"index":${index},"delta":${text},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}${this.#tail}`;
  }

  #finish(index: number, reason: FinishReason): string {
    const state = this.#state(index);
    if (state.isFinished) return "";
    if (state.tools?.hasNameless === true)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: "the provider sent a tool call without a name",
      });
    const { details } = state;
    const detailed =
      details === undefined ? "" : this.#delta(index, { reasoning_details: details }, null);
    const before = detailed + this.#release();
    const delta = state.hasRole ? "{}" : `{"role":"assistant","content":""}`;
    state.hasRole = true;
    state.isFinished = true;
    this.#held = `${this.#head}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":"${reason}"}`;
    return before;
  }

  #release(): string {
    if (this.#held === "") return "";
    const held = this.#held + this.#tail;
    this.#held = "";
    return held;
  }

  #releaseLast(): string {
    if (this.#held === "" || this.#extras === undefined) return this.#release();
    const lists = fieldsOf(pick(this.#extras, (value) => !isWord(value)));
    const held = `${this.#held}]${lists}${this.#tail.slice(1)}`;
    this.#held = "";
    return held;
  }

  #state(index: number): ChoiceState {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const state: ChoiceState = {
      details: undefined,
      tools: undefined,
      hasRole: false,
      isFinished: false,
    };
    this.#choices.set(index, state);
    return state;
  }
}

const isWord = (value: Json | undefined) => typeof value === "string";

function pick(fields: JsonObject, isWanted: (value: Json | undefined) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isWanted(value)));
}

/** Says nothing but what an event before it has said: some servers send such pieces all the time. */
function isSilent(delta: JsonObject): boolean {
  for (const name in delta) if (delta[name] !== null && delta[name] !== undefined) return false;
  return true;
}
