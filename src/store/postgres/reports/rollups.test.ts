import { expect, test } from "bun:test";
import { startCuttingProxy } from "../../../../test/setup/cut-connection.ts";
import { usePostgres } from "../../../../test/setup/use-postgres.ts";
import {
  maxCallMs,
  mixedReceipts,
  noonMs,
  receiptOf,
  startSums,
  sumUp,
} from "../../../../test/store/ledger-samples.ts";
import { openSums, type PostgresSums } from "../../../../test/store/postgres-sums.ts";
import { order } from "../../../../test/store/sums-contract.ts";
import { newId } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { dayMs, hourMs, type Rollups, toHour } from "../../../ledger/rollups.ts";
import { Problems } from "../../../ledger/verify/problems.ts";
import { checkFolded } from "../../../ledger/verify/sums.ts";
import { lockHourSql, lockSql } from "../locks.ts";
import { openPostgres } from "../postgres.ts";
import { transact } from "../transaction.ts";
import { recountEpoch } from "./recount.ts";
import { addRollups } from "./rollup-rows.ts";
import { PostgresRollups } from "./rollups.ts";

const postgres = usePostgres();

/** All epochs together have what the receipts add up to, and so have days and totals. */
async function expectExact(database: PostgresSums, receipts: readonly Receipt[]): Promise<void> {
  const stored = await database.readSums();
  expect(order(stored.list)).toEqual(order(sumUp(receipts)));
  expectFolded(stored);
}

function expectFolded(stored: Awaited<ReturnType<PostgresSums["readSums"]>>): void {
  const problems = new Problems();
  checkFolded(stored, problems);
  expect(problems.first).toEqual([]);
}

test("processes add to the same hours without waiting for each other, and are read as one", async () => {
  const [one, other] = [await openSums(postgres()), await openSums(postgres())];
  const [first, second] = [mixedReceipts(), mixedReceipts()];
  const sums = [await startSums(one), await startSums(other)];
  await Promise.all([one.commit(first), other.commit(second)]);
  await Promise.all(sums.map((rollups) => rollups.flush(noonMs)));
  await expectExact(one, [...first, ...second]);
  expect(await one.rollups.list({ fromMs: noonMs + 9 * hourMs })).toEqual([]);
});

test("an hour that one process has open is folded by no other", async () => {
  const [one, other] = [await openSums(postgres()), await openSums(postgres())];
  const [ofOne, ofOther] = [await startSums(one), await startSums(other)];
  await one.commit([receiptOf()]);
  await other.commit([receiptOf()]);
  await ofOne.flush(noonMs + 5 * hourMs);
  expect((await one.readSums()).days).toEqual([]);
  await ofOther.flush(noonMs + 5 * hourMs);
  const stored = await one.readSums();
  expect(stored.days.map(({ receipts }) => receipts)).toEqual([2]);
  expect(stored.openFromMs).toBe(noonMs + 4 * hourMs);
});

test("of two that fold at once one does, and each hour is folded once", async () => {
  const processes = [await openSums(postgres()), await openSums(postgres())];
  const receipts = Array.from({ length: 200 }, (_, at) =>
    receiptOf({ id: newId("req", noonMs + at), keyId: `key_${at}` }),
  );
  const [first] = processes;
  await first?.commit(receipts);
  await first?.rollups.add(sumUp(receipts), undefined);
  await Promise.all(
    processes.map(async ({ rollups }) => {
      for (let pieces = 0; pieces < 30; pieces++) await rollups.fold(noonMs + hourMs);
    }),
  );
  // Attempts while the other one was at it have folded nothing.
  const fold = () => first?.rollups.fold(noonMs + hourMs);
  while (await fold());
  if (first !== undefined) await expectExact(first, receipts);
  expect((await first?.readSums())?.foldedTo.hourMs).toBe(noonMs + hourMs);
});

test("the sums of a dead process are completed once, however often it is tried", async () => {
  const dead = await openSums(postgres());
  const sums = await startSums(dead);
  const receipts = mixedReceipts();
  await dead.commit(receipts);
  await sums.flush(noonMs);
  const more = mixedReceipts();
  await dead.commit(more);
  const { pool } = postgres();
  await pool.query("update epochs set is_open = false where id = $1", [dead.epoch]);
  await Promise.all(
    [1, 2, 3].map(() => transact(pool, (client) => recountEpoch(client, dead.epoch))),
  );
  await expectExact(dead, [...receipts, ...more]);
  expect(await dead.rollups.openFromMs()).toBeUndefined();
});

test("a process whose epoch was closed adds nothing any more", async () => {
  const zombie = await openSums(postgres());
  const sums = await startSums(zombie);
  const receipts = mixedReceipts();
  await zombie.commit(receipts);
  const next = await zombie.restart();
  await expect(sums.flush(noonMs)).rejects.toThrow("Restart the gateway");
  await expectExact(next, receipts);
});

