import type { Database, SQLQueryBindings } from "bun:sqlite";
import { idFloor } from "../../../base/ids.ts";
import {
  mostCounted,
  mostNames,
  otherNames,
  type RecentQuery,
  type RecentRejections,
  type RejectedPoint,
  type RejectedQuery,
  type Rejection,
  type RejectionFilters,
  type RejectionPage,
  type RejectionQuery,
  type RejectionTotal,
} from "../../../rejections/rejection.ts";

/** Rows are few, because they are bounded: what matches is found by looking at them. */
export function readRejections(raw: Database, query: RejectionQuery): RejectionPage {
  const { after, limit } = query;
  const conditions = conditionsOf([...rangeOf(query), ...factsOf(query), ["id <", after]]);
  // One more tells whether there is another page.
  const rejections = raw
    .query<Rejection, SQLQueryBindings[]>(
      `select id, account_id as accountId, key_id as keyId, model, endpoint, status, code, message,
        reason, count from rejections ${conditions.sql} order by id desc limit ?`,
    )
    .all(...conditions.values, limit + 1);
  if (rejections.length <= limit) return { rejections, after: undefined };
  rejections.pop();
  return { rejections, after: rejections.at(-1)?.id };
}

/** Looks at the newest rows of the account and the time alone. */
export function countRejections(raw: Database, query: RejectionFilters): RejectionTotal {
  const range = conditionsOf(rangeOf(query));
  const facts = conditionsOf(factsOf(query));
  const newest = `select * from rejections ${range.sql} order by id desc limit ?`;
  const found = raw
    .query<{ count: number; looked: number }, SQLQueryBindings[]>(
      `with newest as materialized (${newest})
        select (select count(*) from newest) as looked,
          (select coalesce(sum(count), 0) from newest ${facts.sql}) as count`,
    )
    .get(...range.values, mostCounted, ...facts.values);
  return { count: found?.count ?? 0, isCapped: (found?.looked ?? 0) >= mostCounted };
}

/** What the indexes are in the order of. */
const rangeOf = ({ accountId, idPrefix, fromMs, toMs }: RejectionFilters): Conditions => [
  ["account_id =", accountId],
  ["id >=", idPrefix],
  ["id <", idPrefix === undefined ? undefined : `${idPrefix}${lastLetter}`],
  ["id >=", fromMs === undefined ? undefined : idFloor("req", fromMs)],
  ["id <", toMs === undefined ? undefined : idFloor("req", toMs)],
];

/** Behind all that ids have. */
const lastLetter = "\u{10ffff}";

const factsOf = ({ keyId, model, endpoint, code, status }: RejectionFilters): Conditions => [
  ["key_id =", keyId],
  ["model =", model],
  ["endpoint =", endpoint],
  ["code =", code],
  ["status =", status],
];

const columnOf = { none: "''", model: "model", key: "key_id", account: "account_id" } as const;

export function readRejected(raw: Database, query: RejectedQuery): readonly RejectedPoint[] {
  const { fromMs, toMs, grain, by } = query;
  const table = grain === "minute" ? "rejection_minutes" : "rejection_hours";
  const conditions = conditionsOf([
    ["start_ms >=", fromMs],
    ["start_ms <", toMs],
    ["account_id =", query.accountId],
    ["key_id =", query.keyId],
    ["model =", query.model],
  ]);
  const column = columnOf[by];
  const from = `from ${table} ${conditions.sql}`;
  const names = new Set(by === "none" ? [""] : query.names.slice(0, mostNames));
  if (by !== "none")
    for (const { name } of raw
      .query<{ name: string }, SQLQueryBindings[]>(
        `select ${column} as name ${from} group by 1 order by sum(count) desc, 1 limit ?`,
      )
      .all(...conditions.values, mostNames))
      if (names.size < mostNames) names.add(name);
  const places = [...names].map(() => "?").join(", ");
  return raw
    .query<RejectedPoint, SQLQueryBindings[]>(
      `select start_ms as startMs, case when ${column} in (${places}) then ${column} else ? end
        as name, sum(count) as count ${from} group by 1, 2 order by 1, 2`,
    )
    .all(...names, otherNames, ...conditions.values);
}

type Conditions = readonly (readonly [string, string | number | undefined])[];

/** By key, the most frequent first. */
export function readRecent(raw: Database, query: RecentQuery): readonly RecentRejections[] {
  const conditions = conditionsOf([
    ["account_id =", query.accountId],
    ["start_ms >=", query.fromMs],
  ]);
  return raw
    .query<RecentRejections, SQLQueryBindings[]>(
      `select key_id as keyId, status, code, sum(count) as count from rejection_minutes
        ${conditions.sql} group by 1, 2, 3 order by 4 desc, 2, 3`,
    )
    .all(...conditions.values);
}

function conditionsOf(all: Conditions) {
  const given = all.flatMap(([text, value]) => (value === undefined ? [] : [{ text, value }]));
  return {
    sql: given.length === 0 ? "" : `where ${given.map(({ text }) => `${text} ?`).join(" and ")}`,
    values: given.map(({ value }) => value),
  };
}
