import { nextTurn } from "../../base/clock.ts";
import { parseBoundedInTurns, smallJsonChars } from "../../base/json/bounds.ts";
import { hasLongIntegers, parseExact } from "../../base/json/exact.ts";
import type { Signal } from "../../call/signal.ts";
import type { ReplyHeaders } from "./error-body.ts";
import { upstreamError } from "./failure.ts";

/** Our own copy of what came. */
export type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A part of a packet. Most is read as text where it stands: a view of its own, with all that the
 * runtime keeps for it, costs several times as much.
 */
export class Piece {
  readonly packet: Bytes;
  readonly start: number;
  readonly end: number;

  constructor(packet: Bytes, start: number, end: number) {
    this.packet = packet;
    this.start = start;
    this.end = end;
  }

  get length(): number {
    return this.end - this.start;
  }

  get bytes(): Bytes {
    const { packet, start, end } = this;
    return start === 0 && end === packet.length ? packet : packet.subarray(start, end);
  }

  get text(): string {
    const { packet, start, end } = this;
    return Buffer.isBuffer(packet) ? packet.toString("utf8", start, end) : toText(this.bytes);
  }
}

/** A vendor's reply: its head is here, its body comes. Whoever gets one reads it or cancels it. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: ReplyHeaders & { entries(): Iterable<[string, string]> };
  /** All of it has arrived: there is nothing to wait for. */
  readonly isEnded: boolean;
  /** The next piece of the body; undefined at its end. */
  next(): Promise<Piece | undefined>;
  /** The same as bytes. */
  read(): Promise<Bytes | undefined>;
  /**
   * The whole body: at once where all of it is here, which short replies are. Fails with a
   * RangeError where it is longer than may be.
   */
  whole(maxBytes: number): Piece | Promise<Piece>;
  /** Ends a reply that nobody will read on. */
  cancel(): void;
}

/** A hundred vectors of 3,072 numbers, one to a line, are nine million bytes; no chat is longer. */
export const maxReplyBytes = 16 * 1024 * 1024;

/** A reply of the runtime's own client. */
export class FetchReply implements UpstreamReply {
  /** A `Response` of our own cannot have every status that a vendor may send. */
  readonly status: number;
  readonly #response: Response;
  #reader: ReadableStreamDefaultReader<Bytes> | undefined;

  constructor(response: Response, status = response.status) {
    this.#response = response;
    this.status = status;
  }

  get headers(): Headers {
    return this.#response.headers;
  }

  get isEnded(): boolean {
    return this.#response.body === null;
  }

  async read(): Promise<Bytes | undefined> {
    this.#reader ??= this.#response.body?.getReader();
    return (await this.#reader?.read())?.value;
  }

  async next(): Promise<Piece | undefined> {
    const bytes = await this.read();
    return bytes === undefined ? undefined : toPiece(bytes);
  }

  whole(maxBytes: number): Promise<Piece> {
    const length = this.headers.get("content-length");
    // The runtime's own reader is quicker, where the size is known.
    if (length !== null && Number(length) <= maxBytes) return this.#response.bytes().then(toPiece);
    return gatherWhole(this, maxBytes);
  }

  cancel(): void {
    const body = this.#reader ?? this.#response.body;
    body?.cancel().catch(() => {});
  }
}

const toPiece = (bytes: Bytes) => new Piece(bytes, 0, bytes.length);

const firstBytes = 16 * 1024;

/** All of a body, in one buffer that grows: a piece of its own for each packet may take far more. */
export async function gatherWhole(
  reply: Pick<UpstreamReply, "read" | "cancel">,
  maxBytes: number,
  /** As the reply announced it, if it did. */
  expectedBytes?: number,
): Promise<Piece> {
  const { bytes, isWhole } = await gather(reply, { maxBytes, expectedBytes });
  if (!isWhole) throw new RangeError(`it is larger than ${maxBytes} bytes`);
  return toPiece(bytes);
}

/** The start of a body: what came within the time, up to a size. */
export async function readStart(
  reply: UpstreamReply,
  limits: { readonly maxBytes: number; readonly withinMs: number },
): Promise<string> {
  return (await gather(reply, limits)).bytes.toString("utf8");
}

interface GatherOptions {
  readonly maxBytes: number;
  readonly withinMs?: number | undefined;
  readonly expectedBytes?: number | undefined;
}

async function gather(
  reply: Pick<UpstreamReply, "read" | "cancel">,
  { maxBytes, withinMs, expectedBytes = firstBytes }: GatherOptions,
): Promise<{ readonly bytes: Buffer<ArrayBuffer>; readonly isWhole: boolean }> {
  // Memory that is never written to takes none: a length that was announced may be a lie.
  let kept = Buffer.allocUnsafe(Math.min(maxBytes, expectedBytes));
  let sizeBytes = 0;
  const timer = withinMs === undefined ? undefined : setTimeout(() => reply.cancel(), withinMs);
  try {
    for (;;) {
      const bytes = await reply.read();
      if (bytes === undefined) break;
      if (sizeBytes + bytes.length > kept.length)
        kept = grown(kept, sizeBytes + bytes.length, maxBytes);
      kept.set(bytes.subarray(0, kept.length - sizeBytes), sizeBytes);
      sizeBytes += bytes.length;
      if (sizeBytes <= maxBytes) continue;
      reply.cancel();
      break;
    }
  } finally {
    clearTimeout(timer);
  }
  const isWhole = sizeBytes <= maxBytes;
  return { bytes: kept.subarray(0, Math.min(sizeBytes, maxBytes)), isWhole };
}

/** Twice as large, or as large as needed; never larger than may be. */
function grown(kept: Buffer, neededBytes: number, maxBytes: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(neededBytes, 2 * kept.length)));
  larger.set(kept);
  return larger;
}

