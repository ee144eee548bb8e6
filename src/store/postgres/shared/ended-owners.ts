import { sql } from "kysely";
import { temporaryLifetimeMs } from "../../../keys/directory.ts";
import type { EndedOwnerStore } from "../../../keys/signed-keys.ts";
import { announce } from "../../sql/feed.ts";
import type { Db } from "../../sql/schema.ts";

/** A process that made a key may have had a clock that was ahead. */
const keptMs = 2 * temporaryLifetimeMs;

const now = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

export function createEndedOwnerStore(db: Db): EndedOwnerStore {
  return {
    async end(owner, atMs) {
      await db.transaction().execute(async (transaction) => {
        await sql`insert into ended_owners (owner, at_ms) values (${owner}, ${atMs})
          on conflict (owner) do update
            set at_ms = greatest(ended_owners.at_ms, excluded.at_ms)`.execute(transaction);
        // Two that end owners at once must not wait for each other's rows.
        await sql`delete from ended_owners where owner in (
          select owner from ended_owners where at_ms < ${now} - ${keptMs}
            limit 1000 for update skip locked)`.execute(transaction);
        await announce(transaction, { topic: "temporary-keys", subject: owner });
      });
    },
    async ended() {
      const { rows } = await sql<{ owner: string; at_ms: number }>`
        select owner, at_ms from ended_owners where at_ms >= ${now} - ${keptMs}`.execute(db);
      return new Map(rows.map(({ owner, at_ms: atMs }) => [owner, atMs]));
    },
  };
}
