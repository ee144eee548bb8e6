import { ApiError } from "../../../base/errors.ts";
import { wavHeader } from "../../../media/wav.ts";
import type { StreamSource } from "../../stream-reply.ts";
import type { Pcm } from "./pcm.ts";

/**
 * Audio as it arrives, behind a WAV header where one is wanted. An audio body has no place for an
 * error: one that breaks is broken off, so that no client takes half a sentence for a whole one.
 */
export class SpeechSource implements StreamSource {
  readonly #pcm: Pcm;
  readonly #asWav: boolean;
  #sentBytes = 0;
  #begun = false;

  constructor(pcm: Pcm, asWav: boolean) {
    this.#pcm = pcm;
    this.#asWav = asWav;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#begun) return this.#count(await this.#pcm.rest.read());
    this.#begun = true;
    const { first, lengthBytes } = this.#pcm;
    this.#count(first);
    if (!this.#asWav) return first;
    const header = lengthBytes === undefined ? wavHeader() : wavHeader({ dataBytes: lengthBytes });
    return Buffer.concat([header, first]);
  }

  cancel(): void {
    this.#pcm.rest.cancel();
  }

  fail(): undefined {}

  #count(bytes: Uint8Array | undefined): Uint8Array | undefined {
    this.#sentBytes += bytes?.length ?? 0;
    const { lengthBytes } = this.#pcm;
    if (bytes === undefined && lengthBytes !== undefined && this.#sentBytes < lengthBytes)
      throw new ApiError({
        code: "upstream_error",
        message: "The audio broke off.",
        detail: `${this.#sentBytes} of ${lengthBytes} bytes came`,
      });
    return bytes;
  }
}