test.each(["commit", "answer"] as const)(
  "sums are counted once when the connection breaks at the commit and the %s is lost",
  async (lost) => {
    const proxy = await startCuttingProxy(postgres().url);
    const through = await openPostgres({ url: proxy.url, connections: 2 });
    const { epoch, readSums } = await openSums(postgres());
    const rollups = new PostgresRollups({ pool: through.pool, db: through.db, epoch });
    const [first, second] = [sumUp(mixedReceipts()), sumUp(mixedReceipts())];
    await rollups.add([], noonMs);
    proxy.cutNext(lost);
    await rollups.add(first, undefined);
    // Until it is known, the database is asked before anything else.
    expect(await rollups.openFromMs()).toBe(lost === "commit" ? noonMs : undefined);
    expect(order((await readSums()).list)).toEqual(order(first));
    proxy.cutNext(lost);
    await rollups.add(second, noonMs);
    proxy.cutNext(lost);
    await rollups.add(second, noonMs);
    await rollups.add([], undefined);
    const receipts = (await readSums()).list.reduce((sum, row) => sum + row.receipts, 0);
    expect(receipts).toBe(3 * 40);
    await through.close();
    await proxy.close();
  },
);

/** Resolves when somebody waits for an advisory lock, or when the work is done without. */
async function whenWaiting(work: Promise<unknown>): Promise<void> {
  const state = { isDone: false };
  const end = () => {
    state.isDone = true;
  };
  void work.then(end, end);
  const sql = "select 1 from pg_locks where locktype = 'advisory' and not granted";
  while (!state.isDone && (await postgres().pool.query(sql)).rows.length === 0);
}

test("who adds waits for a fold, and finds its rows folded", async () => {
  const { rollups, readSums } = await openSums(postgres());
  const rows = sumUp([receiptOf()]);
  let adding = Promise.resolve();
  await transact(postgres().pool, async (client) => {
    await client.query(lockHourSql(noonMs));
    adding = rollups.add(rows, undefined);
    await whenWaiting(adding);
    await client.query(`insert into meta values ('rollups_folded_to_ms', '${noonMs + hourMs}')`);
  });
  await adding;
  const stored = await readSums();
  expectFolded(stored);
  expect(stored.days.map(({ receipts }) => receipts)).toEqual([1]);
});

test("who adds to another hour does not wait for a fold", async () => {
  const { rollups, readSums } = await openSums(postgres());
  const rows = sumUp([receiptOf({ id: newId("req", noonMs + hourMs) })]);
  await transact(postgres().pool, async (client) => {
    await client.query(lockHourSql(noonMs));
    await rollups.add(rows, undefined);
  });
  expect((await readSums()).list).toHaveLength(1);
});

test("a late row of an hour that a fold skips goes to its day as well", async () => {
  const { rollups, readSums } = await openSums(postgres());
  const hoursLater = (hours: number) =>
    sumUp([receiptOf({ id: newId("req", noonMs + hours * hourMs) })]);
  await rollups.add(hoursLater(0), undefined);
  await rollups.add(hoursLater(3), undefined);
  while (await rollups.fold(noonMs + 4 * hourMs));
  await rollups.add(hoursLater(1), undefined);
  const stored = await readSums();
  expectFolded(stored);
  expect(stored.days.map(({ receipts }) => receipts)).toEqual([3]);
});

test("no hour is skipped while somebody adds to it", async () => {
  const { rollups, readSums } = await openSums(postgres());
  await rollups.add(sumUp([receiptOf({ id: newId("req", noonMs + hourMs) })]), undefined);
  let adding = Promise.resolve();
  await transact(postgres().pool, async (client) => {
    // As a fold does that skips an hour.
    await client.query(lockSql("sums"));
    adding = rollups.add(sumUp([receiptOf()]), undefined);
    await whenWaiting(adding);
    await client.query(`insert into meta values ('rollups_folded_to_ms', '${noonMs + hourMs}')`);
  });
  await adding;
  while (await rollups.fold(noonMs + 2 * hourMs));
  const stored = await readSums();
  expectFolded(stored);
  expect(stored.days.map(({ receipts }) => receipts)).toEqual([2]);
});

