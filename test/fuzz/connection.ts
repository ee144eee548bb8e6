import { connect, type Socket } from "node:net";

/** A reply as it came off the wire. */
export interface WireReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export interface Outcome {
  readonly replies: readonly WireReply[];
  /** open: all replies came and the connection can be used again. */
  readonly end: "open" | "closed" | "timed out" | "malformed";
  /** Bytes behind the last reply that nobody asked for. */
  readonly leftBytes: number;
  readonly tookMs: number;
}

export interface Sending {
  readonly bytes: Buffer;
  readonly cutAt?: number;
  /** How many replies to wait for; without it, until the other side ends the connection. */
  readonly replies: readonly { readonly isHead?: true }[];
  readonly halfCloses?: true;
  readonly deadlineMs: number;
}

/** One TCP connection that sends exactly the given bytes and reads replies to the letter. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (bytes: Buffer) => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    for (const event of ["end", "close", "error"])
      this.#socket.on(event, () => {
        this.#isClosed = true;
        this.#wake();
      });
  }

  get isUsable(): boolean {
    return !this.#isClosed && this.#received.length === 0;
  }

  async exchange(sending: Sending): Promise<Outcome> {
    const startedMs = performance.now();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, sending.deadlineMs);
    this.#send(sending);
    const replies: WireReply[] = [];
    let end: Outcome["end"] = "open";
    for (const { isHead = false } of sending.replies) {
      let parsed: Parsed | undefined;
      for (;;) {
        parsed = parseReply({ bytes: this.#received, isHead, isOver: this.#isClosed });
        if (parsed !== undefined || isLate || this.#isClosed) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (parsed === undefined || parsed === "malformed") {
        if (parsed === "malformed") end = "malformed";
        else end = this.#isClosed ? "closed" : "timed out";
        break;
      }
      this.#received = this.#received.subarray(parsed.sizeBytes);
      replies.push(parsed.reply);
    }
    clearTimeout(timer);
    const tookMs = performance.now() - startedMs;
    return { replies, end, leftBytes: this.#received.length, tookMs };
  }

  close(): void {
    this.#socket.destroy();
  }

  #send({ bytes, cutAt, halfCloses }: Sending): void {
    if (cutAt === undefined) this.#socket.write(bytes);
    else {
      this.#socket.write(bytes.subarray(0, cutAt));
      setImmediate(() => this.#socket.write(bytes.subarray(cutAt)));
    }
    if (halfCloses === true) this.#socket.end();
  }
}

interface ParsedReply {
  readonly reply: WireReply;
  readonly sizeBytes: number;
}
type Parsed = ParsedReply | "malformed";

interface Reading {
  readonly bytes: Buffer;
  readonly isHead: boolean;
  /** Nothing more will come: a body without a length is whole. */
  readonly isOver: boolean;
}

/** Undefined as long as something is missing. */
function parseReply({ bytes, isHead, isOver }: Reading): Parsed | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [startLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(startLine)?.[1] ?? 0);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colonAt = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colonAt)).toLowerCase();
    // A header twice is as wrong as one without a name: nothing of ours repeats.
    if (name === "" || headers.has(name)) return "malformed";
    headers.set(name, line.slice(colonAt + 1).trim());
  }
  if (status === 0) return "malformed";
  const from = headEnd + 4;
  if (status >= 100 && status < 200) {
    const next = parseReply({ bytes: bytes.subarray(from), isHead, isOver });
    return typeof next === "object" ? { ...next, sizeBytes: next.sizeBytes + from } : next;
  }
  const whole = (body: Buffer, end: number): ParsedReply => ({
    reply: { status, headers, body },
    sizeBytes: end,
  });
  const length = headers.get("content-length");
  if (isHead || status === 204 || status === 304) return whole(Buffer.alloc(0), from);
  if (headers.get("transfer-encoding") === "chunked") {
    const chunks = readChunks(bytes, from);
    return typeof chunks === "object" ? whole(chunks.body, chunks.end) : chunks;
  }
  if (length === undefined) return isOver ? whole(bytes.subarray(from), bytes.length) : undefined;
  const end = from + Number(length);
  if (!Number.isSafeInteger(end)) return "malformed";
  return bytes.length < end ? undefined : whole(bytes.subarray(from, end), end);
}

function readChunks(
  bytes: Buffer,
  from: number,
): { readonly body: Buffer; readonly end: number } | "malformed" | undefined {
  const pieces: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const digits = bytes.toString("latin1", at, lineEnd);
    if (!/^[0-9a-f]{1,8}$/i.test(digits)) return "malformed";
    const start = lineEnd + 2;
    const end = start + Number.parseInt(digits, 16);
    if (bytes.length < end + 2) return undefined;
    if (bytes.toString("latin1", end, end + 2) !== "\r\n") return "malformed";
    if (end === start) return { body: Buffer.concat(pieces), end: end + 2 };
    pieces.push(bytes.subarray(start, end));
    at = end + 2;
  }
}
