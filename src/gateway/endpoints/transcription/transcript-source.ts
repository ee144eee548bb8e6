import { ApiError } from "../../../base/errors.ts";
import type { TranscriptPart, TranscriptStream } from "../../../call/transcribe.ts";
import { keepAliveComment } from "../../../wire/v1/chat/chunk-writer.ts";
import { toErrorBody } from "../../../wire/v1/error-reply.ts";
import { toTranscriptDelta, toTranscriptDone } from "../../../wire/v1/transcription/reply.ts";
import type { Charge, Measured } from "../../billing/charge.ts";
import { eventsType } from "../../exchange.ts";
import { maxReplyBytes } from "../../idempotency.ts";
import type { StreamSource } from "../../stream-reply.ts";

/** A stream whose first parts are here. */
export interface OpenTranscript {
  readonly first: readonly TranscriptPart[];
  readonly rest: TranscriptStream;
}

/** Waits for the first word. */
export async function openTranscript(stream: TranscriptStream): Promise<OpenTranscript> {
  for (;;) {
    const parts = await stream.read();
    if (parts === undefined) throw endedEarly();
    if (parts.length > 0) return { first: parts, rest: stream };
  }
}

export interface TranscriptSourceOptions {
  readonly transcript: OpenTranscript;
  readonly seconds: number;
  readonly measured: Measured;
  readonly charge: Pick<Charge, "settle" | "deliver" | "keepsReply">;
}

/** A transcript as events. The last one leaves once the receipt is durable. */
export class TranscriptSource implements StreamSource {
  readonly keepAlive = keepAliveComment;
  readonly #options: TranscriptSourceOptions;
  #first: readonly TranscriptPart[] | undefined;
  #isOver = false;
  /** For an Idempotency-Key: the whole reply, as long as it is small enough to be kept. */
  #kept: string | undefined;

  constructor(options: TranscriptSourceOptions) {
    this.#options = options;
    this.#first = options.transcript.first;
    this.#kept = options.charge.keepsReply ? "" : undefined;
  }

  async next(): Promise<string | undefined> {
    const { transcript, charge } = this.#options;
    while (!this.#isOver) {
      const parts = this.#first ?? (await transcript.rest.read());
      this.#first = undefined;
      if (parts === undefined) throw endedEarly();
      const text = await this.#written(parts);
      if (text === "") continue;
      charge.deliver();
      return text;
    }
    return undefined;
  }

  cancel(): void {
    this.#options.transcript.rest.cancel();
  }

  fail(error: ApiError): string {
    return `data: ${JSON.stringify(toErrorBody(error))}\n\n`;
  }

  async #written(parts: readonly TranscriptPart[]): Promise<string> {
    const { seconds, measured, charge } = this.#options;
    let text = "";
    for (const part of parts)
      text +=
        part.type === "done" ? toTranscriptDone(part.text, seconds) : toTranscriptDelta(part.text);
    if (this.#kept !== undefined) this.#kept += text;
    if (this.#kept !== undefined && this.#kept.length > maxReplyBytes) this.#kept = undefined;
    if (parts.at(-1)?.type !== "done") return text;
    this.#isOver = true;
    const body = this.#kept;
    await charge.settle(
      measured,
      body === undefined ? undefined : { contentType: eventsType, body },
    );
    return text;
  }
}

const endedEarly = () =>
  new ApiError({
    code: "upstream_error",
    message: "The transcript ended early. Try again.",
    detail: "a transcript ended without its last part",
  });
