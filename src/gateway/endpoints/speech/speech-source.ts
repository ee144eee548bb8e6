import { ApiError } from "../../../base/errors.ts";
import { wavHeader } from "../../../media/wav.ts";
import type { Charge, Measured } from "../../charge.ts";
import { maxReplyBytes } from "../../idempotency.ts";
import type { StreamSource } from "../../stream-reply.ts";
import type { Pcm } from "./pcm.ts";
import { audioTokens } from "./speech-money.ts";

export interface SpeechSourceOptions {
  readonly pcm: Pcm;
  readonly asWav: boolean;
  readonly contentType: string;
  /** Audio that goes on longer is none of what was asked for. */
  readonly mostBytes: number;
  /** The tokens of the text. */
  readonly counting: Promise<number>;
  readonly charge: Pick<Charge, "settle" | "deliver" | "keepsReply">;
}

/**
 * Audio as it arrives, behind a WAV header where one is wanted. An audio body has no place for an
 * error: one that breaks is broken off, so that no client takes half a sentence for a whole one.
 * The end waits until the receipt is durable.
 */
export class SpeechSource implements StreamSource {
  readonly #options: SpeechSourceOptions;
  #sentBytes = 0;
  #begun = false;
  /** For an Idempotency-Key: the whole reply, as long as it is small enough to be kept. */
  #kept: Uint8Array[] | undefined;
  #keptBytes = 0;

  constructor(options: SpeechSourceOptions) {
    this.#options = options;
    if (options.charge.keepsReply) this.#kept = [];
  }

  async next(): Promise<Uint8Array | undefined> {
    const { pcm, asWav, charge } = this.#options;
    if (this.#begun) {
      const bytes = this.#count(await pcm.rest.read());
      if (bytes === undefined) await this.#settle();
      return bytes && this.#keep(bytes);
    }
    this.#begun = true;
    const { first, lengthBytes } = pcm;
    this.#count(first);
    charge.deliver();
    if (!asWav) return this.#keep(first);
    const header = lengthBytes === undefined ? wavHeader() : wavHeader({ dataBytes: lengthBytes });
    return this.#keep(Buffer.concat([header, first]));
  }

  cancel(): void {
    this.#options.pcm.rest.cancel();
  }

  fail(): undefined {}

  async measure(): Promise<Measured> {
    return {
      units: { input: await this.#options.counting, audio_output: audioTokens(this.#sentBytes) },
      reasoningTokens: 0,
      estimated: true,
    };
  }

  /** What the upstream counted, of a whole answer; the rest is what we can see. */
  async #told(): Promise<Measured> {
    const { inputTokens, audioTokens: audio } = this.#options.pcm.rest.usage?.() ?? {};
    return {
      units: {
        input: isCount(inputTokens) ? inputTokens : await this.#options.counting,
        audio_output: isCount(audio) ? audio : audioTokens(this.#sentBytes),
      },
      reasoningTokens: 0,
      estimated: !isCount(inputTokens) || !isCount(audio),
    };
  }

  async #settle(): Promise<void> {
    const { charge, contentType } = this.#options;
    const body = this.#kept && Buffer.concat(this.#kept);
    await charge.settle(await this.#told(), body && { contentType, body });
  }

  #keep(bytes: Uint8Array): Uint8Array {
    if (this.#kept === undefined) return bytes;
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > maxReplyBytes) this.#kept = undefined;
    return bytes;
  }

  #count(bytes: Uint8Array | undefined): Uint8Array | undefined {
    const { mostBytes, pcm } = this.#options;
    const sizeBytes = bytes?.length ?? 0;
    if (this.#sentBytes + sizeBytes > mostBytes)
      throw new ApiError({
        code: "upstream_error",
        message: "The audio became longer than it may be.",
        detail: `more than ${mostBytes} bytes came`,
      });
    this.#sentBytes += sizeBytes;
    const { lengthBytes } = pcm;
    if (bytes === undefined && lengthBytes !== undefined && this.#sentBytes < lengthBytes)
      throw new ApiError({
        code: "upstream_error",
        message: "The audio broke off.",
        detail: `${this.#sentBytes} of ${lengthBytes} bytes came`,
      });
    return bytes;
  }
}

/** A count of nothing, where something was said, is none. */
function isCount(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}
