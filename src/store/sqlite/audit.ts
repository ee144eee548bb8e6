import type { Database } from "bun:sqlite";
import type { AuditRecord, AuditStore } from "../../base/audit.ts";
import { idFloor } from "../../base/ids.ts";
import type { Db, Tables } from "./schema.ts";

export function createAuditStore(db: Db): AuditStore {
  return {
    add: (record) => addAudit(db, record),
    async list({ accountId, action, after, limit }) {
      let query = db.selectFrom("audit").selectAll().orderBy("id", "desc").limit(limit);
      if (accountId !== undefined) query = query.where("account_id", "=", accountId);
      if (action !== undefined) query = query.where("action", "=", action);
      if (after !== undefined) query = query.where("id", "<", after);
      return (await query.execute()).map(toRecord);
    },
  };
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
export async function countAudit(transaction: Db, record: AuditRecord): Promise<void> {
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

function fromRecord(record: AuditRecord): Tables["audit"] {
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

function toRecord(row: Tables["audit"]): AuditRecord {
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
