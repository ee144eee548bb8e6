import { ApiError } from "../base/errors.ts";
import { isOutOfBounds, maxJsonDepth, maxJsonWeight } from "../base/json-bounds.ts";
import type { JsonObject } from "../call/chat.ts";
import { type Endpoint, endpointPaths } from "../call/endpoint.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { lifecycleState } from "../catalog/lifecycle.ts";
import type { Model } from "../catalog/model.ts";
import type { KeyDirectory, KeyRecord } from "../keys/directory.ts";
import { fieldError } from "../wire/v1/validate.ts";

export const maxBodyBytes = 32 * 1024 * 1024;

/** Missing, malformed, unknown, revoked and expired keys get one and the same answer. */
export function authenticate(request: Request, keys: KeyDirectory, nowMs: number): KeyRecord {
  const key = keys.verify(bearerOf(request), nowMs);
  if (key !== undefined) return key;
  throw invalidKey();
}

export function invalidKey(): ApiError {
  return new ApiError({
    code: "invalid_api_key",
    message:
      "This API key is missing or not valid. Send it as `Authorization: Bearer sk-svc-…`; a new one is made in the console, or by the operator.",
  });
}

/** The secret that the request carries, or "". */
export function bearerOf(request: Request): string {
  const header = request.headers.get("authorization") ?? "";
  // The scheme's name is case-insensitive, by its RFC and in some clients.
  return header.slice(0, 7).toLowerCase() === "bearer " ? header.slice(7).trim() : "";
}

/**
 * Size and type are checked before a byte is read. Like all that every request passes, it is
 * written without async functions of its own: each costs about a microsecond.
 */
export function readBody(request: Request): Promise<JsonObject> {
  const type = request.headers.get("content-type");
  if (type !== null && type !== "application/json" && !/^application\/json\s*(;|$)/i.test(type))
    throw new ApiError({
      code: "unsupported_media_type",
      message: "Send the body as `Content-Type: application/json`.",
    });
  const length = request.headers.get("content-length");
  if (length === null)
    return readBounded(request).then(parseBounded).then(toFields, notJson(request));
  if (Number(length) > maxBodyBytes) throw tooLarge();
  const parsed =
    Number(length) <= smallBodyBytes ? request.json() : request.bytes().then(parseBounded);
  return parsed.then(toFields, notJson(request));
}

/** Up to here nothing that can be in a body takes the parser longer than ten milliseconds. */
const smallBodyBytes = 64 * 1024;

function parseBounded(bytes: Uint8Array): unknown {
  if (bytes.length > smallBodyBytes && isOutOfBounds(bytes))
    throw new ApiError({
      code: "invalid_request",
      message: `The body must not be nested more than ${maxJsonDepth} levels deep nor have more than about ${maxJsonWeight} values.`,
    });
  return JSON.parse(decoder.decode(bytes));
}

/** Drops a byte order mark, as the runtime's own reader does. */
const decoder = new TextDecoder();

/** No request has so many; taking thousands of nulls out of an object holds up everybody else. */
const maxFields = 1_000;

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
        message: `The body has more than ${maxFields} fields.`,
      });
    if (fields[name] === null) delete fields[name];
  }
  return fields;
}

export interface ModelSearch {
  readonly body: JsonObject;
  readonly key: KeyRecord;
  readonly endpoint: Endpoint;
  readonly catalog: Catalog;
  readonly nowMs: number;
}

/** One answer for models that are unknown, unpriced, unrouted or not allowed for this key. */
export function findModel({ body, key, endpoint, catalog, nowMs }: ModelSearch): Model {
  const id = body["model"];
  if (typeof id !== "string" || id === "")
    throw fieldError(
      "model",
      `${id === undefined ? "is missing: it " : ""}must be the id of a model; GET /v1/models lists yours`,
    );
  const model = findCallable({ catalog, key, id, nowMs });
  if (model === undefined)
    throw new ApiError({
      code: "model_not_allowed",
      param: "model",
      message: `This key cannot call the model "${toShown(id)}": there is none of that name, or it is not among those allowed. GET /v1/models lists yours.`,
      offChat: endpoint !== "chat",
    });
  return model;
}

/** A model that the key may call: of this endpoint, and not retired. */
export function checkModel({
  model,
  catalog,
  endpoint,
  nowMs,
}: {
  readonly model: Model;
  readonly catalog: Catalog;
  readonly endpoint: Endpoint;
  readonly nowMs: number;
}): void {
  if (model.endpoint !== endpoint)
    throw new ApiError({
      code: "wrong_endpoint",
      param: "model",
      message: `${model.id} does not work on this endpoint: call it with POST ${endpointPaths[model.endpoint]}.`,
    });
  if (lifecycleState(model.lifecycle, nowMs) === "retired") {
    const successor = catalog.deprecationOf(model, nowMs)?.replacement;
    const instead = successor === undefined ? "" : ` Use ${successor} instead.`;
    throw new ApiError({
      code: "model_retired",
      param: "model",
      message: `${model.id} is retired.${instead}`,
      offChat: endpoint !== "chat",
    });
  }
}

/** A name in a message: not endless, and never a key that was put in the wrong place. */
export function toShown(id: string): string {
  return id.slice(0, 100).replace(/sk-svc-\S*/g, "sk-svc-…");
}

export function findCallable(options: {
  readonly catalog: Catalog;
  readonly key: KeyRecord;
  readonly id: string;
  readonly nowMs: number;
}): Model | undefined {
  const { catalog, key, id, nowMs } = options;
  return key.models === undefined || key.models.has(id) ? catalog.findServed(id, nowMs) : undefined;
}

/** A body of unknown length is read only as far as it may go. */
async function readBounded(request: Request): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return Buffer.concat(pieces);
    sizeBytes += value.length;
    if (sizeBytes > maxBodyBytes) {
      reader.cancel().catch(() => {});
      throw tooLarge();
    }
    pieces.push(value);
  }
}

function tooLarge(): ApiError {
  return new ApiError({
    code: "request_too_large",
    message: `The body is larger than ${maxBodyBytes / 1024 / 1024} MiB.`,
  });
}

function notJson(request: Request): (cause: unknown) => never {
  return (cause) => {
    if (cause instanceof ApiError) throw cause;
    const encoding = request.headers.get("content-encoding");
    if (encoding !== null && encoding.toLowerCase() !== "identity")
      throw new ApiError({
        code: "unsupported_media_type",
        message: "Send the body as it is, without a Content-Encoding.",
      });
    throw new ApiError({ code: "invalid_json", message: "The body is not valid JSON.", cause });
  };
}
