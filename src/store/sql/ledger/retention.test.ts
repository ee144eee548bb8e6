import { beforeEach, expect, test } from "bun:test";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { noonMs, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { newId } from "../../../base/ids.ts";
import { dayMs } from "../../../ledger/rollups.ts";
import type { Sqlite } from "../../sqlite/sqlite.ts";
import { createStore } from "../../sqlite/store.ts";
import { SqlRetention } from "./retention.ts";

const root = useFolder();

let sqlite: Sqlite;

/** Three accounts, each with a receipt on each of thirty days. */
beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  const store = await createStore(sqlite, "x");
  for (const id of ["acct_1", "acct_2", "acct_3"])
    await store.accounts.insert({ id, name: id, createdAtMs: 1 }, auditOf());
  await store.accounts.setReceiptsDays("acct_2", 10, auditOf());
  await store.accounts.setReceiptsDays("acct_3", 5, auditOf());
  const receipts = Array.from({ length: 90 }, (_, at) =>
    receiptOf({
      id: newId("req", noonMs - (29 - Math.floor(at / 3)) * dayMs + at),
      accountId: `acct_${(at % 3) + 1}`,
      charged: 0n,
    }),
  );
  await store.ledger.commit(receipts.map((receipt) => write(receipt)));
});

const retention = () =>
  new SqlRetention({
    db: sqlite.db,
    receiptsAtOnce: 4,
    stepMs: dayMs,
    stepsFromMs: 0,
    async alone(work) {
      await work();
      return true;
    },
    lock: async () => {},
    openFromMs: async () => undefined,
    drop: async () => {},
  });

const counts = () =>
  sqlite.raw
    .query<{ count: number }, []>("select count(*) as count from receipts group by account_id")
    .all()
    .map(({ count }) => count);
const nowMs = noonMs + 1;

test("each step looks at a few receipts, and all of them lead to the marks", async () => {
  const store = retention();
  await store.advance({ nowMs, days: 20 });
  let [steps, before] = [0, 90];
  while (await store.erase({ withAll: true })) {
    const left = counts().reduce((sum, count) => sum + count, 0);
    expect(before - left).toBeLessThanOrEqual(4);
    before = left;
    steps++;
  }
  expect(counts()).toEqual([21, 11, 6]);
  expect(steps).toBeGreaterThan(10);
});

test("a process that comes after another goes on where it was", async () => {
  const first = retention();
  await first.advance({ nowMs, days: undefined });
  for (let step = 0; step < 7; step++) await first.erase({ withAll: true });
  const second = retention();
  await second.advance({ nowMs, days: undefined });
  while (await second.erase({ withAll: true }));
  expect(counts()).toEqual([30, 11, 6]);
  expect(await second.erase({ withAll: true })).toBe(false);
});

test("accounts go on while what goes for all waits for its export", async () => {
  const store = retention();
  await store.advance({ nowMs, days: 20 });
  while (await store.erase({ withAll: false }));
  expect(counts()).toEqual([30, 11, 6]);
  while (await store.erase({ withAll: true }));
  expect(counts()).toEqual([21, 11, 6]);
});
