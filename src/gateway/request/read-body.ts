import { createHmac, type Hmac } from "node:crypto";
import { nextTurn } from "../../base/clock.ts";
import { promptTooLong } from "../../base/context-length.ts";
import { ApiError } from "../../base/errors.ts";
import { JsonWeight, maxJsonDepth } from "../../base/json/weight.ts";
import type { JsonObject } from "../../call/chat.ts";
import type { Exchange } from "../exchange.ts";
import type { HeldBody } from "./body-bytes.ts";

export const maxBodyBytes = 32 * 1024 * 1024;
/** Up to here nothing that can be in a body takes the parser longer than ten milliseconds. */
const smallBodyBytes = 64 * 1024;
/** Larger bodies are worked on in several turns of the event loop, so that nobody else waits. */
export const largeBodyBytes = 1024 * 1024;
const pieceBytes = 256 * 1024;
export const readsPerTurn = 64;
/** No request has so many; taking thousands of nulls out of an object holds up everybody else. */
const maxFields = 1_000;

/** The file of a multipart body. */
export interface UploadedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface RequestBody {
  readonly fields: JsonObject;
  /** Of an upload that has one. */
  readonly file?: UploadedFile | undefined;
  /** HMAC of the bytes, of bodies that were read in pieces and where one was asked for. */
  readonly hash: string | undefined;
}

interface Gathering {
  readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly held: HeldBody;
  readonly text: BodyText;
}

export interface ReadBodyOptions {
  readonly request: Request;
  readonly held: HeldBody;
  /** Asks for a hash of the bytes under this key. */
  readonly hashKey: string | undefined;
  /** How the text is parsed; by default by the runtime, which need not make a string of it. */
  readonly parse?: ParseBody | undefined;
}

/** A parser of JSON with rules of its own for some values. */
export type ParseBody = (text: string) => unknown;

/** Larger bodies are images: no model reads as much text, and parsing and writing it takes long. */
const maxTextBytes = 16 * 1024 * 1024;

type BodyOwner = Pick<Exchange, "heldBody">;

/** Work on it is done in several turns of the event loop. */
export const isLargeBody = ({ heldBody }: BodyOwner) => (heldBody?.sizeBytes ?? 0) > largeBodyBytes;

/** What is not text, an image for example, may be larger than all text together. */
export function checkTextBytes(
  { heldBody }: BodyOwner,
  param: string,
  texts: () => readonly string[],
): void {
  if ((heldBody?.sizeBytes ?? 0) <= maxTextBytes) return;
  const sizeBytes = texts().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (sizeBytes > maxTextBytes) throw tooMuchText(param, param);
}

function tooMuchText(what: string, param?: string): ApiError {
  return new ApiError({
    code: "context_length_exceeded",
    ...(param === undefined ? {} : { param }),
    message: promptTooLong(
      `${what} must not contain more than ${maxTextBytes / 1024 / 1024} MiB of text`,
    ),
  });
}

/** JSON, or multipart/form-data with a file. */
export type BodyForm = "json" | "upload";

const isJson = (type: string | null) =>
  type === null || type === "application/json" || /^application\/json\s*(;|$)/i.test(type);

/** Undefined: it has none to tell. Throws if it is of the wrong type, or surely too large. */
export function announcedBytes(request: Request, form: BodyForm = "json"): number | undefined {
  const type = request.headers.get("content-type");
  if (!(form === "json" ? isJson(type) : /^multipart\/form-data\s*(;|$)/i.test(type ?? "")))
    throw new ApiError({
      code: "unsupported_media_type",
      message: `Unsupported Content-Type. Send the body as \`${form === "json" ? "application/json" : "multipart/form-data"}\`.`,
    });
  const length = request.headers.get("content-length");
  if (length === null) return undefined;
  if (Number(length) > maxBodyBytes) throw tooLarge();
  return Number(length);
}

/**
 * Like all that every request passes, it is written without async functions of its own: each costs
 * about a microsecond.
 */
export function readBody(options: ReadBodyOptions, sizeBytes?: number): Promise<RequestBody> {
  const { request, held } = options;
  // What is hashed is weighed, too: a small one that is nested deeply is slow to write out again.
  if (sizeBytes === undefined || sizeBytes > smallBodyBytes || options.hashKey !== undefined)
    return readInPieces(options).catch(notJson(request));
  held.grow(sizeBytes);
  const { parse } = options;
  const body = parse === undefined ? request.json() : request.text().then(parse);
  return body.then(toRequestBody, notJson(request));
}

const toRequestBody = (body: unknown): RequestBody => ({ fields: toFields(body), hash: undefined });

