import type { ApiError } from "../../../base/errors.ts";
import type { ChatPart, FinishReason, Json, JsonObject } from "../../../call/chat.ts";
import { Echo } from "../../../call/echo.ts";
import type { Usage } from "../../../call/usage.ts";
import { keepAliveComment } from "../chat/events.ts";
import { fieldsOf, toWireUsage } from "../chat/reply.ts";
import type { ChatWriter, ReplyIdentity } from "../dialect.ts";
import { toErrorBody } from "../error-reply.ts";
import { Said } from "../said.ts";
import type { TextCompletionOrder } from "./call.ts";

interface ChoiceState {
  readonly echo: Echo | undefined;
  isFinished: boolean;
}

type WriterOptions = Pick<
  TextCompletionOrder,
  "includeUsage" | "choices" | "choicesPerPrompt" | "echoed"
>;

/**
 * Turns parts into events of a legacy completion. Every choice gets exactly one finish_reason. A
 * finish is held back until something follows, so that the last one leaves in one write with the
 * usage and `[DONE]`.
 */
export class TextCompletionWriter implements ChatWriter {
  readonly keepAlive = keepAliveComment;
  readonly reasoningChars = 0;
  readonly said = new Said();
  readonly choices: number;
  readonly #options: WriterOptions;
  /** What all events begin with, up to their choices. */
  readonly #fixed: string;
  #head: string;
  readonly #tail: string;
  readonly #states = new Map<number, ChoiceState>();
  #held = "";
  #extras: JsonObject | undefined;

  constructor({ id, createdS, model }: ReplyIdentity, options: WriterOptions) {
    this.#options = options;
    this.choices = options.choices;
    const fixed = JSON.stringify({ id, object: "text_completion", created: createdS, model });
    this.#fixed = `data: ${fixed.slice(0, -1)}`;
    this.#head = `${this.#fixed},"choices":[`;
    this.#tail = options.includeUsage ? `],"usage":null}\n\n` : "]}\n\n";
  }

  set extras(extras: JsonObject | undefined) {
    if (extras === this.#extras || extras === undefined) return;
    this.#extras = extras;
    this.#head = `${this.#fixed}${fieldsOf(extras)},"choices":[`;
  }

  get hasBegun(): boolean {
    return this.#states.size > 0;
  }

  get isFinished(): boolean {
    if (this.#states.size < this.choices) return false;
    for (const { isFinished } of this.#states.values()) if (!isFinished) return false;
    return true;
  }

  write(part: ChatPart): string {
    switch (part.type) {
      case "text-delta":
        return part.isPlain === true
          ? this.#text(part.index, part.text, `"${part.text}"`, "null")
          : this.#text(part.index, part.text, JSON.stringify(part.text), "null");
      case "delta":
        return this.#delta(part.index, part.delta["content"], part.logprobs);
      case "finish":
        return this.#finish(part.index, part.reason);
      // Of other dialects.
      case "reasoning-detail":
      case "native":
      case "usage":
      case "done":
        return "";
      default:
        return part satisfies never;
    }
  }

  end(usage: Usage, isCut = false): string {
    let finishes = "";
    for (const [index, { isFinished }] of this.#states)
      if (!isFinished) finishes += this.#finish(index, isCut ? "length" : "stop");
    const counted = this.#options.includeUsage
      ? `${this.#head}],"usage":${JSON.stringify(toWireUsage(usage))}}\n\n`
      : "";
    return `${finishes}${this.#release()}${counted}data: [DONE]\n\n`;
  }

  fail(error: ApiError): string {
    return `data: ${JSON.stringify(toErrorBody(error))}\n\n`;
  }

  #delta(index: number, content: Json | undefined, logprobs: Json): string {
    const text = typeof content === "string" ? content : "";
    return this.#text(index, text, JSON.stringify(text), JSON.stringify(logprobs));
  }

  #text(index: number, text: string, quoted: string, logprobs: string): string {
    const state = this.#state(index);
    if (state.isFinished || (text === "" && logprobs === "null")) return "";
    this.said.add(state.echo === undefined ? text : state.echo.ownIn(text));
    return `${this.#release()}${this.#head}{"index":${index},"text":${quoted},"logprobs":${logprobs},"finish_reason":null}${this.#tail}`;
  }

  #finish(index: number, reason: FinishReason): string {
    const state = this.#state(index);
    if (state.isFinished) return "";
    const before = this.#release();
    state.isFinished = true;
    this.#held = `${this.#head}{"index":${index},"text":"","logprobs":null,"finish_reason":"${reason}"}`;
    return before;
  }

  #release(): string {
    if (this.#held === "") return "";
    const held = this.#held + this.#tail;
    this.#held = "";
    return held;
  }

  #state(index: number): ChoiceState {
    const known = this.#states.get(index);
    if (known !== undefined) return known;
    const { echoed, choicesPerPrompt } = this.#options;
    const prompt = echoed[Math.floor(index / choicesPerPrompt)];
    const echo = prompt === undefined ? undefined : new Echo(prompt);
    const state = { echo, isFinished: false };
    this.#states.set(index, state);
    return state;
  }
}
