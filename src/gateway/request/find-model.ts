import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { detached } from "../../base/text/detached.ts";
import type { JsonObject } from "../../call/chat.ts";
import { type Endpoint, endpointPaths } from "../../call/endpoint.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import { type Model, type PriceInForce, priceAt } from "../../catalog/model.ts";
import type { KeyRecord } from "../../keys/directory.ts";
import { fieldError } from "../../wire/v1/validate.ts";
import type { Exchange } from "../exchange.ts";

/** The model that the caller named, at its current price. */
export function chooseModel(options: {
  readonly exchange: Exchange;
  readonly body: JsonObject;
  readonly key: KeyRecord;
  readonly endpoint: Endpoint;
  readonly catalog: Catalog;
  readonly clock: Clock;
}): {
  readonly model: Model;
  /** Its id, or the alias that the caller used. */
  readonly asked: string;
  readonly pricing: PriceInForce;
} {
  const { exchange, body, key, endpoint, catalog, clock } = options;
  const nowMs = clock.nowMs();
  const { model, asked } = findModel({ exchange, body, key, endpoint, catalog, nowMs });
  exchange.model = model;
  checkModel({ exchange, model, catalog, endpoint, nowMs });
  const pricing = priceAt(model, nowMs);
  if (pricing === undefined) throw new Error(`${model.id} has no price`);
  return { model, asked, pricing };
}

interface ModelSearch {
  readonly exchange: Exchange;
  readonly body: JsonObject;
  readonly key: KeyRecord;
  readonly endpoint: Endpoint;
  readonly catalog: Catalog;
  readonly nowMs: number;
}

/** One answer for models that are unknown, unpriced, unrouted or not allowed for this key. */
function findModel({ exchange, body, key, endpoint, catalog, nowMs }: ModelSearch): {
  readonly model: Model;
  readonly asked: string;
} {
  const id = body["model"];
  if (typeof id !== "string" || id === "")
    throw fieldError(
      "model",
      `${id === undefined ? "is required and " : ""}must be a model id. GET /v1/models lists the models this key can use`,
    );
  const model = findCallable({ catalog, key, id, nowMs });
  if (model === undefined) {
    noteUnknown({ exchange, catalog, id, nowMs });
    throw new ApiError({
      code: "model_not_allowed",
      param: "model",
      message: `Model "${toShown(id)}" does not exist, or this key cannot use it. GET /v1/models lists the models this key can use.`,
      offChat: endpoint !== "chat",
    });
  }
  return { model, asked: id };
}

/** Only for the record. Callers get the same message for all of them. */
export function noteUnknown(options: {
  readonly exchange: Exchange;
  readonly catalog: Catalog;
  readonly id: string;
  readonly nowMs: number;
}): void {
  const { exchange, catalog, id, nowMs } = options;
  exchange.askedModel = toShown(id);
  const served = catalog.findServed(id, nowMs);
  if (served === undefined) exchange.refusedFor = catalog.whyUnserved(id, nowMs);
  else
    exchange.refusedFor =
      lifecycleState(served.lifecycle, nowMs) === "retired" ? "retired" : "not_allowed";
}

/** Checks that the model belongs to this endpoint and is not retired. */
function checkModel({
  exchange,
  model,
  catalog,
  endpoint,
  nowMs,
}: {
  readonly exchange: Exchange;
  readonly model: Model;
  readonly catalog: Catalog;
  readonly endpoint: Endpoint;
  readonly nowMs: number;
}): void {
  if (model.endpoint !== endpoint)
    throw new ApiError({
      code: "wrong_endpoint",
      param: "model",
      message: `${model.id} is not available on this endpoint. Use POST ${endpointPaths[model.endpoint]}.`,
    });
  if (lifecycleState(model.lifecycle, nowMs) === "retired") {
    const successor = catalog.deprecationOf(model, nowMs)?.replacement;
    const instead = successor === undefined ? "" : ` Use ${successor} instead.`;
    exchange.refusedFor = "retired";
    throw new ApiError({
      code: "model_retired",
      param: "model",
      message: `${model.id} is retired.${instead}`,
      offChat: endpoint !== "chat",
    });
  }
}

const mostShown = 100;

/** A name as shown in a message: shortened, and never a key that was sent in the wrong field. */
export function toShown(id: string): string {
  const start = id.length <= mostShown ? id : detached(id.slice(0, mostShown));
  return start.replace(/sk-svc-\S*/g, "sk-svc-…");
}

/** The alias is resolved first: the list of a key holds the ids of models. */
export function findCallable(options: {
  readonly catalog: Catalog;
  readonly key: KeyRecord;
  readonly id: string;
  readonly nowMs: number;
}): Model | undefined {
  const { catalog, key, id, nowMs } = options;
  const model = catalog.findServed(id, nowMs);
  if (model === undefined || key.models === undefined) return model;
  return key.models.has(model.id) ? model : undefined;
}