test.each([
  ["that it skips hours to", noonMs - dayMs],
  ["that is next", noonMs],
])("a fold of an hour %s waits for who adds, and has their rows", async (_, markMs) => {
  const { epoch, rollups, readSums } = await openSums(postgres());
  const { pool } = postgres();
  await pool.query(`insert into meta values ('rollups_folded_to_ms', '${markMs}')`);
  await rollups.add(sumUp([receiptOf()]), undefined);
  let folding = Promise.resolve(false);
  await transact(pool, async (client) => {
    await addRollups(client, { epoch, rollups: sumUp([receiptOf()]) });
    folding = rollups.fold(noonMs + hourMs);
    await whenWaiting(folding);
  });
  expect(await folding).toBe(true);
  const stored = await readSums();
  expectFolded(stored);
  expect(stored.days.map(({ receipts }) => receipts)).toEqual([2]);
});

/** Numbers that look random, and are the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test.each([1, 2, 3, 4])(
  "whatever processes do and in which order, sums are what the receipts add up to (seed %d)",
  async (seed) => {
    const random = randomOf(seed);
    const receipts: Receipt[] = [];
    let nowMs = noonMs;
    const start = async () => {
      const database = await openSums(postgres());
      return { database, rollups: await startSums(database, nowMs) };
    };
    const processes: { database: PostgresSums; rollups: Rollups }[] = [];
    for (let count = 0; count < 3; count++) processes.push(await start());
    const commit = async ({ database }: (typeof processes)[number]) => {
      // Some are hours late.
      const atMs = nowMs - (random(4) === 0 ? random(30 * hourMs) : random(maxCallMs));
      const some = Array.from({ length: 1 + random(20) }, () => {
        const key = random(20);
        return receiptOf({
          id: newId("req", atMs),
          accountId: `acct_${key % 2}`,
          keyId: `key_${key}`,
          durationMs: random(2_000),
          charged: BigInt(random(1_000_000)) * 1_000_000_007n,
        });
      });
      receipts.push(...some);
      await database.commit(some);
    };
    for (let step = 0; step < 60; step++) {
      nowMs += random(hourMs);
      const at = random(processes.length);
      const one = processes[at];
      const other = processes[(at + 1) % processes.length];
      if (one === undefined || other === undefined) throw new Error("there are three");
      if (random(12) === 0) {
        const { pool } = postgres();
        const { epoch } = one.database;
        await pool.query("update epochs set is_open = false where id = $1", [epoch]);
        const recount = transact(pool, (client) => recountEpoch(client, epoch));
        await Promise.all([recount, other.rollups.flush(nowMs), commit(other)]);
        processes[at] = await start();
      } else if (random(2) === 0) await Promise.all([commit(one), other.rollups.flush(nowMs)]);
      else
        await Promise.all([
          one.rollups.flush(nowMs),
          commit(one),
          other.rollups.flush(nowMs),
          one.database.rollups.fold(toHour(nowMs)),
        ]);
      if (step % 10 === 0) expectFolded(await one.database.readSums());
    }
    for (const { rollups } of processes) await rollups.flush(nowMs, true);
    const [last] = processes;
    if (last === undefined) throw new Error("there are three");
    await expectExact(last.database, receipts);
    while (await last.database.rollups.fold(nowMs + dayMs));
    await expectExact(last.database, receipts);
    const { days } = await last.database.readSums();
    expect(days.reduce((sum, day) => sum + day.receipts, 0)).toBe(receipts.length);
  },
);

test("sums of receipts that a failover has lost are added up again when their hours have ended", async () => {
  const one = await openSums(postgres());
  const sums = await startSums(one);
  const receipts = mixedReceipts();
  await one.commit(receipts);
  const [lost, ...kept] = receipts;
  await postgres().pool.query("delete from receipts where id = $1", [lost?.id]);
  one.rollups.distrust({ fromMs: noonMs, nowMs: noonMs });
  await sums.flush(noonMs);
  expect((await one.readSums()).openFromMs).toBe(noonMs - hourMs);
  const later = receiptOf({ id: newId("req", noonMs + 4 * hourMs) });
  await one.commit([later]);
  await sums.flush(noonMs + 4 * hourMs);
  await sums.flush(noonMs + 4 * hourMs);
  await expectExact(one, [...kept, later]);
  expect((await one.readSums()).openFromMs).toBeGreaterThan(noonMs);
});

test("sums that a failover has lost are added up again", async () => {
  const one = await openSums(postgres());
  const sums = await startSums(one);
  const first = receiptOf();
  await one.commit([first]);
  const { pool } = postgres();
  const { rows } = await pool.query("select sums_added from epochs where id = $1", [one.epoch]);
  await sums.flush(noonMs);
  await pool.query("delete from rollups where epoch = $1", [one.epoch]);
  await pool.query("update epochs set sums_added = $2 where id = $1", [
    one.epoch,
    rows[0]?.sums_added,
  ]);
  const second = receiptOf();
  await one.commit([second]);
  await sums.flush(noonMs);
  await sums.flush(noonMs + 4 * hourMs);
  await expectExact(one, [first, second]);
});
