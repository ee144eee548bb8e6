import { afterAll, beforeAll, expect, test } from "bun:test";
import { waitUntil } from "../../../test/setup/money-home.ts";
import { createDatabase, dropDatabase } from "../../../test/setup/postgres.ts";
import { NoAnswerError } from "./client.ts";
import { openPostgres, type Postgres } from "./postgres.ts";
import { isRefused, query } from "./query.ts";

let url: string;
let postgres: Postgres;

beforeAll(async () => {
  url = await createDatabase();
  postgres = await openPostgres({ url, name: "a node" });
  await postgres.pool.query("create table money (id integer primary key, nano bigint)");
  await postgres.pool.query("insert into money values (1, 0)");
});
afterAll(async () => {
  await postgres.close();
  await dropDatabase(url);
});

const add = (nano: number, answerMs = 5_000) =>
  query(postgres.pool, {
    text: "update money set nano = nano + $1 where id = 1 returning nano",
    values: [nano],
    answerMs,
    isOrdered: true,
  });

/** The server's processes whose statement waits for the lock. */
async function waiting(): Promise<readonly number[]> {
  const { rows } = await postgres.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'update money%'`,
  );
  return rows.map(({ pid }) => pid);
}

test("a statement that was given up is not carried out after a later one", async () => {
  const blocker = await postgres.pool.connect();
  await blocker.query("begin");
  await blocker.query("select 1 from money where id = 1 for update");
  await expect(add(100, 50)).rejects.toThrow(NoAnswerError);
  const earlier = await waiting();
  const later = add(1);
  // It waits for the lock, as the one before did until it was ended.
  await waitUntil("the later statement to wait", async () =>
    (await waiting()).some((pid) => !earlier.includes(pid)),
  );
  await blocker.query("commit");
  blocker.release();
  expect(await later).toEqual([{ nano: 1 }]);
  expect(await add(1)).toEqual([{ nano: 2 }]);
});

test("what a server refuses is told apart from what it does not answer", async () => {
  const text = "insert into money values (1, 1)";
  const refusal = await query(postgres.pool, { text, answerMs: 5_000 }).catch(
    (one: unknown) => one,
  );
  expect(isRefused(refusal)).toBe(true);
  const silence = await query(postgres.pool, { text: "select pg_sleep(9)", answerMs: 20 }).catch(
    (one: unknown) => one,
  );
  expect(isRefused(silence)).toBe(false);
  const ended = postgres.pool.query("select pg_terminate_backend(pg_backend_pid())");
  expect(isRefused(await ended.catch((one: unknown) => one))).toBe(false);
});
