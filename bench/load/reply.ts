/**
 * Reads one HTTP reply after another and says when it is whole and whether it is the one that was
 * due. Knows only what the bench's own replies look like: a chat reply has the marker and the model
 * in it and the announced length; a stream has the marker once per chunk and ends as streams end;
 * vectors and audio are compared number by number and byte by byte.
 */
import { BodyReader } from "./body-reader.ts";
import { type Encoding, speechBytes, vectors } from "./media-traffic.ts";
import { contentLengthOf, type LoadDialect, marker, streamMarks } from "./traffic.ts";

export type Expected =
  | { readonly kind: "chat"; readonly model: string }
  | {
      readonly kind: "stream";
      readonly chunks: number;
      /** Default: chat completions. */
      readonly dialect?: LoadDialect | undefined;
    }
  | { readonly kind: "embeddings"; readonly encoding: Encoding }
  | { readonly kind: "speech" };

/** Refused: a whole reply with a status that asks the caller to come back later. */
export type Verdict =
  | "unfinished"
  | "whole"
  | { readonly refused: number }
  | { readonly wrong: string };

export interface ReplyReader {
  /** Content events so far; of no meaning for a reply that is not a stream. */
  readonly chunks: number;
  /** The server closes the connection after this reply. */
  readonly closes: boolean;
  restart(): void;
  read(data: Buffer): Verdict;
}

export function createReplyReader(expected: Expected): ReplyReader {
  return expected.kind === "chat" || expected.kind === "stream"
    ? new Reply(expected)
    : new MediaReply(expected);
}

const maxReplyBytes = 64 * 1024;
const refusals: readonly number[] = [429, 503];

type TextExpected = Extract<Expected, { kind: "chat" | "stream" }>;

class Reply implements ReplyReader {
  chunks = 0;
  closes = false;
  readonly #expected: TextExpected;
  /** Of a stream, once its head is read, only the end that may still matter. */
  #text = "";
  #bodyStart = -1;
  #length: number | undefined;
  #status = 0;
  #hasEnd = false;

  constructor(expected: TextExpected) {
    this.#expected = expected;
  }

  restart(): void {
    this.chunks = 0;
    this.closes = false;
    this.#text = "";
    this.#bodyStart = -1;
    this.#length = undefined;
    this.#status = 0;
    this.#hasEnd = false;
  }

