/** Builds whole HTTP/1.1 replies, byte for byte, in each of the three framings. */

import { STATUS_CODES } from "node:http";
import { gzipSync } from "node:zlib";

export type Bytes = string | Uint8Array;

/** How the reply tells where its body ends. `close`: by ending the connection. */
export type Framing = "length" | "chunked" | "close";

export interface Recording {
  readonly head: Uint8Array;
  /** The pieces of the body, framed: with `chunked`, each is an HTTP chunk of its own. */
  readonly parts: readonly Uint8Array[];
  /** The terminating chunk; empty in the other framings. */
  readonly end: Uint8Array;
  /** All of the above. */
  readonly bytes: Uint8Array;
}

interface ReplyOptions {
  readonly status?: number;
  /** Names as they go on the wire; they replace vendor headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: readonly Bytes[];
  readonly framing: Framing;
}

/** What OpenAI sends beside the answer: none of it is the caller's business. */
const VENDOR_HEADERS = {
  date: "Wed, 14 Oct 2026 09:00:00 GMT",
  server: "cloudflare",
  "x-request-id": "req_vendor0123456789",
  "openai-organization": "org-of-the-operator",
  "openai-processing-ms": "184",
  "openai-version": "2020-10-01",
  "set-cookie": "__cf_bm=vendor-cookie; path=/; HttpOnly; Secure",
};

export function httpReply(options: ReplyOptions): Recording {
  const { status = 200, headers = {}, framing } = options;
  // An empty chunk would be the terminating one.
  const pieces = options.body.map(toBuffer).filter((piece) => piece.length > 0);
  const sizeBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const fields = { ...VENDOR_HEADERS, ...headers, ...framingHeaders(framing, sizeBytes) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n${lines.join("")}\r\n`,
    "latin1",
  );
  const parts = framing === "chunked" ? pieces.map(httpChunk) : pieces;
  const end = Buffer.from(framing === "chunked" ? "0\r\n\r\n" : "");
  return { head, parts, end, bytes: Buffer.concat([head, ...parts, end]) };
}

export interface JsonReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly framing?: Framing;
  readonly gzip?: boolean;
}

export function jsonReply(options: JsonReplyOptions): Recording {
  const text = JSON.stringify(options.body);
  return httpReply({
    status: options.status ?? 200,
    headers: {
      "content-type": "application/json",
      ...(options.gzip === true ? { "content-encoding": "gzip" } : {}),
      ...options.headers,
    },
    body: [options.gzip === true ? gzipSync(text) : text],
    framing: options.framing ?? "length",
  });
}

/** An event stream, each piece of it in a packet of its own. */
export const eventReply = (body: readonly Bytes[]): Recording =>
  httpReply({ headers: { "content-type": "text/event-stream" }, body, framing: "chunked" });

/** One piece of a chunked body. */
export function httpChunk(data: Bytes): Uint8Array {
  const bytes = toBuffer(data);
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
}

export function toBuffer(data: Bytes): Buffer {
  return typeof data === "string"
    ? Buffer.from(data, "utf8")
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function framingHeaders(framing: Framing, sizeBytes: number): Record<string, string> {
  switch (framing) {
    case "length":
      return { "content-length": String(sizeBytes) };
    case "chunked":
      return { "transfer-encoding": "chunked" };
    case "close":
      return { connection: "close" };
    default:
      return framing satisfies never;
  }
}
