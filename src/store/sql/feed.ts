import type { Transaction } from "kysely";
import type { Change, ChangeFeed, FeedTopic } from "../../base/feed.ts";
import { feedTopics } from "../../base/feed.ts";
import type { Db, Tables } from "./schema.ts";

/** How many changes are kept; who is further behind reads everything anew. */
export const keptChanges = 1_000;

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
  await transaction
    .deleteFrom("changes")
    .where("sequence", "<=", sequence - keptChanges)
    .execute();
}

export function createFeedStore(db: Db): ChangeFeed {
  const latest = async () => {
    const { sequence } = await db
      .selectFrom("feed")
      .select("sequence")
      .where("id", "=", 1)
      .executeTakeFirstOrThrow();
    return sequence;
  };
  return {
    latest,
    async since(sequence) {
      // First, so that a change that is committed meanwhile is not taken for one that is missing.
      if ((await latest()) === sequence) return [];
      const rows = await db
        .selectFrom("changes")
        .selectAll()
        .where("sequence", ">", sequence)
        .orderBy("sequence")
        .execute();
      return rows[0]?.sequence === sequence + 1 ? rows.map(toChange) : undefined;
    },
  };
}

function toChange(row: Tables["changes"]): Change {
  const topic = feedTopics.find((known) => known === row.topic);
  if (topic === undefined) throw new Error(`the change feed has an unknown topic: ${row.topic}`);
  return { sequence: row.sequence, topic, subject: row.subject };
}
