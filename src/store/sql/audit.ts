import type { Database } from "bun:sqlite";
import { type RawBuilder, sql, type Transaction } from "kysely";
import {
  type AuditPage,
  type AuditQuery,
  type AuditRecord,
  type AuditStore,
  anOperator,
} from "../../base/audit.ts";
import { idFloor } from "../../base/ids.ts";
import { lockFor } from "./dialect.ts";
import type { Db, Tables } from "./schema.ts";
import { contains } from "./text-search.ts";

export function createAuditStore(db: Db): AuditStore {
  return {
    add: (record) => addAudit(db, record),
    list: (query) => list(db, query),
  };
}

/** A page looks at no more records than this: the log has no index but by account and time. */
const maxLooked = 5_000;

async function list(db: Db, query: AuditQuery): Promise<AuditPage> {
  const { limit } = query;
  const span = spanOf(db, query);
  const [edge, further] = await span
    .select("id")
    .limit(2)
    .offset(maxLooked - 1)
    .execute();
  let found = span.selectAll().limit(limit + 1);
  if (edge !== undefined) found = found.where("id", ">=", edge.id);
  for (const condition of conditionsOf(query)) found = found.where(condition);
  const records = (await found.execute()).map(toRecord);
  if (records.length > limit)
    return { records: records.slice(0, limit), after: records[limit - 1]?.id };
  return { records, after: further === undefined ? undefined : edge?.id };
}

/** The newest first, by what the log is ordered by. */
function spanOf(db: Db, { accountId, fromMs, toMs, after }: AuditQuery) {
  let span = db.selectFrom("audit").orderBy("id", "desc");
  if (accountId !== undefined) span = span.where("account_id", "=", accountId);
  if (fromMs !== undefined) span = span.where("id", ">=", idFloor("audit", fromMs));
  if (toMs !== undefined) span = span.where("id", "<", idFloor("audit", toMs));
  if (after !== undefined) span = span.where("id", "<", after);
  return span;
}

function conditionsOf(query: AuditQuery): readonly RawBuilder<boolean>[] {
  const { action, actor, subject, search, hidesOperators = false } = query;
  const actorName = hidesOperators
    ? sql`case when actor_kind = 'operator' then ${anOperator} else actor_name end`
    : sql`actor_name`;
  return [
    ...(action === undefined ? [] : [sql<boolean>`action = ${action}`]),
    ...(actor === undefined ? [] : [contains(actorName, actor)]),
    ...(subject === undefined ? [] : [contains(sql`subject`, subject)]),
    ...(search === undefined
      ? []
      : [contains(sql`${actorName} || ' ' || action || ' ' || subject || ' ' || detail`, search)]),
  ];
}

/** Called inside the writer's own transaction: the record stands exactly when the change does. */
export async function addAudit(transaction: Db, record: AuditRecord): Promise<void> {
  await transaction.insertInto("audit").values(fromRecord(record)).execute();
}

/** The same for a writer that does not use the query builder. */
export function prepareAudit(raw: Database): (record: AuditRecord) => void {
  const insert = raw.query<unknown, [Tables["audit"]]>(
    `insert into audit (id, at_ms, actor_kind, actor_id, actor_name, account_id, action, subject, detail, address)
      values ($id, $at_ms, $actor_kind, $actor_id, $actor_name, $account_id, $action, $subject, $detail, $address)`,
  );
  return (record) => void insert.run(fromRecord(record));
}

const hourMs = 3_600_000;

/** Counts in the record of the same action and subject in this hour; adds it where there is none. */
export async function countAudit(
  transaction: Transaction<Tables>,
  record: AuditRecord,
): Promise<void> {
  await lockFor(transaction, `audit ${record.action} ${record.subject}`);
  const known = await transaction
    .selectFrom("audit")
    .select(["id", "detail"])
    .where("id", ">=", idFloor("audit", Math.floor(record.atMs / hourMs) * hourMs))
    .where("action", "=", record.action)
    .where("subject", "=", record.subject)
    .executeTakeFirst();
  if (known === undefined) return addAudit(transaction, { ...record, detail: { count: 1 } });
  const { count } = JSON.parse(known.detail) as { readonly count: number };
  await transaction
    .updateTable("audit")
    .set({ detail: JSON.stringify({ count: count + 1 }) })
    .where("id", "=", known.id)
    .execute();
}

export function fromRecord(record: AuditRecord): Tables["audit"] {
  return {
    id: record.id,
    at_ms: record.atMs,
    actor_kind: record.actor.kind,
    actor_id: record.actor.id,
    actor_name: record.actor.name,
    account_id: record.accountId ?? null,
    action: record.action,
    subject: record.subject,
    detail: JSON.stringify(record.detail),
    address: record.address,
  };
}

export function toRecord(row: Tables["audit"]): AuditRecord {
  const kind = (["person", "operator", "token", "command"] as const).find(
    (known) => known === row.actor_kind,
  );
  return {
    id: row.id,
    atMs: row.at_ms,
    actor: { kind: kind ?? "command", id: row.actor_id, name: row.actor_name },
    accountId: row.account_id ?? undefined,
    action: row.action,
    subject: row.subject,
    detail: JSON.parse(row.detail) as Readonly<Record<string, unknown>>,
    address: row.address,
  };
}
