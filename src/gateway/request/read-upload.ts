import { createHmac } from "node:crypto";
import { nextTurn } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { Json, JsonObject } from "../../call/chat.ts";
import { fieldError } from "../../wire/v1/validate.ts";
import { boundaryOf, type Part, readParts } from "./multipart.ts";
import {
  largeBodyBytes,
  maxBodyBytes,
  type ReadBodyOptions,
  type RequestBody,
  readsPerTurn,
  tooLarge,
  type UploadedFile,
} from "./read-body.ts";

/** As much as OpenAI takes. */
export const maxFileBytes = 25 * 1024 * 1024;
/** A prompt is the longest of the fields. */
const maxFieldBytes = 64 * 1024;

/** Reads an upload: text fields, and `file`. Its bytes count as body bytes in flight as they come. */
export async function readUpload(options: ReadBodyOptions): Promise<RequestBody> {
  const { request, held, hashKey } = options;
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (boundary === undefined) throw new Error("the content type was not checked");
  checkEncoding(request);
  const body = await gatherBytes(options);
  const isLarge = held.sizeBytes > largeBodyBytes;
  if (isLarge) await nextTurn();
  const reading = readParts(body, boundary);
  let step = reading.next();
  for (; step.done !== true; step = reading.next()) await nextTurn();
  const { fields, file } = toFields(step.value);
  const hash = hashKey === undefined ? undefined : await hashOf({ hashKey, fields, file });
  return { fields, hash, file };
}

/** In blocks, whatever was announced: one buffer that grows would copy all of it at once. */
async function gatherBytes({ request, held }: ReadBodyOptions): Promise<Uint8Array<ArrayBuffer>> {
  const reader = request.body?.getReader();
  const blocks: Uint8Array[] = [];
  let block = new Uint8Array(firstBytes);
  let filled = 0;
  let size = 0;
  try {
    for (let reads = 1; ; reads++) {
      const read = await reader?.read();
      if (read === undefined || read.done) break;
      const { value } = read;
      if (size + value.length > maxBodyBytes) throw tooLarge();
      held.grow(value.length);
      size += value.length;
      if (reads % readsPerTurn === 0) await nextTurn();
      for (let at = 0; at < value.length; ) {
        if (filled === block.length) {
          blocks.push(block);
          block = new Uint8Array(largeBodyBytes);
          filled = 0;
        }
        const piece = value.subarray(at, at + block.length - filled);
        block.set(piece, filled);
        filled += piece.length;
        at += piece.length;
      }
    }
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
  if (blocks.length === 0) return block.subarray(0, filled);
  blocks.push(block.subarray(0, filled));
  return await joined(blocks, size);
}

/** A block per turn of the event loop, each of them freed once it is copied. */
async function joined(blocks: Uint8Array[], size: number): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
    whole.set(block, at);
    at += block.length;
    await nextTurn();
  }
  return whole;
}

const firstBytes = 64 * 1024;

function toFields(parts: readonly Part[]): { fields: JsonObject; file: UploadedFile | undefined } {
  const fields: Record<string, Json> = {};
  let file: UploadedFile | undefined;
  for (const { name, filename, bytes } of parts) {
    if (name === "file") {
      if (file !== undefined) throw fieldError("file", "must be sent only once");
      if (filename === undefined) throw fieldError("file", "must be a file, with a filename");
      if (bytes.length > maxFileBytes) throw fileTooLarge();
      file = { bytes };
      continue;
    }
    // A file that nobody knows is ignored, as unknown fields are.
    if (filename !== undefined) continue;
    if (bytes.length > maxFieldBytes)
      throw fieldError(shown(name), `must not be longer than ${maxFieldBytes} bytes`);
    add(fields, name, new TextDecoder().decode(bytes));
  }
  return { fields, file };
}

/** Lists are sent as `name[]`, once for each entry. */
function add(fields: Record<string, Json>, name: string, text: string): void {
  const list = name.endsWith("[]") ? name.slice(0, -2) : undefined;
  const field = list ?? name;
  if (field === "__proto__") return;
  const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (list !== undefined) fields[field] = [...(Array.isArray(known) ? known : []), text];
  else if (known === undefined) fields[name] = text;
  else throw fieldError(shown(name), "must be sent only once");
}

const shown = (name: string) => name.slice(0, 64).replace(/[^\w[\].-]/g, "?");

/** Of what the request says: its boundary is another one each time it is sent. */
async function hashOf(options: {
  readonly hashKey: string;
  readonly fields: JsonObject;
  readonly file: UploadedFile | undefined;
}): Promise<string> {
  const { hashKey, fields, file } = options;
  const hash = createHmac("sha256", hashKey).update(JSON.stringify(fields));
  const bytes = file?.bytes ?? new Uint8Array();
  for (let at = 0; at < bytes.length; at += largeBodyBytes) {
    if (at > 0) await nextTurn();
    hash.update(bytes.subarray(at, at + largeBodyBytes));
  }
  return hash.digest("hex");
}

function checkEncoding(request: Request): void {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity")
    throw new ApiError({
      code: "unsupported_media_type",
      message:
        "Compressed bodies are not supported. Send the body without a Content-Encoding header.",
    });
}

function fileTooLarge(): ApiError {
  return new ApiError({
    code: "request_too_large",
    param: "file",
    message: `file must not be larger than ${maxFileBytes / 1024 / 1024} MiB.`,
  });
}
