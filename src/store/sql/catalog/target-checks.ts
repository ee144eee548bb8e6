import { sql } from "kysely";
import type { TargetCheckStore } from "../../../catalog/target-checks.ts";
import { addAudit } from "../audit.ts";
import type { Db } from "../schema.ts";

/** Catalogs have far fewer targets. */
const mostChecks = 5_000;

export function createTargetCheckStore(db: Db): TargetCheckStore {
  return {
    async list() {
      const rows = await db.selectFrom("target_checks").selectAll().limit(mostChecks).execute();
      return rows.map(({ key_name: key, ok, at_ms: atMs, ...rest }) => ({
        ...rest,
        key,
        isOk: ok === 1,
        atMs,
      }));
    },
    async save({ provider, key, model, digest, isOk, atMs }) {
      const outcome = { digest, ok: isOk ? 1 : 0, at_ms: atMs };
      await db.transaction().execute(async (transaction) => {
        await transaction
          .insertInto("target_checks")
          .values({ provider, key_name: key, model, ...outcome })
          .onConflict((conflict) =>
            conflict.columns(["provider", "key_name", "model"]).doUpdateSet(outcome),
          )
          .execute();
        await sql`delete from target_checks where (provider, key_name, model) in (
          select provider, key_name, model from target_checks
          order by at_ms desc, rowid desc limit -1 offset ${mostChecks})`.execute(transaction);
      });
    },
    forgetFailures({ provider, model }, audit) {
      return db.transaction().execute(async (transaction) => {
        await addAudit(transaction, audit);
        let removal = transaction
          .deleteFrom("target_checks")
          .where("provider", "=", provider)
          .where("ok", "=", 0);
        if (model !== undefined) removal = removal.where("model", "in", [model, ""]);
        const { numDeletedRows } = await removal.executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      });
    },
  };
}
