import { closeSync, existsSync, fstatSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Problem } from "../../base/problem.ts";
import type { WavHeader } from "../../base/wav.ts";

/**
 * A file that is written while the audio arrives. It is opened with the first audio, so a call that
 * fails earlier leaves an existing file unchanged.
 */
export class AudioFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #sizeBytes = 0;

  constructor(path: string) {
    this.#path = path;
    if (existsSync(path) && statSync(path).isDirectory())
      throw new Problem({
        code: "invalid",
        message: `${path} is a directory. Specify a file in it.`,
      });
    if (!existsSync(dirname(path)))
      throw new Problem({
        code: "not_found",
        message: `Directory ${dirname(path)} does not exist.`,
      });
  }

  write(bytes: Uint8Array): void {
    try {
      this.#descriptor ??= openSync(this.#path, "w");
      for (let at = 0; at < bytes.length; )
        at += writeSync(this.#descriptor, bytes, at, bytes.length - at);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Problem({
        code: "failed",
        message: `${this.#path} cannot be written: ${why}`,
        cause,
      });
    }
    this.#sizeBytes += bytes.length;
  }

  /** The header of a streamed WAV does not know its sizes; many players need them. */
  finish(header: WavHeader | undefined): void {
    if (this.#descriptor === undefined) return;
    if (header !== undefined && header.dataBytes === undefined && this.#isPlain()) {
      this.#writeSize(4, this.#sizeBytes - 8);
      this.#writeSize(header.dataOffset - 4, this.#sizeBytes - header.dataOffset);
    }
    this.#close();
  }

  /** Removes the partial file of a call that failed; true if there was one. */
  abandon(): boolean {
    if (this.#descriptor === undefined) return false;
    const isPlain = this.#isPlain();
    this.#close();
    if (isPlain) rmSync(this.#path, { force: true });
    return isPlain;
  }

  /** A pipe or a device cannot be rewound, and is not ours to remove. */
  #isPlain(): boolean {
    return this.#descriptor !== undefined && fstatSync(this.#descriptor).isFile();
  }

  #writeSize(offset: number, sizeBytes: number): void {
    if (this.#descriptor === undefined || sizeBytes >= 0xffff_ffff) return;
    const field = new DataView(new ArrayBuffer(4));
    field.setUint32(0, sizeBytes, true);
    writeSync(this.#descriptor, field, 0, 4, offset);
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