  read(data: Buffer): Verdict {
    this.#text += data.toString("latin1");
    if (this.#text.length > maxReplyBytes) return { wrong: "reply without end" };
    if (this.#bodyStart < 0) {
      const headEnd = this.#text.indexOf("\r\n\r\n");
      if (headEnd < 0) return "unfinished";
      const head = this.#text.slice(0, headEnd);
      this.#status = head.startsWith("HTTP/1.1 ") ? Number(head.slice(9, 12)) : 0;
      this.#bodyStart = headEnd + 4;
      this.#length = contentLengthOf(head);
      this.closes = /\r\nconnection: *close/i.test(head);
    }
    const expected = this.#expected;
    if (refusals.includes(this.#status)) return this.#readRefusal();
    if (this.#status !== 200) return this.#wrong("status is not 200");
    return expected.kind === "chat" ? this.#readChat(expected.model) : this.#readStream(expected);
  }

  #readRefusal(): Verdict {
    return this.#isWhole() ? { refused: this.#status } : "unfinished";
  }

  #isWhole(): boolean {
    const length = this.#length;
    return length === undefined
      ? this.#text.endsWith("\r\n0\r\n\r\n")
      : this.#text.length >= this.#bodyStart + length;
  }

  #readChat(model: string): Verdict {
    if (!this.#isWhole()) return "unfinished";
    const text = this.#text;
    const length = this.#length;
    if (length !== undefined && text.length > this.#bodyStart + length) {
      return this.#wrong("longer than announced");
    }
    const right =
      text.includes(marker, this.#bodyStart) &&
      text.includes(`"model":"${model}"`, this.#bodyStart) &&
      // A line break after the object is as good.
      /\}\n?(\r\n0\r\n\r\n)?$/.test(text.slice(-10));
    return right ? "whole" : this.#wrong("not the reply that was due");
  }

  #readStream({ chunks, dialect = "chat" }: Extract<Expected, { kind: "stream" }>): Verdict {
    const text = this.#text;
    const { content, end } = streamMarks[dialect];
    if (this.#length !== undefined) return this.#wrong("a stream of announced length");
    let seenTo = this.#bodyStart;
    for (let at = text.indexOf(content, seenTo); at >= 0; at = text.indexOf(content, seenTo)) {
      this.chunks++;
      seenTo = at + content.length;
    }
    this.#hasEnd ||= text.includes(end, this.#bodyStart);
    if (!text.endsWith("\r\n0\r\n\r\n")) {
      // A packet's border may cut a mark in two, so that much is kept.
      const kept = Math.max(content.length, end.length);
      this.#text = text.slice(Math.max(seenTo, text.length - kept));
      this.#bodyStart = 0;
      return "unfinished";
    }
    if (!this.#hasEnd) return this.#wrong("stream ended without its last event");
    return this.chunks === chunks
      ? "whole"
      : this.#wrong(`${this.chunks} chunks instead of ${chunks}`);
  }

  #wrong(reason: string): Verdict {
    return { wrong: `${reason}: ${JSON.stringify(this.#text.slice(0, 600))}` };
  }
}

type MediaExpected = Extract<Expected, { kind: "embeddings" | "speech" }>;

class MediaReply implements ReplyReader {
  readonly chunks = 0;
  readonly #body = new BodyReader();
  readonly #expected: MediaExpected;
  /** The last body that was right: most replies are the same, byte by byte. */
  #right: Buffer | undefined;

  constructor(expected: MediaExpected) {
    this.#expected = expected;
  }

  get closes(): boolean {
    return this.#body.closes;
  }

  restart(): void {
    this.#body.restart();
  }

  read(data: Buffer): Verdict {
    const verdict = this.#body.read(data);
    if (verdict !== "whole") return verdict;
    const { body, status } = this.#body;
    if (refusals.includes(status)) return { refused: status };
    if (status !== 200)
      return { wrong: `status is not 200: ${status} ${body.toString("latin1", 0, 600)}` };
    if (this.#right?.equals(body) === true) return "whole";
    const problem =
      this.#expected.kind === "speech"
        ? speechProblem(body)
        : vectorsProblem(body, this.#expected.encoding);
    if (problem !== undefined) return { wrong: problem };
    this.#right = Buffer.from(body);
    return "whole";
  }
}

function speechProblem(body: Buffer): string | undefined {
  return body.equals(speechBytes) ? undefined : `other audio, of ${body.length} bytes`;
}

/** As float32: a proxy may have converted the numbers from base64. */
function vectorsProblem(body: Buffer, encoding: Encoding): string | undefined {
  const text = body.toString("latin1");
  try {
    const { data } = JSON.parse(text) as { data: { index: number; embedding: unknown }[] };
    const expected = vectors();
    if (data.length !== expected.length) return `${data.length} vectors`;
    for (const [at, { index, embedding }] of data.entries()) {
      const isText = typeof embedding === "string";
      if (isText !== (encoding === "base64")) return `not in the format ${encoding}`;
      const numbers = isText ? fromBase64(embedding) : (embedding as readonly number[]);
      const due = expected[at] ?? [];
      const isSame =
        index === at &&
        numbers.length === due.length &&
        due.every((value, place) => Math.fround(numbers[place] ?? 0) === Math.fround(value));
      if (!isSame) return `another vector at ${at}`;
    }
    return undefined;
  } catch {
    return `not an embeddings reply: ${text.slice(0, 600)}`;
  }
}

function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, "base64");
  return new Float32Array(new Uint8Array(bytes).buffer);
}
