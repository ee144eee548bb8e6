/** So often joining costs nothing, though an upstream sends single bytes. */
const joinedPieces = 4_096;

/**
 * Server-sent events, from bytes to the data of each event.
 *
 * Lines may end in LF, CRLF or CR, events may be cut anywhere, also inside a character or between
 * the CR and the LF. Comments and fields other than `data` are dropped; but the data of an event that
 * is called `error` is put under that name, as those upstreams have it that use no event names. An unfinished line is kept
 * in pieces and joined only when its end arrives, so that a dripping upstream costs no more than a
 * fast one; what is kept is bounded.
 */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #maxEventChars: number;
  #pieces: string[] = [];
  #keptChars = 0;
  #data: string | undefined;
  #isError = false;
  #afterCr = false;
  /** Nothing is kept, and the next bytes begin an event; not known before the first bytes. */
  #isBetween = false;

  constructor(maxEventChars = 16 * 1024 * 1024) {
    this.#maxEventChars = maxEventChars;
  }

  /** The data of every event that these bytes complete. Throws RangeError past the bound. */
  push(bytes: Uint8Array, start = 0, end = bytes.length): string[] {
    const isEnd = end - start > 1 && bytes[end - 1] === lineFeed && bytes[end - 2] === lineFeed;
    // Read where it stands: a view of its own costs more than the reading.
    if (this.#isBetween && isEnd && Buffer.isBuffer(bytes)) {
      const events = plainEvents(bytes.toString("utf8", start, end));
      if (events !== undefined) return events;
    }
    const all = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    const events = this.#take(this.#decoder.decode(all, { stream: true }));
    // A cut character is not ASCII: behind a line feed the decoder keeps nothing.
    this.#isBetween = isEnd;
    return events;
  }

  /** At the end of the stream: an event that lacks its blank line still counts. */
  end(): string[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  #take(raw: string): string[] {
    const text = this.#onlyLineFeeds(raw);
    const events: string[] = [];
    let start = 0;
    let stop = text.indexOf("\n");
    while (stop !== -1) {
      this.#line(this.#whole(text.slice(start, stop)), events);
      start = stop + 1;
      stop = text.indexOf("\n", start);
    }
    if (start < text.length) this.#keep(text.slice(start));
    return events;
  }

  #onlyLineFeeds(raw: string): string {
    // A CR at the very end may be half of a CRLF: it ends its line now, and a LF that opens the
    // next bytes is the other half.
    const text = this.#afterCr && raw.startsWith("\n") ? raw.slice(1) : raw;
    if (raw !== "") this.#afterCr = raw.endsWith("\r");
    return text.includes("\r") ? text.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : text;
  }

  #whole(lastPiece: string): string {
    if (this.#pieces.length === 0) return lastPiece;
    this.#pieces.push(lastPiece);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#keptChars = this.#data?.length ?? 0;
    return line;
  }

  #keep(piece: string): void {
    this.#keptChars += piece.length;
    if (this.#keptChars > this.#maxEventChars) throw new RangeError("an event is too large");
    this.#pieces.push(piece);
    // Many short strings take far more memory than one long one.
    if (this.#pieces.length >= joinedPieces) this.#pieces = [this.#pieces.join("")];
  }

  #line(line: string, events: string[]): void {
    if (line === "") {
      if (this.#data !== undefined)
        events.push(this.#isError ? underError(this.#data) : this.#data);
      this.#isError = false;
      this.#data = undefined;
      this.#keptChars = 0;
      return;
    }
    if (!line.startsWith("data:")) {
      if (line.startsWith("event:")) this.#isError = line.slice(6).trim() === "error";
      return;
    }
    const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    this.#keptChars = this.#data.length;
    if (this.#keptChars > this.#maxEventChars) throw new RangeError("an event is too large");
  }
}

const lineFeed = 0x0a;

/**
 * Whole events of one `data: ` line each, perhaps behind their names, which is nearly all that servers
 * send; undefined where there is anything else.
 */
function plainEvents(text: string): string[] | undefined {
  const events: string[] = [];
  for (let at = 0; at < text.length; ) {
    // What an error says is put under that name.
    if (text.startsWith("event: ", at) && !text.startsWith("event: error", at))
      at = text.indexOf("\n", at) + 1;
    if (!text.startsWith("data: ", at)) return undefined;
    const end = text.indexOf("\n", at);
    if (text.charCodeAt(end + 1) !== lineFeed) return undefined;
    events.push(text.slice(at + 6, end));
    at = end + 2;
  }
  return text.includes("\r") ? undefined : events;
}

/** Errors are short: what says in its first bytes that it is one need not be searched to its end. */
const searchedChars = 4_096;

function underError(data: string): string {
  const start = data.slice(0, searchedChars);
  return /^\s*\{[^]*"error"\s*:/.test(start) ? data : `{"error":${data}}`;
}
