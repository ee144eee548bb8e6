import { expect, test } from "bun:test";
import { sql } from "kysely";
import { openFilePostgres } from "../../../test/setup/use-postgres.ts";
import { noonMs, receiptOf } from "../../../test/store/ledger-samples.ts";
import { insertReceipts } from "../../../test/store/postgres-receipts.ts";
import { newId } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { applyRetention } from "../../ledger/retention.ts";
import { dayMs } from "../../ledger/rollups.ts";
import { ensurePartitions, listPartitions } from "./partitions.ts";
import { createRetentionStore } from "./retention.ts";

const postgres = await openFilePostgres();

const log = createLog({ level: "error", pretty: false, write: () => {} });
const names = async () => (await listPartitions(postgres.db)).map(({ name }) => name);
const ids = async () => {
  const { rows } = await sql<{ id: string }>`select id from receipts order by id`.execute(
    postgres.db,
  );
  return rows.map(({ id }) => id);
};

test("whole weeks go, and receipts of weeks without a table", async () => {
  await ensurePartitions(postgres.db, noonMs);
  const receipts = [-50, 0, 2, 3, 9].map((day) =>
    receiptOf({ id: newId("req", noonMs + day * dayMs) }),
  );
  await insertReceipts(postgres.pool, { epoch: 1, receipts });
  const store = createRetentionStore(postgres);
  const apply = (nowMs: number) => applyRetention({ store, days: 10, nowMs, log });
  // 15 January 2027 is a Friday: in eleven days part of its week must still be kept.
  await apply(noonMs + 11 * dayMs);
  expect((await names())[0]).toBe("receipts_20270111");
  expect(await ids()).toEqual(receipts.slice(1).map(({ id }) => id));
  await apply(noonMs + 13 * dayMs);
  expect((await names())[0]).toBe("receipts_20270118");
  expect(await ids()).toEqual(receipts.slice(3).map(({ id }) => id));
});

test("one process at a time", async () => {
  const [one, other] = [createRetentionStore(postgres), createRetentionStore(postgres)];
  const ran: unknown[] = [];
  await one.alone(async () => {
    ran.push(await other.alone(async () => void ran.push("other")));
  });
  ran.push(await other.alone(async () => void ran.push("later")));
  expect(ran).toEqual([false, "later", true]);
});
