import { ApiError } from "../../base/errors.ts";
import type { ChatPart, FinishReason, Json, JsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import { type ReplyIdentity, toWireUsage } from "./chat-reply.ts";
import { toErrorBody } from "./error-reply.ts";
import { callIdPrefix, ToolPieces } from "./tool-pieces.ts";

/** Keep-alives are comments, and never `: ping`, on which one client drops its buffer. */
export const keepAliveComment = ": keep-alive\n\n";

interface ChoiceState {
  tools: ToolPieces | undefined;
  hasRole: boolean;
  isFinished: boolean;
}

/**
 * Turns parts into events. Clients join what repeats, so role, tool ids and tool names go out
 * once; every choice gets exactly one finish_reason. A finish is held back until something
 * follows, so that the last one leaves in one write with the usage and `[DONE]`.
 */
export class ChatEventWriter {
  readonly #id: string;
  readonly #head: string;
  readonly #tail: string;
  readonly #includeUsage: boolean;
  /** How many choices were asked for. */
  readonly #expected: number;
  readonly #choices = new Map<number, ChoiceState>();
  #held = "";
  #textChars = 0;

  constructor(
    { id, createdS, model }: ReplyIdentity,
    { includeUsage, choices }: { readonly includeUsage: boolean; readonly choices: number },
  ) {
    this.#expected = choices;
    this.#id = id;
    const fixed = JSON.stringify({ id, object: "chat.completion.chunk", created: createdS, model });
    this.#head = `data: ${fixed.slice(0, -1)},"choices":[`;
    this.#tail = includeUsage ? `],"usage":null}\n\n` : "]}\n\n";
    this.#includeUsage = includeUsage;
  }

  /** How much text has gone out, for an estimate where no upstream counts. */
  get textChars(): number {
    return this.#textChars;
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
        return this.#text(part.index, part.text);
      case "delta":
        return this.#delta(part.index, part.delta, part.logprobs);
      case "finish":
        return this.#finish(part.index, part.reason);
      case "usage":
      case "done":
        return "";
      default:
        return part satisfies never;
    }
  }

  /** The last bytes of a stream that ended well. */
  end(usage: Usage): string {
    let finishes = "";
    for (const [index, state] of this.#choices)
      if (!state.isFinished)
        finishes += this.#finish(index, state.tools === undefined ? "stop" : "tool_calls");
    const counted = this.#includeUsage
      ? `${this.#head}],"usage":${JSON.stringify(toWireUsage(usage))}}\n\n`
      : "";
    return `${finishes}${this.#release()}${counted}data: [DONE]\n\n`;
  }

  /** The last bytes of a stream that broke: never a clean end. */
  fail(error: ApiError): string {
    return `data: ${JSON.stringify(toErrorBody(error))}\n\n`;
  }

  #text(index: number, text: string): string {
    const state = this.#state(index);
    if (state.isFinished || (text === "" && state.hasRole)) return "";
    const role = state.hasRole ? "" : `"role":"assistant",`;
    state.hasRole = true;
    this.#textChars += text.length;
    return `${this.#release()}${this.#head}{"index":${index},"delta":{${role}"content":${JSON.stringify(text)}},"logprobs":null,"finish_reason":null}${this.#tail}`;
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
      else if (state.hasRole && Object.keys(rest).length === 0) return "";
    }
    state.hasRole = true;
    const text = JSON.stringify(delta);
    this.#textChars += text.length;
    return `${this.#release()}${this.#head}{"index":${index},"delta":${text},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}${this.#tail}`;
  }

  #finish(index: number, reason: FinishReason): string {
    const state = this.#state(index);
    if (state.isFinished) return "";
    if (state.tools?.hasNameless === true)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's answer broke off.",
        detail: "the upstream sent a tool call without a name",
      });
    const before = this.#release();
    const delta = state.hasRole ? "{}" : `{"role":"assistant","content":""}`;
    state.hasRole = true;
    state.isFinished = true;
    this.#held = `${this.#head}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":"${reason}"}${this.#tail}`;
    return before;
  }

  #release(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  #state(index: number): ChoiceState {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const state: ChoiceState = { tools: undefined, hasRole: false, isFinished: false };
    this.#choices.set(index, state);
    return state;
  }
}