/** A reply as JSON, read only as far as it may go, whatever its headers promise. */
export async function readReply(reply: UpstreamReply, maxBytes = maxReplyBytes): Promise<unknown> {
  return parse(await reply.whole(maxBytes));
}

const byteOrderMark = 0xfeff;

function parse(piece: Piece, keepsIntegers = false): unknown {
  const raw = piece.text;
  const text = raw.charCodeAt(0) === byteOrderMark ? raw.slice(1) : raw;
  if (keepsIntegers && hasLongIntegers(text)) return parseExact(text);
  return text.length <= smallJsonChars ? JSON.parse(text) : parseBoundedInTurns(text);
}

function toText({ buffer, byteOffset, length }: Bytes): string {
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}

interface ReadOptions {
  readonly provider: string;
  readonly signal: Signal;
  readonly maxBytes?: number | undefined;
  /** Keeps integers that a number would round, as raw JSON: for replies that are written again. */
  readonly keepsIntegers?: boolean | undefined;
}

/**
 * The same, where anything that is no JSON is the upstream's failure; at once where all of it is
 * here.
 */
export function readJson(reply: UpstreamReply, options: ReadOptions): unknown {
  try {
    const whole = reply.whole(options.maxBytes ?? maxReplyBytes);
    const read = (piece: Piece) => parse(piece, options.keepsIntegers);
    const value = whole instanceof Promise ? whole.then(read) : read(whole);
    if (!(value instanceof Promise)) return value;
    return value.catch((cause: unknown) => {
      throw toUnreadable(cause, options);
    });
  } catch (cause) {
    throw toUnreadable(cause, options);
  }
}

function toUnreadable(cause: unknown, { provider, signal }: ReadOptions): unknown {
  if (signal.aborted) return signal.reason;
  // The parser's own words quote the reply.
  const kind = cause instanceof Error ? cause.name : typeof cause;
  const detail = `${provider} sent invalid JSON (${kind})`;
  return upstreamError("upstream_error", { detail, symptom: "not_an_api", cause });
}

const packings: Readonly<Record<string, string>> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "brotli",
  zstd: "zstd",
};

/** Piece by piece, as it is read: a small reply cannot become a large one in our memory. */
export function unpacked(reply: UpstreamReply): UpstreamReply {
  const packing = reply.headers.get("content-encoding");
  if (packing === null || packing === "identity") return reply;
  const format = packings[packing.toLowerCase()];
  if (format === undefined) return reply;
  const headers = new Headers([...reply.headers.entries()]);
  headers.delete("content-encoding");
  headers.delete("content-length");
  const body = toStream(reply).pipeThrough(new DecompressionStream(format as CompressionFormat));
  return new UnpackedReply(new Response(body, { headers }), reply.status);
}

/**
 * One packet can hold hundreds of megabytes, and its pieces are there at once: without turns of the
 * event loop between them, nothing else runs, not even what ends the call.
 */
class UnpackedReply extends FetchReply {
  override async read(): Promise<Bytes | undefined> {
    await nextTurn();
    return super.read();
  }
}

/** For packages that read replies of the runtime. */
export function toResponse(reply: UpstreamReply, body = toStream(reply)): Response {
  const { status, headers } = reply;
  return new Response(body, { status, headers: [...headers.entries()] });
}

/** Nothing is read ahead of its reader. */
function toStream(reply: UpstreamReply): ReadableStream<Bytes> {
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const bytes = await reply.read();
        if (bytes === undefined) controller.close();
        else controller.enqueue(bytes);
      },
      cancel: () => reply.cancel(),
    },
    { highWaterMark: 0 },
  );
}
