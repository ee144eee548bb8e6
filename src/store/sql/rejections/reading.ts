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
import type { SqlReader } from "../reports/sql-reader.ts";

/** Rows are few, because they are bounded: what matches is found by looking at them. */
export async function readRejections(
  reader: SqlReader,
  query: RejectionQuery,
): Promise<RejectionPage> {
  const { after, limit } = query;
  const conditions = conditionsOf([...rangeOf(query), ...factsOf(query), ["id <", after]]);
  // One more tells whether there is another page.
  const found = await reader.rows<Rejection>(
    `select id, account_id as "accountId", key_id as "keyId", model, endpoint, dialect, status, code,
      message, reason, count from rejections ${conditions.sql} order by id desc limit ?`,
    [...conditions.values, limit + 1],
  );
  const rejections = found.slice(0, limit);
  return { rejections, after: found.length > limit ? rejections.at(-1)?.id : undefined };
}

/** Looks at the newest rows of the account and the time alone. */
export async function countRejections(
  reader: SqlReader,
  query: RejectionFilters,
): Promise<RejectionTotal> {
  const range = conditionsOf(rangeOf(query));
  const facts = conditionsOf(factsOf(query));
  const newest = `select * from rejections ${range.sql} order by id desc limit ?`;
  const [found] = await reader.rows<{ count: number; looked: number }>(
    `with newest as materialized (${newest})
      select (select count(*) from newest) as looked,
        (select coalesce(sum(count), 0) from newest ${facts.sql}) as count`,
    [...range.values, mostCounted, ...facts.values],
  );
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

const factsOf = (query: RejectionFilters): Conditions => [
  ["key_id =", query.keyId],
  ["model =", query.model],
  ["endpoint =", query.endpoint],
  ["dialect =", query.dialect],
  ["code =", query.code],
  ["status =", query.status],
];

const columnOf = { none: "''", model: "model", key: "key_id", account: "account_id" } as const;

export async function readRejected(
  reader: SqlReader,
  query: RejectedQuery,
): Promise<readonly RejectedPoint[]> {
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
    for (const { name } of await reader.rows<{ name: string }>(
      `select ${column} as name ${from} group by 1 order by sum(count) desc, 1 limit ?`,
      [...conditions.values, mostNames],
    ))
      if (names.size < mostNames) names.add(name);
  if (names.size === 0) return [];
  const places = [...names].map(() => "?").join(", ");
  return reader.rows<RejectedPoint>(
    `select start_ms as "startMs", case when ${column} in (${places}) then ${column} else ? end
      as name, sum(count) as count ${from} group by 1, 2 order by 1, 2`,
    [...names, otherNames, ...conditions.values],
  );
}

type Conditions = readonly (readonly [string, string | number | undefined])[];

/** By key, the most frequent first. */
export async function readRecent(
  reader: SqlReader,
  query: RecentQuery,
): Promise<readonly RecentRejections[]> {
  const conditions = conditionsOf([
    ["account_id =", query.accountId],
    ["start_ms >=", query.fromMs],
  ]);
  return reader.rows<RecentRejections>(
    `select key_id as "keyId", status, code, sum(count) as count from rejection_minutes
      ${conditions.sql} group by 1, 2, 3 order by 4 desc, 2, 3`,
    conditions.values,
  );
}

function conditionsOf(all: Conditions) {
  const given = all.flatMap(([text, value]) => (value === undefined ? [] : [{ text, value }]));
  return {
    sql: given.length === 0 ? "" : `where ${given.map(({ text }) => `${text} ?`).join(" and ")}`,
    values: given.map(({ value }) => value),
  };
}
