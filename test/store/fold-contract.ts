import { expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { hourMs, type Sums } from "../../src/ledger/rollups.ts";
import type { StoredSums } from "../../src/ledger/store.ts";
import { Problems } from "../../src/ledger/verify/problems.ts";
import { checkFolded } from "../../src/ledger/verify/sums.ts";
import { mixedReceipts, noonMs, receiptOf, startSums } from "./ledger-samples.ts";
import type { SumsDatabase } from "./sums-database.ts";

/** Of many keys, so that an hour has several pieces; all of one moment. */
function manyKeys(ms: number, count = 150): Receipt[] {
  return Array.from({ length: count }, (_, at) =>
    receiptOf({
      id: newId("req", ms),
      accountId: at % 3 === 0 ? "acct_2" : "acct_1",
      keyId: `key_${at}`,
      model: `m${at % 5}`,
      provider: at % 2 === 0 ? "p" : "q",
      firstByteMs: at % 4 === 0 ? undefined : at * 20,
      durationMs: at * 400,
      outcome: at % 6 === 0 ? "upstream_error" : "ok",
    }),
  );
}

async function foldAll({ rollups }: SumsDatabase, beforeMs: number): Promise<number> {
  let pieces = 0;
  while (await rollups.fold(beforeMs)) pieces++;
  return pieces;
}

const countOf = (sums: readonly Sums[]) => sums.reduce((sum, { receipts }) => sum + receipts, 0);

/** By day and in totals there is what the rows that are told to be in them add up to. */
async function expectFolded(sums: SumsDatabase, receipts: number): Promise<StoredSums> {
  const stored = await sums.readSums();
  const problems = new Problems();
  checkFolded(stored, problems);
  expect(problems.first).toEqual([]);
  expect(countOf(stored.days)).toBe(receipts);
  for (const grain of ["hour", "day"])
    for (const by of ["model", "account", "key"])
      expect(
        countOf(stored.totals.filter((total) => total.grain === grain && total.by === by)),
      ).toBe(receipts);
  return stored;
}

export function foldTests(database: () => SumsDatabase): void {
  const commit = (receipts: readonly Receipt[]) => database().commit(receipts);

  test("closed hours are added to their days once, and open ones not at all", async () => {
    await database().fund();
    const sums = await startSums(database());
    await commit(manyKeys(noonMs));
    await commit(mixedReceipts(noonMs + hourMs));
    await sums.flush(noonMs);
    await expectFolded(database(), 0);
    await sums.flush(noonMs + 9 * hourMs);
    const stored = await expectFolded(database(), 190);
    expect(countOf(stored.list)).toBe(190);
    expect(await foldAll(database(), noonMs + 9 * hourMs)).toBe(0);
    await sums.flush(noonMs + 10 * hourMs);
    await expectFolded(database(), 190);
  });

  test("days are right after every piece of an hour, and what comes late goes to them too", async () => {
    await database().fund();
    const sums = await startSums(database());
    const receipts = manyKeys(noonMs);
    await commit(receipts);
    await sums.flush(noonMs, true);
    let pieces = 0;
    while (await database().rollups.fold(noonMs + hourMs)) {
      pieces++;
      // Of a row that is folded by then and of one that is not yet.
      await commit([...manyKeys(noonMs, 1), ...manyKeys(noonMs, 140).slice(139)]);
      await sums.flush(noonMs, true);
      const stored = await database().readSums();
      const problems = new Problems();
      checkFolded(stored, problems);
      expect(problems.first).toEqual([]);
      expect(countOf(stored.list)).toBe(receipts.length + 2 * pieces);
    }
    expect(pieces).toBeGreaterThan(3);
    await expectFolded(database(), receipts.length + 2 * pieces);
  });

  crashTests(database);
}

function crashTests(database: () => SumsDatabase): void {
  test.each([0, 1, 3, 100])(
    "a late receipt whose sum a crash took is in its day after the next start (%d pieces folded)",
    async (pieces) => {
      await database().fund();
      const { rollups } = database();
      const sums = await startSums(database());
      const early = manyKeys(noonMs);
      const later = manyKeys(noonMs + 26 * hourMs, 40);
      await database().commit([...early, ...later]);
      await sums.flush(noonMs + 26 * hourMs, true);
      for (let done = 0; done < pieces; done++) await rollups.fold(noonMs + 30 * hourMs);
      // Written, and gone from memory before it was added up.
      const late = [...manyKeys(noonMs, 1), ...manyKeys(noonMs, 150).slice(149)];
      await database().commit(late);
      expect(await rollups.openFromMs()).toBe(noonMs);
      const next = await database().restart();
      const problems = new Problems();
      checkFolded(await next.readSums(), problems);
      expect(problems.first).toEqual([]);
      await foldAll(next, noonMs + 30 * hourMs);
      await expectFolded(next, early.length + later.length + late.length);
      await next.close();
    },
  );

  test("a recount of hours that no day has yet leaves the days as they are", async () => {
    await database().fund();
    const { rollups } = database();
    const sums = await startSums(database());
    await database().commit(manyKeys(noonMs));
    await sums.flush(noonMs + 2 * hourMs);
    const before = await expectFolded(database(), 150);
    await rollups.recount(noonMs + hourMs);
    const after = await expectFolded(database(), 150);
    expect(after.foldedTo).toEqual(before.foldedTo);
    await rollups.recount(noonMs);
    expect((await database().readSums()).days).toEqual([]);
  });
}
