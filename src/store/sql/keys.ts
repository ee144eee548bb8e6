import { sql, type UpdateObject } from "kysely";
import type { AuditRecord } from "../../base/audit.ts";
import { nextTurn } from "../../base/clock.ts";
import type { Limits } from "../../call/limits.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import { addAudit } from "./audit.ts";
import { announce } from "./feed.ts";
import { readPages } from "./key-pages.ts";
import {
  addFirstLimits,
  firstLimitsVersion,
  fromLimits,
  readLimits,
  toLimits,
} from "./ledger/limits-text.ts";
import type { Db, Tables } from "./schema.ts";
import { textSearch } from "./text-search.ts";

const readNames = (db: Db, ids: readonly string[]) =>
  db.selectFrom("keys").select(["id", "name", "hint"]).where("id", "in", ids).execute();

export function createKeyStore(db: Db): KeyStore {
  return {
    async all() {
      const rows = await db.selectFrom("keys").selectAll().orderBy("id").execute();
      return rows.map(toRecord);
    },
    pages: () => readPages(db),
    fromLine,
    revoked: (most) => readRevoked(db, most),
    async get(id) {
      const row = await db.selectFrom("keys").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : toRecord(row);
    },
    async getMany(ids) {
      if (ids.length === 0) return [];
      const rows = await db.selectFrom("keys").selectAll().where("id", "in", ids).execute();
      return rows.map(toRecord);
    },
    usableHashes: (nowMs) => readUsableHashes(db, nowMs),
    search: (wanted) => searchKeys(db, wanted),
    async names(ids) {
      const found = ids.length === 0 ? [] : await readNames(db, [...new Set(ids)]);
      return new Map(found.map(({ id, name, hint }) => [id, { name, hint }]));
    },
    async insert(record, audit) {
      await db.transaction().execute(async (transaction) => {
        await transaction.insertInto("keys").values(fromRecord(record)).execute();
        await addFirstLimits(transaction, record);
        await addAudit(transaction, audit);
        await announce(transaction, { topic: "keys", subject: record.id });
      });
    },
    update(id, { name, models, expiresAtMs }, audit) {
      return changeLive(db, {
        id,
        audit,
        change: {
          ...(name === undefined ? {} : { name }),
          ...(models === undefined ? {} : { models: fromModels(models ?? undefined) }),
          ...(expiresAtMs === undefined ? {} : { expires_at_ms: expiresAtMs }),
        },
      });
    },
    rotate(id, { hash, hint, previousUntilMs }, audit) {
      const isKept = previousUntilMs !== undefined;
      // On the right-hand side stands what is there before.
      return changeLive(db, {
        id,
        audit,
        change: {
          hash,
          hint,
          previous_hash: isKept ? sql<string>`hash` : null,
          previous_hint: isKept ? sql<string>`hint` : null,
          previous_expires_at_ms: previousUntilMs ?? null,
        },
      });
    },
    revoke: (id, atMs, audit) => revoke(db, { id, atMs, audit }),
    setPaused: (id, atMs, audit) =>
      changeLive(db, {
        id,
        audit,
        change: { paused_at_ms: atMs ?? null },
        isPaused: atMs === undefined,
      }),
    async lastUses() {
      const rows = await db.selectFrom("key_uses").selectAll().execute();
      return new Map(rows.map((row) => [row.key_id, row.last_used_ms]));
    },
    noteUses: (uses) => noteUses(db, uses),
  };
}

/** In the order of their ids, because several processes write the uses of the same keys. */
async function noteUses(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  if (uses.size === 0) return;
  const rows = sql.join([...uses].map(([id, ms]) => sql`(${id}, cast(${ms} as bigint))`));
  await sql`with told (id, ms) as (values ${rows})
    insert into key_uses (key_id, last_used_ms)
    select told.id, told.ms from told join keys on keys.id = told.id where true
    order by keys.id
    on conflict (key_id) do update set last_used_ms = excluded.last_used_ms
      where excluded.last_used_ms > key_uses.last_used_ms`.execute(db);
}

async function readRevoked(db: Db, most: number): Promise<readonly KeyRecord[]> {
  const newest = await db
    .selectFrom("keys")
    .selectAll()
    .where("revoked_at_ms", "is not", null)
    // By an expression, few rows are sorted; in the order of the index, every row is looked up.
    .orderBy(sql`id || ''`, "desc")
    .limit(most)
    .execute();
  return newest.map(toRecord).toReversed();
}

/** The columns of `key-pages.ts`, in the same order. */
type Line = [
  string,
  string,
  string | null,
  string,
  string,
  string,
  string | null,
  number,
  number | null,
  number | null,
  string | null,
  string | null,
  number,
  string | null,
  number | null,
];

function fromLine(line: string): KeyRecord {
  const values: Line = JSON.parse(line);
  const limits = values[11];
  const record = toRecord({
    hash: values[0],
    id: values[1],
    previous_hash: values[2],
    account_id: values[3],
    name: values[4],
    hint: values[5],
    models: values[6],
    created_at_ms: values[7],
    expires_at_ms: values[8],
    revoked_at_ms: null,
    paused_at_ms: values[9],
    created_by: values[10],
    limits: null,
    limits_version: values[12],
    previous_hint: values[13],
    previous_expires_at_ms: values[14],
  });
  return limits === null ? record : { ...record, limits: sharedLimits(limits) };
}

