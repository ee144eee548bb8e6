/**
 * Reads one HTTP reply after another and says when it is whole and whether it is the one that was
 * due. Knows only what the bench's own replies look like: a chat reply has the marker and the model
 * in it and the announced length; a stream has the marker once a chunk and ends as streams end.
 */
import { contentLengthOf, marker, streamTail } from "./traffic.ts";

export type Expected =
  | { readonly kind: "chat"; readonly model: string }
  | { readonly kind: "stream"; readonly chunks: number };

export type Verdict = "unfinished" | "whole" | { readonly wrong: string };

const maxReplyBytes = 64 * 1024;

export class Reply {
  /** Content events so far; of no meaning for a chat reply. */
  chunks = 0;
  readonly #expected: Expected;
  /** Of a stream, once its head is read, only the end that may still matter. */
  #text = "";
  #bodyStart = -1;
  #length: number | undefined;

  constructor(expected: Expected) {
    this.#expected = expected;
  }

  restart(): void {
    this.chunks = 0;
    this.#text = "";
    this.#bodyStart = -1;
    this.#length = undefined;
  }

  read(data: Buffer): Verdict {
    this.#text += data.toString("latin1");
    if (this.#text.length > maxReplyBytes) return { wrong: "reply without end" };
    if (this.#bodyStart < 0) {
      const headEnd = this.#text.indexOf("\r\n\r\n");
      if (headEnd < 0) return "unfinished";
      if (!this.#text.startsWith("HTTP/1.1 200 ")) return this.#wrong("status is not 200");
      this.#bodyStart = headEnd + 4;
      this.#length = contentLengthOf(this.#text.slice(0, headEnd));
    }
    const expected = this.#expected;
    return expected.kind === "chat"
      ? this.#readChat(expected.model)
      : this.#readStream(expected.chunks);
  }

  #readChat(model: string): Verdict {
    const text = this.#text;
    const length = this.#length;
    const whole =
      length === undefined
        ? text.endsWith("\r\n0\r\n\r\n")
        : text.length >= this.#bodyStart + length;
    if (!whole) return "unfinished";
    if (length !== undefined && text.length > this.#bodyStart + length) {
      return this.#wrong("longer than announced");
    }
    const right =
      text.includes(marker, this.#bodyStart) &&
      text.includes(`"model":"${model}"`, this.#bodyStart) &&
      text.endsWith(length === undefined ? "}\r\n0\r\n\r\n" : "}");
    return right ? "whole" : this.#wrong("not the reply that was due");
  }

  #readStream(chunks: number): Verdict {
    const text = this.#text;
    if (this.#length !== undefined) return this.#wrong("a stream of announced length");
    let seenTo = this.#bodyStart;
    for (let at = text.indexOf(marker, seenTo); at >= 0; at = text.indexOf(marker, seenTo)) {
      this.chunks++;
      seenTo = at + marker.length;
    }
    if (!text.endsWith("\r\n0\r\n\r\n")) {
      // A packet's border may cut a marker or the tail in two, so that much is kept.
      this.#text = text.slice(Math.max(seenTo, text.length - streamTail.length));
      this.#bodyStart = 0;
      return "unfinished";
    }
    if (!text.endsWith(streamTail)) return this.#wrong("stream ended without [DONE]");
    return this.chunks === chunks
      ? "whole"
      : this.#wrong(`${this.chunks} chunks instead of ${chunks}`);
  }

  #wrong(reason: string): Verdict {
    return { wrong: `${reason}: ${JSON.stringify(this.#text.slice(0, 600))}` };
  }
}