/** Each piece is weighed, hashed and decoded when it has come; only the parsing is left to the end. */
async function readInPieces(options: ReadBodyOptions): Promise<RequestBody> {
  const { request, held, hashKey, parse = JSON.parse } = options;
  const text = new BodyText(hashKey);
  const reader = request.body?.getReader();
  try {
    await gather({ reader, held, text });
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
  const isLarge = held.sizeBytes > largeBodyBytes;
  const whole = text.end();
  if (isLarge) await nextTurn();
  const fields = toFields(parse(whole));
  if (isLarge) await nextTurn();
  // A small one is hashed by what it says, however it came.
  return { fields, hash: held.sizeBytes > smallBodyBytes ? text.hash?.digest("hex") : undefined };
}

/**
 * Chunks may be single bytes: they are gathered in a buffer that grows with what comes. A reader
 * that has chunks in store never lets go of the event loop by itself, so this does.
 */
async function gather({ reader, held, text }: Gathering): Promise<void> {
  let buffer = new Uint8Array(4 * 1024);
  let filled = 0;
  let reads = 0;
  const flush = () => {
    text.add(buffer.subarray(0, filled));
    filled = 0;
  };
  for (;;) {
    const read = await reader?.read();
    if (read === undefined || read.done) return flush();
    const { value } = read;
    if (held.sizeBytes + value.length > maxBodyBytes) throw tooLarge();
    held.grow(value.length);
    if (++reads % readsPerTurn === 0) await nextTurn();
    if (filled + value.length <= buffer.length) {
      buffer.set(value, filled);
      filled += value.length;
      continue;
    }
    flush();
    for (let at = 0; at < value.length; at += pieceBytes) {
      await nextTurn();
      text.add(value.subarray(at, at + pieceBytes));
    }
    if (buffer.length < pieceBytes) buffer = new Uint8Array(2 * buffer.length);
  }
}

class BodyText {
  readonly hash: Hmac | undefined;
  readonly #weight = new JsonWeight();
  /** Drops a byte order mark, as the runtime's own reader does. */
  readonly #decoder = new TextDecoder();
  readonly #pieces: string[] = [];
  /** By how many characters the text is shorter than its bytes. */
  #savedBytes = 0;

  constructor(hashKey: string | undefined) {
    this.hash = hashKey === undefined ? undefined : createHmac("sha256", hashKey);
  }

  add(bytes: Uint8Array): void {
    if (!this.#weight.add(bytes))
      throw new ApiError({
        code: "invalid_request",
        message: `The body is too complex. It must not be nested more than ${maxJsonDepth} levels deep or contain more than about 55,000 fields, 600,000 numbers, or 1,200,000 escaped characters.`,
      });
    this.hash?.update(bytes);
    const piece = this.#decoder.decode(bytes, { stream: true });
    // Images are ASCII. A character that is not has at least 1.5 bytes for each that it saves here.
    this.#savedBytes += bytes.length - piece.length;
    if (this.#savedBytes * 1.5 > maxTextBytes) throw tooMuchText("The body");
    this.#pieces.push(piece);
  }

  end(): string {
    this.#pieces.push(this.#decoder.decode());
    return this.#pieces.join("");
  }
}

/** Fields set to null count as absent. */
function toFields(body: unknown): JsonObject {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new ApiError({
      code: "invalid_request",
      message: 'The body must be a JSON object, such as {"model":"…"}.',
    });
  const fields = body as Record<string, JsonObject[string]>;
  let count = 0;
  for (const name in fields) {
    if (++count > maxFields)
      throw new ApiError({
        code: "invalid_request",
        message: `The body must not have more than ${maxFields} fields.`,
      });
    if (fields[name] === null) delete fields[name];
  }
  return fields;
}

export function tooLarge(): ApiError {
  return new ApiError({
    code: "request_too_large",
    message: `The body must not be larger than ${maxBodyBytes / 1024 / 1024} MiB.`,
  });
}

function notJson(request: Request): (cause: unknown) => never {
  return (cause) => {
    if (cause instanceof ApiError) throw cause;
    const encoding = request.headers.get("content-encoding");
    if (encoding !== null && encoding.toLowerCase() !== "identity")
      throw new ApiError({
        code: "unsupported_media_type",
        message:
          "Compressed bodies are not supported. Send the body without a Content-Encoding header.",
      });
    const isEmpty = request.headers.get("content-length") === "0";
    const message = isEmpty
      ? "The body is empty. Send a JSON object."
      : "The body is not valid JSON.";
    throw new ApiError({ code: "invalid_json", message, cause });
  };
}
