import { ApiError } from "../../base/errors.ts";
import type { JsonObject } from "../../call/chat.ts";
import { type Endpoint, endpointPaths } from "../../call/endpoint.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import type { Model } from "../../catalog/model.ts";
import type { KeyDirectory, KeyRecord } from "../../keys/directory.ts";
import { fieldError } from "../../wire/v1/validate.ts";

/** Missing, malformed, unknown, revoked and expired keys get one and the same answer. */
export function authenticate(request: Request, keys: KeyDirectory, nowMs: number): KeyRecord {
  const key = keys.verify(bearerOf(request), nowMs);
  if (key !== undefined) return key;
  throw invalidKey();
}

export function invalidKey(): ApiError {
  return new ApiError({
    code: "invalid_api_key",
    // These words first: LiteLLM knows a wrong key by them alone.
    message:
      "Incorrect API key provided. Send a valid key as `Authorization: Bearer sk-svc-…`; you can create one in the console, or ask the operator.",
  });
}

/** The secret that the request carries, or "". */
export function bearerOf(request: Request): string {
  const header = request.headers.get("authorization") ?? "";
  // The scheme's name is case-insensitive, by its RFC and in some clients.
  return header.slice(0, 7).toLowerCase() === "bearer " ? header.slice(7).trim() : "";
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
