import { expect, test } from "bun:test";
import { join } from "node:path";
import { useFolder } from "../../../../test/setup/folder.ts";
import { type UsedPostgres, usePostgres } from "../../../../test/setup/use-postgres.ts";
import { receiptOf } from "../../../../test/store/ledger-samples.ts";
import { insertReceipts } from "../../../../test/store/postgres-receipts.ts";
import { idTimeMs } from "../../../base/ids.ts";
import { verifyLedger } from "../../../ledger/verify/verify.ts";
import { createMark } from "../../sqlite/mark.ts";
import { Losses } from "./losses.ts";
import { openLedgerReader } from "./reader.ts";

const folder = useFolder();
const postgres = usePostgres();
let marks = 0;

/** A node to which receipts are confirmed, one per second. */
async function setUp(database: UsedPostgres, count: number) {
  let elapsedMs = 0;
  const markPath = join(folder, String(marks++));
  const options = { postgres: database, markPath, nowMs: () => 5, elapsedMs: () => elapsedMs };
  const losses = new Losses(options);
  const receipts = Array.from({ length: count }, () => receiptOf({ charged: 0n, cost: 0n }));
  await insertReceipts(database.pool as never, { epoch: 0, receipts });
  for (const { id } of receipts) {
    elapsedMs += 1_000;
    losses.confirmed(id);
  }
  const lose = (ids: readonly string[]) =>
    database.pool.query("delete from receipts where id = any ($1)", [ids]);
  const connect = () => database.pool.emit("connect", { query() {}, on() {} } as never);
  return { losses, ids: receipts.map(({ id }) => id), options, markPath, lose, connect };
}

async function problems(database: UsedPostgres) {
  const reader = await openLedgerReader(database);
  const findings = await verifyLedger(reader);
  await reader.close();
  return findings.problems.filter(({ kind }) => kind.startsWith("lost-"));
}

test("receipts that a failover has lost are recorded once, with their extent", async () => {
  const database = postgres();
  const { losses, ids, lose, connect } = await setUp(database, 5);
  connect();
  expect(await losses.check()).toBeUndefined();
  const [first = "", last = ""] = [ids[2], ids[4]];
  await lose(ids.slice(2));
  // Nothing has connected anew.
  expect(await losses.check()).toBeUndefined();
  connect();
  const fromMs = idTimeMs(first);
  expect(await losses.check()).toMatchObject({ receiptId: last, receipts: 3, fromMs });
  connect();
  expect(await losses.check()).toBeUndefined();
  expect(losses.lost).toEqual({ receipts: 3 });
  expect(await problems(database)).toMatchObject([
    {
      kind: "lost-receipts",
      subject: last,
      expected: `this receipt and the ones before it, 3 since ${new Date(fromMs).toISOString()}`,
    },
  ]);
});

test("a receipt that is confirmed while the others are looked for is no loss", async () => {
  const database = postgres();
  const { losses, connect } = await setUp(database, 1);
  const later = receiptOf({ charged: 0n, cost: 0n });
  await insertReceipts(database.pool as never, { epoch: 0, receipts: [later] });
  connect();
  const check = losses.check();
  losses.confirmed(later.id);
  expect(await check).toBeUndefined();
});

test("what the last run of a node was confirmed is looked for at its start", async () => {
  const database = postgres();
  const { ids, options, markPath, lose } = await setUp(database, 1);
  const [receiptId = ""] = ids;
  createMark(markPath, { receiptId, sequence: 0 });
  expect(await new Losses(options).findAtStart()).toBeUndefined();
  await lose(ids);
  expect(await new Losses(options).findAtStart()).toMatchObject({ receiptId, sequence: 0 });
  expect(await problems(database)).toMatchObject([{ kind: "lost-receipts", subject: receiptId }]);
});

test("a number of the feed that goes back is a lost change", async () => {
  const database = postgres();
  const { losses } = await setUp(database, 0);
  for (const sequence of [7, 9, 8]) losses.changed(sequence);
  expect(await losses.check()).toMatchObject({ receiptId: "", sequence: 9 });
  expect(await losses.check()).toBeUndefined();
  expect(await problems(database)).toMatchObject([{ kind: "lost-changes", subject: "change 9" }]);
});
