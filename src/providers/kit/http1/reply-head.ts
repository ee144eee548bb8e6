/** How far the body of a reply goes. */
export type Framing =
  | { readonly kind: "length"; readonly sizeBytes: number }
  | { readonly kind: "chunked" }
  /** Until the connection is closed. */
  | { readonly kind: "close" };

/** A reply that breaks the rules of HTTP/1.1. Nothing of it can be trusted. */
export class MalformedReplyError extends Error {
  override readonly name = "MalformedReplyError";
  readonly code = "MalformedReply";
}

/**
 * A status line and whole header lines, and nothing else: no folded lines, no space before a colon,
 * no control characters, no line that ends in a bare LF. Each class excludes what may follow it, so
 * the match takes one pass. No vendor sends half as many fields.
 */
const form =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?(?:\r\n[!#-'*+\-.0-9A-Z^-z|~]+:[\t -~\x80-\xff]*){0,256}$/;
/** Only these decide where a reply ends. One search for all of them is quicker than a look at each line. */
const telling = /\r\n(?:content-length|transfer-encoding|connection|keep-alive):[^\r]*/gi;
const lengthForm = /^\d{1,15}$/;
const none: readonly string[] = [];
const noBody = { kind: "length", sizeBytes: 0 } as const;
const chunked = { kind: "chunked" } as const;
const untilClose = { kind: "close" } as const;

/** The status line and headers of a reply. Header fields are looked up in its text when asked for. */
export class ReplyHead {
  readonly status: number;
  readonly framing: Framing;
  /** The server keeps the connection open. */
  readonly isKept: boolean;
  /** For how long, where it says so. */
  readonly keptMs: number | undefined;
  readonly #text: string;

  /** From its text in Latin-1, without the empty line. Throws a MalformedReplyError. */
  constructor(text: string) {
    if (!form.test(text)) throw new MalformedReplyError("the head is malformed");
    this.#text = text;
    this.status = Number(text.slice(9, 12));
    const isOld = text.charCodeAt(7) === 0x30;
    let length: string | undefined;
    let coding: string | undefined;
    let connection = "";
    let kept = "";
    for (const field of text.match(telling) ?? none) {
      const colon = field.indexOf(":");
      const value = trimmed(field.slice(colon + 1));
      // Their names differ in their lengths, or in how they begin.
      if (colon === 16) length = oneLength(length, value);
      else if (colon === 19) coding = coding === undefined ? value : `${coding},${value}`;
      else if ((field.charCodeAt(2) | 0x20) === 0x63) connection += `,${value}`;
      else kept = value;
    }
    this.keptMs = kept === "" ? undefined : toKeptMs(kept);
    this.framing = framingOf({ status: this.status, isOld, length, coding });
    const keepsOpen = isOld ? /[,\s]keep-alive/i.test(connection) : !/[,\s]close/i.test(connection);
    // Of two lengths one may be a lie: what follows the body is not trusted.
    const isClear = length === undefined || coding === undefined;
    this.isKept = keepsOpen && isClear && this.framing.kind !== "close";
  }

  get(name: string): string | null {
    const text = this.#text;
    for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) {
      const after = at + 2 + name.length;
      if (text.charCodeAt(after) === 0x3a && this.#isNamed(at, name))
        return this.#valueAt(after + 1);
    }
    return null;
  }

  /** All fields, in their order. */
  entries(): [string, string][] {
    return this.#text
      .split("\r\n")
      .slice(1)
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), trimmed(line.slice(colon + 1))];
      });
  }

  #isNamed(at: number, name: string): boolean {
    return this.#text.slice(at + 2, at + 2 + name.length).toLowerCase() === name;
  }

  #valueAt(start: number): string {
    const end = this.#text.indexOf("\r\n", start);
    return trimmed(this.#text.slice(start, end === -1 ? undefined : end));
  }
}

/** Of spaces and tabs alone: to others, a length behind a no-break space is none. */
function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

const isBlank = (code: number) => code === 0x20 || code === 0x09;

function toKeptMs(kept: string): number | undefined {
  const seconds = /(?:^|[ ,])timeout=(\d{1,6})/i.exec(kept)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function oneLength(known: string | undefined, value: string): string {
  // Proxies repeat it now and then; two that differ are an attack or a fault.
  const all = value.includes(",") ? value.split(",").map(trimmed) : [value];
  const length = known ?? all[0] ?? "";
  if (all.some((one) => one !== length)) throw new MalformedReplyError("the head has two lengths");
  if (!lengthForm.test(length)) throw new MalformedReplyError("the length is not a number");
  return length;
}

function framingOf(options: {
  readonly status: number;
  readonly isOld: boolean;
  readonly length: string | undefined;
  readonly coding: string | undefined;
}): Framing {
  const { status, isOld, length, coding } = options;
  if (status < 200 || status === 204 || status === 304) return noBody;
  if (coding !== undefined) {
    // HTTP/1.0 does not know it, and we asked for no other coding.
    if (isOld || coding.toLowerCase() !== "chunked")
      throw new MalformedReplyError("the transfer encoding is unknown");
    return chunked;
  }
  return length === undefined ? untilClose : { kind: "length", sizeBytes: Number(length) };
}
