import type { BodyKind } from "./body-kinds.ts";

/** What a 200 has to be. */
export type ReplyKind =
  | BodyKind
  | "stored-response"
  | "deleted-response"
  | "input-items"
  | "transcription"
  | "models"
  | "model"
  | "health"
  | "preflight";

/** What one request of a case may be answered with. */
export interface Expectation {
  readonly reply: ReplyKind;
  readonly statuses: readonly number[];
  /** The fields of which a 400 must blame one, or what lies below it. */
  readonly fields?: readonly string[];
  /** Replies to HEAD have no body. */
  readonly isHead?: true;
  /** How a chat request that is served wants its reply. */
  readonly form?: "json" | "events";
}

/**
 * good: whole HTTP, which our code answers. odd: legal or nearly so; either our code answers or the
 * runtime's parser refuses. broken: no request can be read from it; only the parser may refuse, or
 * the connection ends. version: like broken, but the parser may also say 505.
 */
export type HttpForm = "good" | "odd" | "broken" | "version";

export interface FuzzCase {
  readonly group: string;
  /** What is odd about it, for a person. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly form: HttpForm;
  /** One for each request in the bytes. */
  readonly expects: readonly Expectation[];
  /** Has a connection of its own, which is of no use to others afterwards. */
  readonly isAlone?: true;
  /** Ends our side of the connection behind the bytes, so that nobody waits for the rest. */
  readonly halfCloses?: true;
  /** Where the bytes are cut into two writes. */
  readonly cutAt?: number;
}

export interface RequestOptions {
  readonly method?: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** Sizes of the chunks of a chunked body; without them it has a content-length. */
  readonly chunks?: readonly number[];
}

export function toRequest(options: RequestOptions): Buffer {
  const { method = "POST", target, body, chunks } = options;
  const fields: (readonly [string, string])[] = [["host", "gateway.test"], ...options.headers];
  if (body !== undefined && chunks !== undefined) fields.push(["transfer-encoding", "chunked"]);
  else if (body !== undefined) fields.push(["content-length", String(body.length)]);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, "latin1");
  if (body === undefined) return head;
  return Buffer.concat([head, chunks === undefined ? body : toChunks(body, chunks)]);
}

/** The sizes are used in turn, again and again. */
function toChunks(body: Buffer, sizes: readonly number[]): Buffer {
  const pieces: Buffer[] = [];
  for (let from = 0, turn = 0; from < body.length; turn++) {
    const piece = body.subarray(from, from + Math.max(1, sizes[turn % sizes.length] ?? 1));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
    from += piece.length;
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}
