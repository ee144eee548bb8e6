import { Type } from "../../base/json/type.ts";
import type { CallFilters } from "../../call/call-filters.ts";
import { dialects } from "../../call/dialect.ts";
import { nullable, oneOf, text } from "../http/schemas.ts";
import { toMoment } from "../input/values.ts";

/** Calls per page, unless the query sets a limit. */
export const usualLimit = 50;
/** Calls that an export reads at a time. */
export const csvPage = 1_000;

/** Filters that every list of calls has. */
export const callFilters = {
  key: Type.Optional(text({ most: 60, about: "Key id." })),
  model: Type.Optional(text({ most: 200 })),
  dialect: Type.Optional(oneOf(dialects, { description: "API format of a call to a chat model." })),
  id: Type.Optional(text({ most: 60, about: "Request id or its beginning." })),
  from: Type.Optional(text({ most: 40, about: "Day or time in UTC." })),
  to: Type.Optional(text({ most: 40, about: "Day or time in UTC; exclusive." })),
};

interface Asked {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly dialect?: string | undefined;
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
    dialect: asked.dialect,
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

/** What `pageEnd` returns. `counted`: what is counted of all matches, such as "10000 rows". */
export const pageEndReply = (counted: string) => ({
  after: nullable(Type.String({ description: "Cursor for the next page; null on the last page." })),
  total: Type.Optional(
    Type.Object(
      {
        count: Type.Integer(),
        is_capped: Type.Boolean({
          description: `Whether there may be more: only the newest ${counted} are counted.`,
        }),
      },
      { description: "Number of matching calls, if asked for." },
    ),
  ),
});

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
