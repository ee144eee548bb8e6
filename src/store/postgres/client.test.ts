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

test("an answer that comes byte by byte is given up when its time is over", async () => {
  const slowly = [
    () => query(postgres.pool, { text, answerMs: 200 }),
    () => sql.raw(text).execute(withDeadline(postgres.db, 5_000, 200)),
  ];
  for (const ask of slowly) {
    await postgres.pool.query(text);
    proxy.trickle(20);
    await expect(ask()).rejects.toThrow("has not ended its answer after 200 ms");
    expect((await postgres.pool.query(text)).rows).toEqual([{ one: 1 }]);
  }
});

const row = (length: number) => Uint8Array.of(0x44, 0, 0, 0, length, 0, 9, 0, 0, 0, 2);
const faults: Record<string, Uint8Array> = {
  "a row without its columns": row(10),
  "a length of nothing": row(0),
  "a length of two gigabytes": Uint8Array.of(0x44, 0x7f, 0xff, 0xff, 0xff),
  "a reply of HTTP": new TextEncoder().encode("HTTP/1.1 502 Bad Gateway\r\n\r\n"),
};

test.each(Object.keys(faults))(
  "what no PostgreSQL server sends ends a connection: %s",
  async (of) => {
    await postgres.close();
    postgres = await openPostgres({ url: proxy.url });
    for (const text of ["select 1", "select pg_sleep(9)"]) {
      const client = await postgres.pool.connect();
      const ended = new Promise((resolve) => client.once("error", resolve));
      const asked = client.query({ text, answerMs: 60_000 }).catch((error: unknown) => error);
      if (text === "select 1") await asked;
      // In halves, as a network cuts them.
      const bytes = faults[of] ?? row(0);
      proxy.send(bytes.subarray(0, 3));
      proxy.send(bytes.subarray(3));
      expect(await ended).toBeInstanceOf(Error);
      client.release(true);
    }
    expect((await postgres.pool.query(text)).rows).toEqual([{ one: 1 }]);
  },
);

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
