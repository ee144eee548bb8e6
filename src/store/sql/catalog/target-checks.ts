import { sql } from "kysely";
import type { TargetCheckStore } from "../../../catalog/target-checks.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
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
        await lockFor(transaction, "target checks");
        await transaction
          .insertInto("target_checks")
          .values({ provider, key_name: key, model, ...outcome })
          .onConflict((conflict) =>
            conflict.columns(["provider", "key_name", "model"]).doUpdateSet(outcome),
          )
          .execute();
        // The one just made stays, also where all others were made at the same time.
        const isNew = sql`provider = ${provider} and key_name = ${key} and model = ${model}`;
        await sql`delete from target_checks where (provider, key_name, model) in (
          select provider, key_name, model from target_checks
          order by case when ${isNew} then 0 else 1 end, at_ms desc, provider, key_name, model
          limit ${mostChecks} offset ${mostChecks})`.execute(transaction);
      });
    },
    forgetFailures({ provider, model }, audit) {
      return db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "target checks");
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
