import { expect, test } from "bun:test";
import { usePostgres } from "../../../../test/setup/use-postgres.ts";
import { receiptOf } from "../../../../test/store/ledger-samples.ts";
import { rehearse } from "./rehearsal.ts";

const postgres = usePostgres();

test("a rehearsal needs the space that receipts need, and leaves none of them", async () => {
  const { pool } = postgres();
  const measure = async () => {
    const { rows } = await pool.query<{ count: number; bytes: number }>(
      `select (select count(*) from receipts) as count, coalesce(sum(pg_total_relation_size(relid)), 0) as bytes
        from pg_partition_tree('receipts')`,
    );
    return rows[0] ?? { count: 0, bytes: 0 };
  };
  const before = await measure();
  await rehearse(pool, 0, [receiptOf({}), receiptOf({})]);
  const after = await measure();
  expect(after.count).toBe(before.count);
  expect(after.bytes - before.bytes).toBeGreaterThan(65_536);
});
