import { expect, test } from "bun:test";
import { openFilePostgres } from "../../../../test/setup/use-postgres.ts";
import type { PermitAsk } from "../../../limits/permit-store.ts";
import { PostgresPermits } from "./permits.ts";

const postgres = await openFilePostgres();

async function openEpoch(): Promise<number> {
  const { rows } = await postgres.pool.query<{ id: number }>(
    "insert into epochs (node) values ('node') returning id",
  );
  return rows[0]?.id ?? 0;
}

const nothing = { limit: 10, version: 0, returned: 0, kept: 0, settled: 0, needs: [], extra: 0 };
const askFor = (ownerId: string, ask: Partial<PermitAsk>): PermitAsk => ({
  ...nothing,
  ownerId,
  kind: "requests",
  ...ask,
});

test("a call that was overtaken by a later one of its process changes nothing", async () => {
  const epoch = await openEpoch();
  const slots = (ask: Partial<PermitAsk>) => [askFor("late", { ...ask, kind: "concurrency" })];
  const permits = new PostgresPermits(postgres.pool, epoch);
  await permits.borrow(slots({ needs: [1] }));
  const [now] = await permits.borrow(slots({ kept: 7 }));
  expect(now).toMatchObject({ granted: 0, free: 3 });
  // A second instance counts from one again, as a call that the server carries out late.
  const [late] = await new PostgresPermits(postgres.pool, epoch).borrow(slots({ needs: [1, 1] }));
  expect(late).toMatchObject({ granted: 0 });
  const other = new PostgresPermits(postgres.pool, await openEpoch());
  expect(await other.borrow(slots({ needs: [1, 1, 1, 1] }))).toMatchObject([{ granted: 3 }]);
});

test("answers are in the order of the asks", async () => {
  const permits = new PostgresPermits(postgres.pool, await openEpoch());
  const asks = ["z", "a", "m"].map((id, at) =>
    askFor(`order_${id}`, { needs: [at + 1], kind: "tokens" }),
  );
  const answers = await permits.borrow(asks);
  expect(answers.map(({ granted }) => granted)).toEqual([1, 2, 3]);
});

test("processes that ask for the same owners in any order get no more than there is, and do not block each other", async () => {
  const owners = Array.from({ length: 20 }, (_, index) => `owner_${index}`);
  const epochs = await Promise.all(Array.from({ length: 8 }, openEpoch));
  const granted = await Promise.all(
    epochs.map(async (epoch, at) => {
      const permits = new PostgresPermits(postgres.pool, epoch);
      const order = at % 2 === 0 ? owners : owners.toReversed();
      let sum = 0;
      for (let round = 0; round < 10; round++) {
        const asks = order.map((id) => askFor(id, { kind: "concurrency", limit: 30, needs: [1] }));
        const held = asks.map((ask) => ({ ...ask, kept: round }));
        for (const grant of await permits.borrow(held)) sum += grant.granted;
      }
      return sum;
    }),
  );
  // Each has told that it keeps one more every round: above the limit nothing is granted.
  expect(granted.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20 * 30);
});

test("the time is the database's", async () => {
  const permits = new PostgresPermits(postgres.pool, await openEpoch());
  const borrow = (ask: Partial<PermitAsk>) =>
    permits.borrow([askFor("clock", { limit: 1, ...ask })]);
  expect(await borrow({ needs: [1] })).toMatchObject([{ granted: 1 }]);
  expect(await borrow({ needs: [1] })).toMatchObject([{ granted: 0 }]);
  await postgres.pool.query(
    "update limit_levels set at = at - interval '61 seconds' where owner_id = 'clock'",
  );
  expect(await borrow({ needs: [1] })).toMatchObject([{ granted: 1 }]);
});
