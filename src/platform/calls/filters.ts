import type { CallFilters } from "../../call/call-filters.ts";
import { toMoment } from "../input/values.ts";

/** Calls per page, unless the query sets a limit. */
export const usualLimit = 50;
/** Calls that an export reads at a time. */
export const csvPage = 1_000;

interface Asked {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly status?: number | undefined;
  readonly id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function toCallFilters(asked: Asked): CallFilters {
  return {
    accountId: given(asked.account),
    keyId: given(asked.key),
    model: given(asked.model),
    endpoint: asked.endpoint,
    status: asked.status,
    idPrefix: given(asked.id),
    fromMs: readMoment("from", asked.from),
    toMs: readMoment("to", asked.to),
  };
}

/** Forms send empty strings for empty fields, which filter nothing. */
export function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function readMoment(field: string, asked: string | undefined): number | undefined {
  const text = given(asked);
  return text === undefined ? undefined : toMoment(text, field);
}

interface Total {
  readonly count: number;
  readonly isCapped: boolean;
}

/** `after` and, if it was counted, `total` of a page. */
export function pageEnd(after: string | undefined, total: Total | undefined) {
  return {
    after: after ?? null,
    ...(total && { total: { count: total.count, is_capped: total.isCapped } }),
  };
}
