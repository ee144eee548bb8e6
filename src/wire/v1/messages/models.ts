import type { ListedModel } from "../models/reply.ts";
import { fieldError } from "../validate.ts";

/** A model as the Messages format describes it. */
export interface MessagesModel {
  readonly type: "model";
  readonly id: string;
  readonly display_name: string;
  readonly created_at: string;
  readonly lifecycle: "active" | "deprecated";
  readonly deprecated_at: string | null;
  readonly retires_at: string | null;
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
}

export interface MessagesModelList {
  readonly data: readonly MessagesModel[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

export function toMessagesModel(listed: ListedModel): MessagesModel {
  const { id, createdAtMs, deprecation, contextLength, maxOutputTokens } = listed;
  return {
    type: "model",
    id,
    display_name: id,
    created_at: toTime(createdAtMs),
    lifecycle: deprecation === undefined ? "active" : "deprecated",
    deprecated_at: deprecation === undefined ? null : toTime(deprecation.deprecatedAtMs),
    retires_at: deprecation?.retiresAtMs === undefined ? null : toTime(deprecation.retiresAtMs),
    max_input_tokens: contextLength ?? null,
    max_tokens: maxOutputTokens ?? null,
  };
}

const toTime = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const usualLimit = 20;
const mostLimit = 1_000;

/** A page of the models, by the query of the request. */
export function toMessagesModelList(
  models: readonly ListedModel[],
  query: URLSearchParams,
): MessagesModelList {
  const limit = toLimit(query.get("limit"));
  const after = placeOf(models, query.get("after_id"), "after_id");
  const before = placeOf(models, query.get("before_id"), "before_id");
  const end = before ?? models.length;
  const first = after === undefined ? undefined : after + 1;
  // Backwards, a page is the last one before its end.
  const start = first ?? (before === undefined ? 0 : Math.max(0, end - limit));
  const page = models.slice(start, Math.min(end, start + limit));
  const isBackwards = before !== undefined && after === undefined;
  return {
    data: page.map(toMessagesModel),
    has_more: isBackwards ? start > 0 : start + page.length < end,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function toLimit(given: string | null): number {
  if (given === null || given === "") return usualLimit;
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > mostLimit)
    throw fieldError("limit", `must be an integer from 1 to ${mostLimit}`);
  return limit;
}

function placeOf(
  models: readonly ListedModel[],
  id: string | null,
  field: string,
): number | undefined {
  if (id === null || id === "") return undefined;
  const place = models.findIndex((one) => one.id === id);
  if (place === -1) throw fieldError(field, "must be the id of a model in the list");
  return place;
}
