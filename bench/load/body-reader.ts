/**
 * Reads the body of one HTTP reply after another, of a stated length or in chunks, into one buffer
 * that is used again: replies of several megabytes must not cost the generator more than a copy.
 */

/** Above every reply of the bench: 100 vectors with 20 bytes per number have 6 MB. */
const maxBodyBytes = 16 * 1024 * 1024;
const maxHeadBytes = 16 * 1024;

export type BodyVerdict = "unfinished" | "whole" | { readonly wrong: string };

export class BodyReader {
  status = 0;
  /** The server closes the connection after this reply. */
  closes = false;
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;
  #head = "";
  #isHeadRead = false;
  /** Undefined: chunked. */
  #announced: number | undefined;
  /** Of the current chunk, with the line break after it; 0: a size line is due. */
  #chunkLeft = 0;
  #sizeLine = "";
  #isLastChunk = false;

  restart(): void {
    this.status = 0;
    this.closes = false;
    this.#length = 0;
    this.#head = "";
    this.#isHeadRead = false;
    this.#announced = undefined;
    this.#chunkLeft = 0;
    this.#sizeLine = "";
    this.#isLastChunk = false;
  }

  /** Of a whole reply, until the next one. */
  get body(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  read(data: Buffer): BodyVerdict {
    if (this.#isHeadRead) return this.#readBody(data);
    const before = this.#head.length;
    this.#head += data.toString("latin1");
    const headEnd = this.#head.indexOf("\r\n\r\n");
    if (headEnd < 0)
      return this.#head.length > maxHeadBytes ? { wrong: "head without end" } : "unfinished";
    this.#isHeadRead = true;
    const head = this.#head.slice(0, headEnd);
    this.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    this.closes = /\r\nconnection: *close/i.test(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#announced = length === undefined ? undefined : Number(length);
    if (this.status === 0) return { wrong: "not HTTP/1.1" };
    if (length === undefined && !/\r\ntransfer-encoding: *chunked/i.test(head))
      return { wrong: "a reply without a length" };
    return this.#readBody(data.subarray(headEnd + 4 - before));
  }

  #readBody(data: Buffer): BodyVerdict {
    if (this.#length + data.length > maxBodyBytes) return { wrong: "reply without end" };
    if (this.#announced === undefined) return this.#readChunks(data);
    this.#append(data);
    if (this.#length > this.#announced) return { wrong: "longer than announced" };
    return this.#length === this.#announced ? "whole" : "unfinished";
  }

  #readChunks(data: Buffer): BodyVerdict {
    let at = 0;
    while (at < data.length) {
      if (this.#chunkLeft === 0) {
        const lineEnd = data.indexOf("\n", at);
        this.#sizeLine += data.toString("latin1", at, lineEnd < 0 ? data.length : lineEnd);
        if (lineEnd < 0) return "unfinished";
        const size = Number.parseInt(this.#sizeLine, 16);
        this.#sizeLine = "";
        if (Number.isNaN(size)) return { wrong: "a chunk without a size" };
        this.#isLastChunk = size === 0;
        this.#chunkLeft = size + 2;
        at = lineEnd + 1;
      }
      const end = Math.min(data.length, at + this.#chunkLeft);
      // The last two bytes of a chunk are its line break.
      const content = Math.max(0, Math.min(end - at, this.#chunkLeft - 2));
      this.#append(data.subarray(at, at + content));
      this.#chunkLeft -= end - at;
      at = end;
      if (this.#chunkLeft > 0 || !this.#isLastChunk) continue;
      return at === data.length ? "whole" : { wrong: "bytes after the last chunk" };
    }
    return "unfinished";
  }

  #append(data: Buffer): void {
    const needed = this.#length + data.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    data.copy(this.#bytes, this.#length);
    this.#length = needed;
  }
}
