import type { PoolClient } from "pg";
import type { AuditRecord } from "../../base/audit.ts";
import type { FeedTopic } from "../../base/feed.ts";
import { fromRecord } from "../sql/audit.ts";
import { forgetChangesSql } from "../sql/feed.ts";

/** The last step of a transaction: whoever takes a number holds up all others until it commits. */
export async function announceChange(
  client: PoolClient,
  { topic, subject }: { readonly topic: FeedTopic; readonly subject: string },
): Promise<void> {
  await client.query(
    `with next as (update feed set sequence = sequence + 1 where id = 1 returning sequence),
      dropped as (${forgetChangesSql("(select sequence from next)")})
      insert into changes (sequence, topic, subject) select sequence, $1, $2 from next`,
    [topic, subject],
  );
}

export async function writeAudit(client: PoolClient, record: AuditRecord): Promise<void> {
  const row = fromRecord(record);
  const names = Object.keys(row);
  await client.query(
    `insert into audit (${names.join(", ")}) values (${names.map((_, at) => `$${at + 1}`).join(", ")})`,
    Object.values(row),
  );
}
