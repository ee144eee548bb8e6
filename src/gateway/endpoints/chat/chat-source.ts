import { ApiError } from "../../../base/errors.ts";
import type { ChatPart, ChatStream } from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import { type ChatEventWriter, keepAliveComment } from "../../../wire/v1/chat-events.ts";
import type { StreamSource } from "../../stream-reply.ts";

/** A stream whose upstream has accepted the call and spoken. */
export interface OpenedChat {
  readonly parts: ChatStream;
  readonly first: readonly ChatPart[];
}

export interface ChatSourceOptions {
  readonly opening: Promise<OpenedChat>;
  readonly writer: ChatEventWriter;
  readonly estimate: (outputChars: number) => Usage;
  /** The reply's head went out before the model spoke: a comment goes first. */
  readonly startsSilent: boolean;
}

const encoder = new TextEncoder();
const keepAlive = encoder.encode(keepAliveComment);

/** Parts in, bytes of events out: one write for each packet that the upstream sent. */
export class ChatSource implements StreamSource {
  readonly keepAlive = keepAlive;
  readonly #opening: Promise<OpenedChat>;
  readonly #writer: ChatEventWriter;
  readonly #estimate: (outputChars: number) => Usage;
  #startsSilent: boolean;
  #stream: ChatStream | undefined;
  #isCancelled = false;
  #usage: Usage | undefined;
  #isDone = false;

  constructor({ opening, writer, estimate, startsSilent }: ChatSourceOptions) {
    this.#opening = opening;
    this.#writer = writer;
    this.#estimate = estimate;
    this.#startsSilent = startsSilent;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#startsSilent) {
      this.#startsSilent = false;
      return keepAlive;
    }
    while (!this.#isDone) {
      const text = this.#write(await this.#read());
      if (text !== "") return encoder.encode(text);
    }
    return undefined;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#stream?.cancel();
    if (this.#stream === undefined)
      this.#opening.then(({ parts }) => parts.cancel()).catch(() => {});
  }

  fail(error: ApiError): Uint8Array {
    return encoder.encode(this.#writer.fail(error));
  }

  async #read(): Promise<readonly ChatPart[] | undefined> {
    if (this.#stream !== undefined) return this.#stream.read();
    const { parts, first } = await this.#opening;
    this.#stream = parts;
    if (this.#isCancelled) parts.cancel();
    return first;
  }

  #write(parts: readonly ChatPart[] | undefined): string {
    let text = "";
    let ended = parts === undefined;
    for (const part of parts ?? []) {
      if (part.type === "usage") this.#usage = part.usage;
      else if (part.type === "done") ended = true;
      else text += this.#writer.write(part);
    }
    if (!ended) return text;
    // Without `[DONE]`, only a finish_reason tells an end from a cut.
    const wasCut = parts === undefined ? !this.#writer.isFinished : !this.#writer.hasBegun;
    if (wasCut)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's answer broke off.",
        detail: "the upstream's stream ended before its end",
      });
    this.#isDone = true;
    return text + this.#writer.end(this.#usage ?? this.#estimate(this.#writer.textChars));
  }
}
