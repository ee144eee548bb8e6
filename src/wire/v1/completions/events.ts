import type { ChatPart, FinishReason, Json } from "../../../call/chat.ts";
import { Echo } from "../../../call/echo.ts";
import { ChunkWriter } from "../chat/chunk-writer.ts";
import type { ReplyIdentity } from "../dialect.ts";
import type { TextCompletionOrder } from "./call.ts";

interface ChoiceState {
  readonly echo: Echo | undefined;
  isFinished: boolean;
}

type WriterOptions = Pick<
  TextCompletionOrder,
  "includeUsage" | "choices" | "choicesPerPrompt" | "echoed"
>;

/** Turns parts into events of a legacy completion. */
export class TextCompletionWriter extends ChunkWriter<ChoiceState> {
  readonly reasoningChars = 0;
  readonly #options: WriterOptions;

  constructor(identity: ReplyIdentity, options: WriterOptions) {
    const { includeUsage, choices } = options;
    super({ object: "text_completion", identity, includeUsage, choices });
    this.#options = options;
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
        return this.finish(part.index, part.reason);
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

  #delta(index: number, content: Json | undefined, logprobs: Json): string {
    const text = typeof content === "string" ? content : "";
    return this.#text(index, text, JSON.stringify(text), JSON.stringify(logprobs));
  }

  #text(index: number, text: string, quoted: string, logprobs: string): string {
    const state = this.#state(index);
    if (state.isFinished || (text === "" && logprobs === "null")) return "";
    this.said.add(state.echo === undefined ? text : state.echo.ownIn(text));
    return `${this.release()}${this.head}{"index":${index},"text":${quoted},"logprobs":${logprobs},"finish_reason":null}${this.tail}`;
  }

  protected override finish(index: number, reason: FinishReason): string {
    const state = this.#state(index);
    if (state.isFinished) return "";
    const before = this.release();
    state.isFinished = true;
    this.held = `${this.head}{"index":${index},"text":"","logprobs":null,"finish_reason":"${reason}"}`;
    return before;
  }

  #state(index: number): ChoiceState {
    const known = this.states.get(index);
    if (known !== undefined) return known;
    const { echoed, choicesPerPrompt } = this.#options;
    const prompt = echoed[Math.floor(index / choicesPerPrompt)];
    const echo = prompt === undefined ? undefined : new Echo(prompt);
    const state = { echo, isFinished: false };
    this.states.set(index, state);
    return state;
  }
}
