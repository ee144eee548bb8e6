import { expect, test } from "bun:test";
import { openEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { useFolder } from "../../../test/setup/folder.ts";
import { usePostgres } from "../../../test/setup/use-postgres.ts";
import { announce, createFeedStore, keptChanges, mostChangesRead } from "./feed.ts";
import type { Db } from "./schema.ts";

const root = useFolder();
const postgres = usePostgres();

async function change(db: Db, count = 1): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (let at = 0; at < count; at++)
      await announce(transaction, { topic: "keys", subject: `key_${at}` });
  });
}

test("SQLite keeps the newest changes alone", async () => {
  const { db } = openEmptyDatabase(root);
  const feed = createFeedStore(db);
  await change(db, keptChanges + 2);
  expect(await feed.since(2)).toHaveLength(keptChanges);
  expect(await feed.since(1)).toBeUndefined();
  await db.destroy();
});

test("PostgreSQL keeps those of the last minutes, too", async () => {
  const { db, pool } = postgres();
  const feed = createFeedStore(db);
  await pool.query("update feed set sequence = 3000");
  await pool.query(
    `insert into changes (sequence, topic, subject, changed_at)
      select at, 'keys', 'key_1',
        clock_timestamp() - case when at <= 50 then interval '11 minutes' else '9 minutes' end
      from generate_series(1, 3000) at`,
  );
  const firstKept = async () =>
    (await pool.query("select min(sequence) as first from changes")).rows[0].first;
  // A few at a time.
  for (const first of [21, 41, 51, 51]) {
    await change(db);
    expect(await firstKept()).toBe(first);
  }
  expect(await feed.since(50)).toHaveLength(3_004 - 50);
  expect(await feed.since(49)).toBeUndefined();
});

test("too many to be read one by one are none", async () => {
  const { db, pool } = postgres();
  const feed = createFeedStore(db);
  await pool.query("update feed set sequence = $1", [mostChangesRead + 1]);
  await pool.query(
    `insert into changes (sequence, topic, subject)
      select at, 'keys', 'key_1' from generate_series(1, $1::int) at`,
    [mostChangesRead + 1],
  );
  expect(await feed.since(1)).toHaveLength(mostChangesRead);
  expect(await feed.since(0)).toBeUndefined();
});

test("a change that the database has lost is missed, also when its number is given again", async () => {
  const { db, pool } = postgres();
  const feed = createFeedStore(db);
  await change(db, 3);
  const { sequence, stamp = "" } = await feed.newest();
  expect(await feed.since(sequence, stamp)).toEqual([]);
  await pool.query("update feed set sequence = sequence - 1");
  await pool.query("delete from changes where sequence = $1", [sequence]);
  expect(await feed.since(sequence, stamp)).toBeUndefined();
  for (let more = 0; more < 2; more++) {
    await change(db);
    expect(await feed.since(sequence, stamp)).toBeUndefined();
  }
  const again = await feed.newest();
  await change(db);
  expect(await feed.since(again.sequence, again.stamp)).toMatchObject([{ sequence: 5 }]);
});
