import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { sql } from "kysely";
import {
  type ForgettingProxy,
  startForgettingProxy,
} from "../../../test/setup/forgetting-proxy.ts";
import { createDatabase, dropDatabase } from "../../../test/setup/postgres.ts";
import { NoAnswerError } from "./client.ts";
import { openPostgres, type Postgres, withDeadline } from "./postgres.ts";
import { query } from "./query.ts";
import { toPostgresProblem } from "./store-problem.ts";
import { transact, UnknownCommitError } from "./transaction.ts";

let url: string;
let proxy: ForgettingProxy;
let postgres: Postgres;
beforeAll(async () => {
  url = await createDatabase();
  const direct = await openPostgres({ url });
  await direct.pool.query("create table notes (text text)");
  await direct.close();
});
afterAll(() => dropDatabase(url));
beforeEach(async () => {
  proxy = await startForgettingProxy(url);
  // One connection: a lost one that came back would be used again.
  postgres = await openPostgres({ url: proxy.url, connections: 1, answerMs: 50 });
});
afterEach(async () => {
  await postgres.close();
  await proxy.close();
});

const text = "select 1 as one";
const ways: Record<string, () => Promise<unknown>> = {
  "a statement of the pool": () => postgres.pool.query(text),
  "the query builder": () => sql.raw(text).execute(postgres.db),
  "a transaction of the query builder": () =>
    postgres.db.transaction().execute((transaction) => sql.raw(text).execute(transaction)),
  "a transaction": () => transact(postgres.pool, (client) => client.query(text)),
  "one statement with its own limit": () => query(postgres.pool, { text, answerMs: 50 }),
};

test.each(Object.keys(ways))("a connection that is lost in silence ends: %s", async (way) => {
  const ask = ways[way] ?? (async () => {});
  await ask();
  proxy.forgetOn(text);
  const error = await ask().catch((one: unknown) => one);
  expect(toPostgresProblem(error, url)).toMatchObject({
    message: expect.stringContaining("does not answer"),
  });
  await ask();
  expect(proxy.forgotten).toBe(1);
  expect(postgres.pool.totalCount).toBe(1);
});

test("a commit without an answer is in doubt, and no success or failure", async () => {
  proxy.forgetAnswerTo("commit\0");
  const note = transact(postgres.pool, (client) => client.query("insert into notes values ('x')"));
  const error = await note.catch((one: unknown) => one);
  expect(error).toBeInstanceOf(UnknownCommitError);
  expect(error).toMatchObject({ cause: expect.any(NoAnswerError) });
  expect((await postgres.pool.query("select * from notes")).rows).toEqual([{ text: "x" }]);
});

test("a statement that gets its own time may take it, and rows that still come count as answers", async () => {
  const slow = "select pg_sleep(0.12)";
  await postgres.pool.query({ text: slow, answerMs: 5_000 });
  await sql.raw(slow).execute(withDeadline(postgres.db, 5_000));
  await transact(postgres.pool, (client) => client.query(slow), { answerMs: 5_000 });
  const rows = "select repeat('x', 20000), pg_sleep(0.02) from generate_series(1, 8)";
  expect((await postgres.pool.query(rows)).rows).toHaveLength(8);
  // The time was theirs alone.
  await expect(postgres.pool.query(slow)).rejects.toThrow(NoAnswerError);
});

test("what the server still does for a connection that was given up is ended", async () => {
  await expect(postgres.pool.query("select pg_sleep(60)")).rejects.toThrow(NoAnswerError);
  const left = "select 1 from pg_stat_activity where query = 'select pg_sleep(60)'";
  while ((await postgres.pool.query({ text: left, answerMs: 5_000 })).rowCount !== 0);
});

test("a pool closes although its connections are lost", async () => {
  const held = await postgres.pool.connect();
  proxy.forget();
  const asked = held.query({ text, answerMs: 60_000 }).catch((error: unknown) => error);
  await postgres.close();
  expect(await asked).toBeInstanceOf(Error);
  held.release(true);
  postgres = await openPostgres({ url: proxy.url, connections: 1 });
});
