/**
 * Reads one HTTP/1.1 message off bytes that arrive in any split. The fake uses it twice: for the
 * requests it receives, and over its own replies, to know when a scripted reply is complete.
 */

const MAX_BODY_BYTES = 40 * 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024;
const MAX_HEADER_LINES = 200;

type State =
  | "start-line"
  | "header-line"
  | "length-data"
  | "chunk-size"
  | "chunk-data"
  | "chunk-end"
  | "trailer-line"
  | "until-close"
  | "complete";

export class MalformedMessage extends Error {
  readonly status: 400 | 413 | 431;

  constructor(message: string, status: 400 | 413 | 431 = 400) {
    super(message);
    this.status = status;
  }
}

export class MessageReader {
  readonly headers: Record<string, string> = {};
  readonly #kind: "request" | "reply";
  readonly #body: Uint8Array[] = [];
  #startLine = "";
  #state: State = "start-line";
  #line = Buffer.alloc(0);
  #headerLines = 0;
  #bodyBytes = 0;
  #remainingBytes = 0;

  constructor(kind: "request" | "reply") {
    this.#kind = kind;
  }

  get startLine(): string {
    return this.#startLine;
  }

  get complete(): boolean {
    return this.#state === "complete";
  }

  /** True for a reply whose end is the end of the connection. */
  get endsWithConnection(): boolean {
    return this.#state === "until-close";
  }

  get body(): Buffer {
    return Buffer.concat(this.#body);
  }

  /** Takes what belongs to this message and hands back what lies behind its end. */
  push(bytes: Uint8Array): Uint8Array {
    let rest = bytes;
    while (rest.length > 0 && this.#state !== "complete") {
      rest = this.#takesData() ? this.#takeData(rest) : this.#takeLine(rest);
    }
    return rest;
  }

  #takesData(): boolean {
    return (
      this.#state === "length-data" || this.#state === "chunk-data" || this.#state === "until-close"
    );
  }

  #takeData(bytes: Uint8Array): Uint8Array {
    if (this.#state === "until-close") return bytes.subarray(bytes.length);
    const data = bytes.subarray(0, this.#remainingBytes);
    this.#remainingBytes -= data.length;
    // A reply is only followed, not kept: a flood may be larger than memory.
    if (this.#kind === "request") this.#body.push(data);
    if (this.#remainingBytes === 0) {
      this.#state = this.#state === "chunk-data" ? "chunk-end" : "complete";
    }
    return bytes.subarray(data.length);
  }

  #takeLine(bytes: Uint8Array): Uint8Array {
    const lineFeedAt = bytes.indexOf(0x0a);
    const end = lineFeedAt === -1 ? bytes.length : lineFeedAt + 1;
    this.#line = Buffer.concat([this.#line, bytes.subarray(0, end)]);
    if (this.#line.length > MAX_LINE_BYTES) throw new MalformedMessage("line too long", 431);
    if (lineFeedAt !== -1) {
      const line = this.#line.toString("latin1").replace(/\r?\n$/, "");
      this.#line = Buffer.alloc(0);
      this.#acceptLine(line);
    }
    return bytes.subarray(end);
  }

  #acceptLine(line: string): void {
    switch (this.#state) {
      case "start-line":
        this.#startLine = line;
        this.#state = "header-line";
        return;
      case "header-line":
        if (line === "") this.#beginBody();
        else this.#acceptHeader(line);
        return;
      case "chunk-size":
        this.#beginChunk(line);
        return;
      case "chunk-end":
        if (line !== "") throw new MalformedMessage("chunk longer than its size");
        this.#state = "chunk-size";
        return;
      case "trailer-line":
        if (line === "") this.#state = "complete";
        return;
      case "length-data":
      case "chunk-data":
      case "until-close":
      case "complete":
        throw new Error(`no line is read in state ${this.#state}`);
      default:
        this.#state satisfies never;
    }
  }

  #acceptHeader(line: string): void {
    const colonAt = line.indexOf(":");
    if (colonAt < 1) throw new MalformedMessage("header without a name");
    this.#headerLines += 1;
    if (this.#headerLines > MAX_HEADER_LINES) throw new MalformedMessage("too many headers", 431);
    const name = line.slice(0, colonAt).toLowerCase();
    const value = line.slice(colonAt + 1).trim();
    const earlier = this.headers[name];
    this.headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }

  #beginBody(): void {
    const encoding = this.headers["transfer-encoding"];
    const length = this.headers["content-length"];
    if (encoding !== undefined) {
      if (length !== undefined) throw new MalformedMessage("both a length and chunks");
      if (encoding.toLowerCase() !== "chunked") throw new MalformedMessage("unknown encoding");
      this.#state = "chunk-size";
    } else if (length !== undefined) {
      if (!/^\d+$/.test(length)) throw new MalformedMessage("length is not one number");
      this.#expectBytes(Number(length));
      this.#state = this.#remainingBytes === 0 ? "complete" : "length-data";
    } else {
      this.#state = this.#hasNoBody() ? "complete" : "until-close";
    }
  }

  #hasNoBody(): boolean {
    return this.#kind === "request" || /^HTTP\/1\.1 (1\d\d|204|304)\b/.test(this.#startLine);
  }

  #beginChunk(line: string): void {
    const size = line.split(";", 1)[0]?.trim() ?? "";
    if (!/^[0-9a-f]{1,8}$/i.test(size)) throw new MalformedMessage("chunk without a size");
    this.#expectBytes(Number.parseInt(size, 16));
    this.#state = this.#remainingBytes === 0 ? "trailer-line" : "chunk-data";
  }

  #expectBytes(count: number): void {
    this.#remainingBytes = count;
    this.#bodyBytes += count;
    if (this.#kind === "request" && this.#bodyBytes > MAX_BODY_BYTES) {
      throw new MalformedMessage("body too large", 413);
    }
  }
}
