import type { Account, AccountStore } from "../ledger/account.ts";
import { announce } from "./feed-store.ts";
import type { Db, Tables } from "./schema.ts";

export function createAccountStore(db: Db): AccountStore {
  return {
    async list() {
      const rows = await db.selectFrom("accounts").selectAll().orderBy("id").execute();
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
    insert(account) {
      return db.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto("accounts")
          .values({ id: account.id, name: account.name, created_at_ms: account.createdAtMs })
          .onConflict((conflict) => conflict.column("name").doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows !== 1n) return false;
        await announce(transaction, { topic: "accounts", subject: account.id });
        return true;
      });
    },
  };
}

function toAccount(row: Tables["accounts"]): Account {
  return { id: row.id, name: row.name, createdAtMs: row.created_at_ms };
}
