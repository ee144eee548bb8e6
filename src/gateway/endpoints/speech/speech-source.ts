import { ApiError } from "../../../base/errors.ts";
import { wavHeader } from "../../../base/wav.ts";
import { keepAliveComment } from "../../../wire/v1/chat/chunk-writer.ts";
import { toErrorBody } from "../../../wire/v1/error-reply.ts";
import { toSpeechDelta, toSpeechDone } from "../../../wire/v1/speech/events.ts";
import type { Charge, Measured } from "../../billing/charge.ts";
import { maxReplyBytes } from "../../idempotency.ts";
import type { StreamSource } from "../../stream-reply.ts";
import type { Pcm } from "./pcm.ts";
import { audioTokens } from "./speech-money.ts";

export interface SpeechSourceOptions {
  readonly pcm: Pcm;
  readonly asWav: boolean;
  /** As server-sent events, each with a piece of the audio. */
  readonly asEvents: boolean;
  readonly contentType: string;
  /** Audio that goes on longer is none of what was asked for. */
  readonly mostBytes: number;
  /** The tokens of the text. */
  readonly counting: Promise<number>;
  readonly charge: Pick<Charge, "settle" | "deliver" | "keepsReply">;
}

/** An upstream may send minutes in one piece; an event of that size would stop clients and us. */
const mostEventBytes = 256 * 1024;

const encoder = new TextEncoder();

/**
 * Audio as it arrives, behind a WAV header where one is wanted. An audio body has no place for an
 * error: one that breaks is broken off, so that no client takes half a sentence for a whole one.
 * Events have: the last one is the usage, or the error. The end waits until the receipt is durable.
 */
export class SpeechSource implements StreamSource {
  readonly keepAlive: string | undefined;
  readonly #options: SpeechSourceOptions;
  /** Bytes of samples, as they are counted. */
  #sentBytes = 0;
  #begun = false;
  #isOver = false;
  /** What is left of a piece that is too large for one event. */
  #waiting: Uint8Array | undefined;
  /** For an Idempotency-Key: the whole reply, as long as it is small enough to be kept. */
  #kept: Uint8Array[] | undefined;
  #keptBytes = 0;

  constructor(options: SpeechSourceOptions) {
    this.#options = options;
    this.keepAlive = options.asEvents ? keepAliveComment : undefined;
    if (options.charge.keepsReply) this.#kept = [];
  }

  next(): Uint8Array | Promise<Uint8Array | undefined> {
    const isFirst = !this.#begun && !this.#options.asEvents;
    return isFirst ? this.#keep(this.#firstAudio()) : this.#next();
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return undefined;
    const { asEvents } = this.#options;
    const audio = asEvents ? await this.#nextPiece() : await this.#nextAudio();
    if (audio !== undefined)
      return this.#keep(asEvents ? encoder.encode(toSpeechDelta(audio)) : audio);
    this.#isOver = true;
    const used = await this.#told();
    const last = asEvents ? this.#keep(encoder.encode(toSpeechDone(tokensOf(used)))) : undefined;
    await this.#settle(used);
    return last;
  }

  async #nextAudio(): Promise<Uint8Array | undefined> {
    return this.#begun ? this.#count(await this.#options.pcm.rest.read()) : this.#firstAudio();
  }

  #firstAudio(): Uint8Array {
    const { pcm, asWav, charge } = this.#options;
    this.#begun = true;
    const { first, lengthBytes } = pcm;
    this.#count(first);
    charge.deliver();
    if (!asWav) return first;
    const header = lengthBytes === undefined ? wavHeader() : wavHeader({ dataBytes: lengthBytes });
    return Buffer.concat([header, first]);
  }

  /** As much as fits into one event; never nothing. */
  async #nextPiece(): Promise<Uint8Array | undefined> {
    let audio = this.#waiting;
    this.#waiting = undefined;
    while (audio === undefined || audio.length === 0) {
      audio = await this.#nextAudio();
      if (audio === undefined) return undefined;
    }
    if (audio.length > mostEventBytes) this.#waiting = audio.subarray(mostEventBytes);
    return audio.subarray(0, mostEventBytes);
  }

  cancel(): void {
    this.#options.pcm.rest.cancel();
  }

  fail(error: ApiError): Uint8Array | undefined {
    if (!this.#options.asEvents) return undefined;
    return encoder.encode(`data: ${JSON.stringify(toErrorBody(error))}\n\n`);
  }

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

  async #settle(used: Measured): Promise<void> {
    const { charge, contentType } = this.#options;
    const body = this.#kept && Buffer.concat(this.#kept);
    await charge.settle(used, body && { contentType, body });
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
        message: "The audio exceeded the model's maximum length. Shorten the input.",
        detail: `received more than ${mostBytes} bytes`,
      });
    this.#sentBytes += sizeBytes;
    const { lengthBytes } = pcm;
    if (bytes === undefined && lengthBytes !== undefined && this.#sentBytes < lengthBytes)
      throw new ApiError({
        code: "upstream_error",
        message: "The audio ended early. Try again.",
        detail: `received ${this.#sentBytes} of ${lengthBytes} bytes`,
      });
    return bytes;
  }
}

const tokensOf = ({ units }: Measured) => ({
  input: units.input ?? 0,
  output: units.audio_output ?? 0,
});

/** A count of nothing, where something was said, is none. */
function isCount(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}
