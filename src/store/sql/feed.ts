import { sql, type Transaction } from "kysely";
import type { Change, ChangeFeed, FeedPosition, FeedTopic } from "../../base/feed.ts";
import { feedTopics } from "../../base/feed.ts";
import { byDatabase } from "./dialect.ts";
import type { Db, Tables } from "./schema.ts";

/** This many changes are always kept; who is further behind may have to read everything anew. */
export const keptChanges = 1_000;
/** Who is further behind reads everything anew, because that is faster. */
export const mostChangesRead = 5_000;

/**
 * PostgreSQL keeps those of the last minutes, too: a node may be away for a while, and others change
 * much meanwhile. Each change deletes a few old ones at most, so that none takes long.
 */
export const forgetChangesSql = (sequence: string) => `delete from changes
  where sequence in (select sequence from changes
      where sequence <= ${sequence} - ${keptChanges} order by sequence limit 20)
    and (changed_at < clock_timestamp() - interval '10 minutes'
      or sequence <= ${sequence} - ${100 * keptChanges})`;

/** A moment in microseconds: two changes with one number have different ones. */
export const stampSql = "(extract(epoch from changed_at) * 1000000)::bigint::text";

/**
 * Called inside the writer's own transaction: the change is seen exactly when its cause is. It is the
 * last step, because every other writer waits from here to the commit.
 */
export async function announce(
  transaction: Transaction<Tables>,
  { topic, subject }: { readonly topic: FeedTopic; readonly subject: string },
): Promise<void> {
  const { sequence } = await transaction
    .updateTable("feed")
    .set((set) => ({ sequence: set("sequence", "+", 1) }))
    .where("id", "=", 1)
    .returning("sequence")
    .executeTakeFirstOrThrow();
  await transaction.insertInto("changes").values({ sequence, topic, subject }).execute();
  const forget = byDatabase(transaction, {
    sqlite: `delete from changes where sequence <= ${sequence - keptChanges}`,
    postgres: forgetChangesSql(String(sequence)),
  });
  await sql.raw(forget).execute(transaction);
}

export function createFeedStore(db: Db): ChangeFeed {
  const stampOf = sql.raw(byDatabase(db, { sqlite: "null", postgres: stampSql }));
  const newest = async (): Promise<FeedPosition> => {
    const { rows } = await sql<{ sequence: number; stamp: string | null }>`
      select feed.sequence, (
        select ${stampOf} from changes where changes.sequence = feed.sequence) as stamp
      from feed where id = 1`.execute(db);
    const [row] = rows;
    if (row === undefined) throw new Error("the change feed has no number");
    return { sequence: row.sequence, ...stampedBy(row) };
  };
  return {
    newest,
    latest: async () => (await newest()).sequence,
    async since(sequence, stamp) {
      // First, so that a change that is committed meanwhile is not taken for one that is missing.
      const last = await newest();
      if (last.sequence < sequence) return undefined;
      const { rows } = await sql<ChangeRow>`
        select sequence, topic, subject, ${stampOf} as stamp from changes
        where sequence >= ${sequence} order by sequence limit ${mostChangesRead + 2}`.execute(db);
      const own = rows[0]?.sequence === sequence ? rows.shift() : undefined;
      const isOther = own !== undefined && stamp !== undefined && own.stamp !== stamp;
      if (isOther || rows.length > mostChangesRead) return undefined;
      if (rows.length === 0) return last.sequence === sequence ? [] : undefined;
      return rows[0]?.sequence === sequence + 1 ? rows.map(toChange) : undefined;
    },
  };
}

type ChangeRow = Tables["changes"] & { readonly stamp: string | null };

const stampedBy = ({ stamp }: Pick<ChangeRow, "stamp">) => (stamp === null ? {} : { stamp });

function toChange(row: ChangeRow): Change {
  const topic = feedTopics.find((known) => known === row.topic);
  if (topic === undefined) throw new Error(`the change feed has an unknown topic: ${row.topic}`);
  return { sequence: row.sequence, topic, subject: row.subject, ...stampedBy(row) };
}
