import type { ChatPart, ChatStream, JsonObject } from "../../../call/chat.ts";
import { CandidateParts } from "./candidate-parts.ts";
import { ReplyReader, type ReplyReaderOptions } from "./reply-reader.ts";

/**
 * The parts of a streamed chat. There is no `[DONE]`: the body's end is the end of the answer if
 * every candidate has told why it ended; else the answer was cut.
 */
export class GeminiChatStream implements ChatStream {
  readonly #replies: ReplyReader;
  readonly #candidates: CandidateParts;
  #parts: ChatPart[] = [];
  #isEnded = false;
  /** Found in a packet that also held good events: those go first. */
  #failure: unknown;

  constructor(options: ReplyReaderOptions) {
    this.#replies = new ReplyReader(options);
    this.#candidates = new CandidateParts(options.provider);
  }

  async read(): Promise<readonly ChatPart[] | undefined> {
    while (this.#failure === undefined && !this.#isEnded) {
      const parts: ChatPart[] = [];
      this.#parts = parts;
      try {
        const isMore = await this.#replies.pull(this.#take);
        this.#candidates.count(parts);
        if (!isMore) this.#end(parts);
      } catch (cause) {
        this.#candidates.count(parts);
        this.#failure = this.#replies.toFailure(cause);
      }
      // A packet without news, such as a comment, is a sign of life all the same.
      if (parts.length > 0 || (this.#failure === undefined && !this.#isEnded)) return parts;
    }
    if (this.#failure === undefined) return undefined;
    // What failed before the first token has no other owner; the upstream may talk on forever.
    this.cancel();
    throw this.#failure;
  }

  cancel(): void {
    this.#isEnded = true;
    this.#replies.cancel();
  }

  readonly #take = (reply: JsonObject) => this.#candidates.take(reply, this.#parts);

  #end(parts: ChatPart[]): void {
    this.#isEnded = true;
    if (this.#replies.isCancelled) return;
    if (!this.#candidates.end(parts)) this.#replies.throwStray();
  }
}
