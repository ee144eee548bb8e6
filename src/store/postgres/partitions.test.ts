import { expect, test } from "bun:test";
import { sql } from "kysely";
import { openFilePostgres } from "../../../test/setup/use-postgres.ts";
import { noonMs, receiptOf } from "../../../test/store/ledger-samples.ts";
import { insertReceipts } from "../../../test/store/postgres-receipts.ts";
import { newId } from "../../base/ids.ts";
import { dayMs } from "../../ledger/rollups.ts";
import { dropPartitions, ensurePartitions, listPartitions } from "./partitions.ts";

const postgres = await openFilePostgres();

const mondayMs = Date.UTC(2027, 0, 11);
const weekMs = 7 * dayMs;
const names = ["receipts_20270111", "receipts_20270118", "receipts_20270125", "receipts_20270201"];
const placesOf = async () => {
  const { rows } = await sql<{ place: string; ids: string[] }>`
    select tableoid::regclass::text as place, array_agg(id order by id) as ids
    from receipts group by 1 order by 1`.execute(postgres.db);
  return Object.fromEntries(rows.map(({ place, ids }) => [place, ids]));
};

test("weeks get tables ahead of time, though several processes create them at once", async () => {
  const early = receiptOf({ id: newId("req", noonMs) });
  const old = receiptOf({ id: newId("req", noonMs - 30 * dayMs) });
  await insertReceipts(postgres.pool, { epoch: 1, receipts: [early, old] });
  expect(await placesOf()).toEqual({ receipts_other: [old.id, early.id] });
  await Promise.all([1, 2, 3, 4].map(() => ensurePartitions(postgres.db, noonMs)));
  expect(await listPartitions(postgres.db)).toEqual(
    names.map((name, week) => ({
      name,
      fromMs: mondayMs + week * weekMs,
      toMs: mondayMs + (week + 1) * weekMs,
    })),
  );
  expect(await placesOf()).toEqual({ receipts_other: [old.id], [names[0] ?? ""]: [early.id] });
});

test("each receipt is in the table of its week, and its id stays unique", async () => {
  await sql`delete from receipts`.execute(postgres.db);
  const edges = [mondayMs - 1, mondayMs, mondayMs + weekMs - 1, mondayMs + weekMs].map((ms) =>
    receiptOf({ id: newId("req", ms) }),
  );
  await insertReceipts(postgres.pool, { epoch: 1, receipts: edges });
  const ids = edges.map(({ id }) => id);
  expect(await placesOf()).toEqual({
    receipts_other: ids.slice(0, 1),
    receipts_20270111: ids.slice(1, 3),
    receipts_20270118: ids.slice(3),
  });
  await expect(insertReceipts(postgres.pool, { epoch: 2, receipts: edges })).rejects.toThrow(
    "duplicate key",
  );
});

test("tables that end before a moment are dropped, and no other", async () => {
  expect(await dropPartitions(postgres.db, mondayMs + weekMs - 1)).toEqual([]);
  expect(await dropPartitions(postgres.db, mondayMs + weekMs)).toEqual(names.slice(0, 1));
  expect((await listPartitions(postgres.db)).map(({ name }) => name)).toEqual(names.slice(1));
  expect(Object.keys(await placesOf())).toEqual(["receipts_20270118", "receipts_other"]);
  await ensurePartitions(postgres.db, noonMs + weekMs);
  expect((await listPartitions(postgres.db)).map(({ name }) => name)).toEqual([
    ...names.slice(1),
    "receipts_20270208",
  ]);
});

test("a week whose receipts are in use is left for later", async () => {
  const reader = await postgres.pool.connect();
  try {
    await reader.query("begin; select 1 from receipts limit 1");
    await expect(ensurePartitions(postgres.db, noonMs + 9 * weekMs)).rejects.toThrow(
      "lock timeout",
    );
  } finally {
    await reader.query("rollback");
    reader.release();
  }
  await ensurePartitions(postgres.db, noonMs + 9 * weekMs);
  expect((await listPartitions(postgres.db)).at(-1)?.name).toBe("receipts_20270405");
});
