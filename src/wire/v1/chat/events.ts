import { ApiError } from "../../../base/errors.ts";
import {
  type ChatPart,
  type FinishReason,
  type Json,
  type JsonObject,
  wordsOf,
} from "../../../call/chat.ts";
import type { ReplyIdentity } from "../dialect.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import { fieldsOf } from "./reply.ts";
import { callIdPrefix, ToolPieces } from "./tool-pieces.ts";

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
 * once.
 */
export class ChatEventWriter extends ChunkWriter<ChoiceState> {
  readonly #id: string;
  #reasoningChars = 0;

  constructor(
    identity: ReplyIdentity,
    { includeUsage, choices }: { readonly includeUsage: boolean; readonly choices: number },
  ) {
    super({ object: "chat.completion.chunk", identity, includeUsage, choices });
    this.#id = identity.id;
  }

  get reasoningChars(): number {
    return this.#reasoningChars;
  }

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
        return this.finish(part.index, part.reason);
      // Of other dialects.
      case "native":
      case "usage":
      case "done":
        return "";
      default:
        return part satisfies never;
    }
  }

  /**
   * Words about the whole reply (a fingerprint, a tier) are in every event, as clients know it;
   * lists, such as sources, are in the last one that has a choice.
   */
  protected override inEvery(extras: JsonObject): JsonObject {
    return pick(extras, isWord);
  }

  protected override usualEnd({ tools }: ChoiceState): FinishReason {
    return tools === undefined ? "stop" : "tool_calls";
  }

  #text({ index, text, isPlain }: Extract<ChatPart, { type: "text-delta" }>): string {
    const state = this.#state(index);
    if (state.isFinished || (text === "" && state.hasRole)) return "";
    const role = state.hasRole ? "" : `"role":"assistant",`;
    state.hasRole = true;
    this.said.add(text);
    const content = isPlain === true ? `"${text}"` : JSON.stringify(text);
    return `${this.release()}${this.head}{"index":${index},"delta":{${role}"content":${content}},"logprobs":null,"finish_reason":null}${this.tail}`;
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
    this.said.add(wordsOf(delta));
    this.#reasoningChars += reasoningCharsOf(delta);
    return `${this.release()}${this.head}{"index":${index},"delta":${text},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}${this.tail}`;
  }

  protected override finish(index: number, reason: FinishReason): string {
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
    const before = detailed + this.release();
    const delta = state.hasRole ? "{}" : `{"role":"assistant","content":""}`;
    state.hasRole = true;
    state.isFinished = true;
    this.held = `${this.head}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":"${reason}"}`;
    return before;
  }

  protected override releaseLast(): string {
    if (this.held === "" || this.extras === undefined) return this.release();
    const lists = fieldsOf(pick(this.extras, (value) => !isWord(value)));
    const held = `${this.held}]${lists}${this.tail.slice(1)}`;
    this.held = "";
    return held;
  }

  #state(index: number): ChoiceState {
    const known = this.states.get(index);
    if (known !== undefined) return known;
    const state: ChoiceState = {
      details: undefined,
      tools: undefined,
      hasRole: false,
      isFinished: false,
    };
    this.states.set(index, state);
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
