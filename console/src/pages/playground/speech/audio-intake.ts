import { readWavHeader, wavHeader } from "../../../../../src/base/wav.ts";

/** All speech is 24 kHz, mono, 16-bit. */
const samplesASecond = 24_000;
const bytesASecond = samplesASecond * 2;
/** One level stands for 20 ms. */
const samplesALevel = samplesASecond / 50;

/** Takes audio as it comes, and knows at any moment how loud it is where. */
export class AudioIntake {
  readonly #isWav: boolean;
  #samples: Uint8Array<ArrayBuffer>[] = [];
  /** Bytes that are not samples yet: a header that is not whole, or half a sample. */
  #pending: Uint8Array = new Uint8Array();
  #isHeaderRead: boolean;
  #sizeBytes = 0;
  #inLevel = 0;
  readonly #levels: number[] = [];

  constructor(format: "wav" | "pcm") {
    this.#isWav = format === "wav";
    this.#isHeaderRead = !this.#isWav;
  }

  add(chunk: Uint8Array): void {
    let bytes = joined(this.#pending, chunk);
    if (!this.#isHeaderRead) {
      const header = readWavHeader(bytes);
      if (!header.ok) {
        this.#pending = bytes;
        return;
      }
      this.#isHeaderRead = true;
      bytes = bytes.slice(header.dataOffset);
    }
    const whole = bytes.length - (bytes.length % 2);
    this.#pending = bytes.slice(whole);
    this.#take(bytes.slice(0, whole));
  }

  get seconds(): number {
    return this.#sizeBytes / bytesASecond;
  }

  /** From 0 to 1, one for each 20 ms. */
  get levels(): readonly number[] {
    return this.#levels;
  }

  /** With sizes that are right, which the header of a stream cannot have. */
  toWav(): Blob {
    return new Blob([wavHeader({ dataBytes: this.#sizeBytes }), ...this.#samples], {
      type: "audio/wav",
    });
  }

  toPcm(): Blob {
    return new Blob(this.#samples, { type: "audio/pcm" });
  }

  #take(bytes: Uint8Array<ArrayBuffer>): void {
    if (bytes.length === 0) return;
    this.#samples.push(bytes);
    this.#sizeBytes += bytes.length;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.length; at += 2) {
      if (this.#inLevel === 0) this.#levels.push(0);
      const level = Math.abs(view.getInt16(at, true)) / 32_768;
      const last = this.#levels.length - 1;
      if (level > (this.#levels[last] ?? 0)) this.#levels[last] = level;
      this.#inLevel = (this.#inLevel + 1) % samplesALevel;
    }
  }
}

export const levelsASecond = samplesASecond / samplesALevel;

/** So many bars for so many levels; those that have not come yet are 0. */
export function toBars(options: {
  readonly levels: readonly number[];
  readonly count: number;
  /** How many levels there will be, as far as one can tell. */
  readonly total: number;
}): readonly number[] {
  const { levels, count, total } = options;
  const each = Math.max(total, levels.length, 1) / count;
  return Array.from({ length: count }, (_, at) => {
    const from = Math.floor(at * each);
    const to = Math.max(Math.floor((at + 1) * each), from + 1);
    return levels.slice(from, to).reduce((most, level) => Math.max(most, level), 0);
  });
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
}
