import { sql, type Transaction } from "kysely";
import type { AuditRecord } from "../../../base/audit.ts";
import { nextTurn } from "../../../base/clock.ts";
import type { Account, AccountFilter, AccountStore } from "../../../ledger/account.ts";
import { addAudit } from "../audit.ts";
import { announce } from "../feed.ts";
import type { Db, Tables } from "../schema.ts";
import { textSearch } from "../text-search.ts";
import { addFirstLimits, firstLimitsVersion, fromLimits, toLimits } from "./limits-text.ts";

/** What a new account needs besides its row, before money can be entered. */
type OpenPurse = (transaction: Transaction<Tables>, accountId: string) => Promise<void>;

export function createAccountStore(db: Db, openPurse: OpenPurse): AccountStore {
  return {
    async list() {
      const rows = await db.selectFrom("accounts").selectAll().orderBy("id").execute();
      return rows.map(toAccount);
    },
    pages: (filter) => readPages(db, filter),
    async getMany(ids) {
      if (ids.length === 0) return [];
      const rows = await db.selectFrom("accounts").selectAll().where("id", "in", ids).execute();
      return rows.map(toAccount);
    },
    async find(idOrName) {
      const row = await db
        .selectFrom("accounts")
        .selectAll()
        .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
        .executeTakeFirst();
      return row === undefined ? undefined : toAccount(row);
    },
    async search(wanted) {
      const { matches, rank } = textSearch(wanted, {
        name: sql`name`,
        id: sql`id`,
        text: sql`name || ' ' || id`,
      });
      const rows = await db
        .selectFrom("accounts")
        .selectAll()
        .where(matches)
        .orderBy(rank)
        .orderBy(sql`lower(name)`)
        .orderBy("id")
        .limit(wanted.limit)
        .execute();
      return rows.map(toAccount);
    },
    insert(account, audit) {
      return db.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto("accounts")
          .values(fromAccount(account))
          .onConflict((conflict) => conflict.column("name").doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows !== 1n) return false;
        await openPurse(transaction, account.id);
        await addFirstLimits(transaction, account);
        await addAudit(transaction, audit);
        await announce(transaction, { topic: "accounts", subject: account.id });
        return true;
      });
    },
    setSuspended: (id, atMs, audit) =>
      update(db, { id, set: { suspended_at_ms: atMs ?? null }, audit }),
    setReceiptsDays: (id, days, audit) =>
      update(db, { id, set: { receipts_days: days ?? null }, audit }),
  };
}

/** Read in one turn of the event loop. */
const accountsAtOnce = 2_000;

async function* readPages(
  db: Db,
  { isSuspended = false }: AccountFilter = {},
): AsyncGenerator<readonly Account[]> {
  for (let after = ""; ; ) {
    let query = db.selectFrom("accounts").selectAll().where("id", ">", after);
    if (isSuspended) query = query.where("suspended_at_ms", "is not", null);
    const rows = await query.orderBy("id").limit(accountsAtOnce).execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(toAccount);
    after = last.id;
    await nextTurn();
  }
}

async function update(
  db: Db,
  change: {
    readonly id: string;
    readonly set: Partial<Tables["accounts"]>;
    readonly audit: AuditRecord;
  },
): Promise<void> {
  const { id, set, audit } = change;
  await db.transaction().execute(async (transaction) => {
    await transaction.updateTable("accounts").set(set).where("id", "=", id).execute();
    await addAudit(transaction, audit);
    await announce(transaction, { topic: "accounts", subject: id });
  });
}

function toAccount(row: Tables["accounts"]): Account {
  return {
    id: row.id,
    name: row.name,
    createdAtMs: row.created_at_ms,
    ...(row.suspended_at_ms === null ? {} : { suspendedAtMs: row.suspended_at_ms }),
    ...toLimits(row),
    ...(row.receipts_days === null ? {} : { receiptsDays: row.receipts_days }),
  };
}

function fromAccount(account: Account): Tables["accounts"] {
  return {
    id: account.id,
    name: account.name,
    created_at_ms: account.createdAtMs,
    suspended_at_ms: account.suspendedAtMs ?? null,
    limits: fromLimits(account.limits),
    limits_version: firstLimitsVersion(account),
    receipts_days: account.receiptsDays ?? null,
  };
}
