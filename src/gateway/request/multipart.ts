import { ApiError } from "../../base/errors.ts";

/**
 * multipart/form-data of an upload: text fields and one file.
 *
 * The runtime's own parser reads a body of any size and any number of parts in one go, on the event
 * loop, before anything can be counted. This one works on bytes that are counted already, in steps
 * between which others have their turn, and bounds parts and headers. It is linear: a delimiter
 * begins with a line break and has no other, so no byte is compared twice.
 */
export interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const maxParts = 64;
const maxHeadBytes = 8 * 1024;
/** RFC 2046 allows no longer ones. */
const maxBoundaryChars = 70;
const bytesPerTurn = 1024 * 1024;

/** The boundary of a Content-Type; undefined where it is of another type. */
export function boundaryOf(contentType: string | null): string | undefined {
  const [type, ...parameters] = (contentType ?? "").split(";");
  if (type?.trim().toLowerCase() !== "multipart/form-data") return undefined;
  for (const parameter of parameters) {
    const [, value] =
      /^\s*boundary\s*=\s*(?:"([^"]*)"|([^\s"]*))\s*$/i
        .exec(parameter)
        ?.filter((group) => group !== undefined) ?? [];
    if (value !== undefined && value !== "" && value.length <= maxBoundaryChars) return value;
  }
  throw malformed("its Content-Type has no boundary");
}

/** Yields where others may have the event loop. */
export function* readParts(
  body: Uint8Array<ArrayBuffer>,
  boundary: string,
): Generator<undefined, readonly Part[], unknown> {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.length);
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const parts: Part[] = [];
  // What stands in front of the first delimiter is nothing.
  const startsAtOnce = buffer.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let at = startsAtOnce ? -2 : yield* find(buffer, delimiter, 0);
  for (;;) {
    if (at === undefined) throw malformed("its last part has no end");
    let start = at + delimiter.length;
    if (buffer[start] === hyphen && buffer[start + 1] === hyphen) return parts;
    start = lineEnd(buffer, start);
    if (parts.length === maxParts) throw malformed(`it has more than ${maxParts} parts`);
    const headEnd = buffer.subarray(start, start + maxHeadBytes).indexOf("\r\n\r\n");
    if (headEnd === -1)
      throw malformed(`a part has no headers, or more than ${maxHeadBytes} bytes of them`);
    const contentAt = start + headEnd + 4;
    // A part without content ends with the line break of its headers.
    const end: number | undefined = yield* find(buffer, delimiter, contentAt - 2);
    if (end === undefined) throw malformed("its last part has no end");
    const head = readHead(buffer.toString("utf8", start, start + headEnd));
    parts.push({ ...head, bytes: body.subarray(contentAt, Math.max(contentAt, end)) });
    at = end;
  }
}

const hyphen = 0x2d;
const lineBreak = 0x0d;

function* find(
  buffer: Buffer,
  delimiter: Buffer,
  start: number,
): Generator<undefined, number | undefined, unknown> {
  const last = buffer.length - delimiter.length;
  for (let at = start; at <= last; yield) {
    const end = Math.min(last + 1, at + bytesPerTurn);
    at = findBefore(buffer, delimiter, { start: at, end });
    if (at < end) return at;
  }
  return undefined;
}

/**
 * Where the next delimiter begins; at or behind the end where there is none. Compared here: a call of
 * the runtime for each line break takes seconds where a body has nothing else. What agreed has no
 * second line break, so the search goes on behind it.
 */
function findBefore(
  buffer: Buffer,
  delimiter: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  for (let at = start; at < end; ) {
    let same = 0;
    while (same < delimiter.length && buffer[at + same] === delimiter[same]) same++;
    if (same === delimiter.length) return at;
    at += same;
    if (same === 0) at = nextLineBreak(buffer, at + 1, end);
  }
  return end;
}

/** Audio has one in 256 bytes: the runtime finds it faster, once it is not near. */
function nextLineBreak(buffer: Buffer, start: number, end: number): number {
  const near = Math.min(end, start + 32);
  for (let at = start; at < near; at++) if (buffer[at] === lineBreak) return at;
  if (near === end) return end;
  const found = buffer.indexOf(lineBreak, near);
  return found === -1 ? end : found;
}

/** Blanks may follow a delimiter. */
function lineEnd(buffer: Buffer, start: number): number {
  let at = start;
  while (at < start + maxHeadBytes && (buffer[at] === 0x20 || buffer[at] === 0x09)) at++;
  if (buffer[at] !== lineBreak || buffer[at + 1] !== 0x0a)
    throw malformed("a delimiter is not followed by a line break");
  return at + 2;
}

function readHead(text: string): Omit<Part, "bytes"> {
  let found: Omit<Part, "bytes"> | undefined;
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "content-transfer-encoding" && !/^(binary|7bit|8bit)$/i.test(value))
      throw malformed("Content-Transfer-Encoding is not supported");
    if (name === "content-disposition") found ??= readDisposition(value);
  }
  if (found === undefined) throw malformed("a part has no Content-Disposition with a name");
  return found;
}

const parameter = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

function readDisposition(value: string): Omit<Part, "bytes"> | undefined {
  if (!/^form-data\s*;/i.test(value)) return undefined;
  const found = new Map<string, string>();
  for (const [, key = "", quoted, plain] of value.matchAll(parameter))
    found.set(key.toLowerCase(), quoted?.replace(/\\(["\\])/g, "$1") ?? plain ?? "");
  const name = found.get("name");
  const filename = found.get("filename") ?? (found.has("filename*") ? "" : undefined);
  return name === undefined ? undefined : { name, filename };
}

function malformed(problem: string): ApiError {
  return new ApiError({
    code: "invalid_request",
    message: `The body is not valid multipart/form-data: ${problem}.`,
  });
}
