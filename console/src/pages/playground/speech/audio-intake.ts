/** All speech is 24 kHz, mono, 16-bit. */
const samplesASecond = 24_000;
const bytesASecond = samplesASecond * 2;
/** One level stands for 20 ms. */
const samplesALevel = samplesASecond / 50;
const headerBytes = 44;

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
      const offset = dataOffset(bytes);
      if (offset === undefined) {
        this.#pending = bytes;
        return;
      }
      this.#isHeaderRead = true;
      bytes = bytes.slice(offset);
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
    return new Blob([toHeader(this.#sizeBytes), ...this.#samples], { type: "audio/wav" });
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

/** Where the samples begin; undefined while the header is not whole. */
function dataOffset(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length; at += 8 + view.getUint32(at + 4, true))
    if (String.fromCharCode(...bytes.subarray(at, at + 4)) === "data") return at + 8;
  return undefined;
}

function toHeader(sizeBytes: number): ArrayBuffer {
  const header = new DataView(new ArrayBuffer(headerBytes));
  const write = (at: number, text: string) =>
    [...text].forEach((letter, index) => header.setUint8(at + index, letter.charCodeAt(0)));
  write(0, "RIFF");
  header.setUint32(4, headerBytes - 8 + sizeBytes, true);
  write(8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, 1, true);
  header.setUint32(24, samplesASecond, true);
  header.setUint32(28, bytesASecond, true);
  header.setUint16(32, 2, true);
  header.setUint16(34, 16, true);
  write(36, "data");
  header.setUint32(40, sizeBytes, true);
  return header.buffer;
}