/** Most keys have the same few: parsing them takes as long as the rest of a line. */
const maxShared = 1_000;
const shared = new Map<string, Limits>();

function sharedLimits(text: string): Limits {
  const known = shared.get(text);
  if (known !== undefined) return known;
  if (shared.size >= maxShared) shared.clear();
  const limits = readLimits(text);
  shared.set(text, limits);
  return limits;
}

async function searchKeys(
  db: Db,
  { accountId, ...wanted }: Parameters<KeyStore["search"]>[0],
): Promise<readonly KeyRecord[]> {
  const name = sql<string>`case when name = '' then hint else name end`;
  const { matches, rank } = textSearch(wanted, {
    name,
    id: sql`id`,
    text: sql`name || ' ' || id || ' ' || hint`,
  });
  let query = db.selectFrom("keys").selectAll().where(matches);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  const rows = await query
    .orderBy(rank)
    .orderBy(sql`lower(${name})`)
    .orderBy("id")
    .limit(wanted.limit)
    .execute();
  return rows.map(toRecord);
}

/** Read in one turn of the event loop. */
const hashesAtOnce = 5_000;

async function* readUsableHashes(db: Db, nowMs: number): AsyncGenerator<readonly string[]> {
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom("keys")
      .select(["id", "hash", "previous_hash", "previous_expires_at_ms"])
      .where("id", ">", after)
      .where("revoked_at_ms", "is", null)
      .where("paused_at_ms", "is", null)
      .where((where) =>
        where.or([where("expires_at_ms", "is", null), where("expires_at_ms", ">", nowMs)]),
      )
      .orderBy("id")
      .limit(hashesAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.flatMap(({ hash, previous_hash: previous, previous_expires_at_ms: endsMs }) =>
      previous !== null && (endsMs ?? 0) > nowMs ? [hash, previous] : [hash],
    );
    after = last.id;
    await nextTurn();
  }
}

function revoke(
  db: Db,
  { id, atMs, audit }: { readonly id: string; readonly atMs: number; readonly audit: AuditRecord },
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const known = await transaction
      .selectFrom("keys")
      .select("id")
      .where("id", "=", id)
      .executeTakeFirst();
    if (known === undefined) return false;
    const { numUpdatedRows } = await transaction
      .updateTable("keys")
      .set({ revoked_at_ms: atMs })
      .where("id", "=", id)
      .where("revoked_at_ms", "is", null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 1n) await addAudit(transaction, audit);
    await announce(transaction, { topic: "keys", subject: id });
    return true;
  });
}

/** Changes a key that is not revoked; false when there is none. */
function changeLive(
  db: Db,
  options: {
    readonly id: string;
    readonly change: UpdateObject<Tables, "keys">;
    readonly audit: AuditRecord;
    /** Where told: only one that is paused now, or that is not. */
    readonly isPaused?: boolean;
  },
): Promise<boolean> {
  const { id, change, audit, isPaused } = options;
  return db.transaction().execute(async (transaction) => {
    let update = transaction
      .updateTable("keys")
      .set({ id, ...change })
      .where("id", "=", id)
      .where("revoked_at_ms", "is", null);
    if (isPaused !== undefined)
      update = update.where("paused_at_ms", isPaused ? "is not" : "is", null);
    const { numUpdatedRows } = await update.executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    await addAudit(transaction, audit);
    await announce(transaction, { topic: "keys", subject: id });
    return true;
  });
}

function toRecord(row: Tables["keys"]): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    ...(row.models === null ? {} : { models: new Set<string>(JSON.parse(row.models)) }),
    createdAtMs: row.created_at_ms,
    ...(row.expires_at_ms === null ? {} : { expiresAtMs: row.expires_at_ms }),
    ...(row.revoked_at_ms === null ? {} : { revokedAtMs: row.revoked_at_ms }),
    ...(row.paused_at_ms === null ? {} : { pausedAtMs: row.paused_at_ms }),
    ...(row.created_by === null ? {} : { createdBy: row.created_by }),
    ...toLimits(row),
    ...toPrevious(row),
  };
}

function toPrevious(row: Tables["keys"]): Pick<KeyRecord, "previous"> {
  const { previous_hash: hash, previous_hint: hint, previous_expires_at_ms: expiresAtMs } = row;
  if (hash === null || hint === null || expiresAtMs === null) return {};
  return { previous: { hash, hint, expiresAtMs } };
}

function fromModels(models: ReadonlySet<string> | undefined): string | null {
  return models === undefined ? null : JSON.stringify([...models]);
}

function fromRecord(record: KeyRecord): Tables["keys"] {
  return {
    id: record.id,
    account_id: record.accountId,
    name: record.name,
    hash: record.hash,
    hint: record.hint,
    models: fromModels(record.models),
    created_at_ms: record.createdAtMs,
    expires_at_ms: record.expiresAtMs ?? null,
    revoked_at_ms: record.revokedAtMs ?? null,
    limits: fromLimits(record.limits),
    limits_version: firstLimitsVersion(record),
    previous_hash: record.previous?.hash ?? null,
    previous_hint: record.previous?.hint ?? null,
    previous_expires_at_ms: record.previous?.expiresAtMs ?? null,
    paused_at_ms: record.pausedAtMs ?? null,
    created_by: record.createdBy ?? null,
  };
}
