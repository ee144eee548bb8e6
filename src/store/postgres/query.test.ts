import { afterAll, beforeAll, expect, test } from "bun:test";
import type { QueryConfig } from "pg";
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

const addSql = "update money set nano = nano + $1 where id = 1 returning nano";
const add = (nano: number, answerMs = 5_000) =>
  query(postgres.pool, {
    text: addSql,
    values: [nano],
    answerMs,
    isOrdered: true,
  });

/** The server's processes whose statement waits for the lock. */
async function waiting(): Promise<readonly number[]> {
  const { rows } = await postgres.pool.query<{ pid: number }>({
    text: `select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'update money%'`,
  });
  return rows.map(({ pid }) => pid);
}

test("a statement that was given up is not carried out after a later one", async () => {
  const sent: string[] = [];
  const mayEnd = Promise.withResolvers<void>();
  // Statements as they leave; those that end others are held back.
  postgres.pool.on("connect", (client) => {
    const send = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
    const query = async (config: string | QueryConfig, ...rest: readonly unknown[]) => {
      const { text, values = [] } = typeof config === "string" ? { text: config } : config;
      if (text.includes("pg_terminate_backend")) await mayEnd.promise;
      sent.push(`${text} ${values[0]}`);
      return send(config, ...rest);
    };
    Object.assign(client, { query });
  });
  const blocker = await postgres.pool.connect();
  // Connections that are free when the later statement comes: nothing else holds it back.
  const free = await Promise.all([1, 2, 3, 4].map(() => postgres.pool.connect()));
  for (const client of free) client.release();
  await blocker.query({ text: "begin" });
  await blocker.query({ text: "select 1 from money where id = 1 for update" });
  await expect(add(100, 50)).rejects.toThrow(NoAnswerError);
  const earlier = await waiting();
  const later = add(1);
  await query(postgres.pool, { text: "select 1", answerMs: 5_000 });
  const updates = () => sent.filter((text) => text.startsWith("update money"));
  expect(updates()).toEqual([`${addSql} 100`]);
  mayEnd.resolve();
  // It waits for the lock, as the one before did until it was ended.
  await waitUntil("the later statement to wait", async () =>
    (await waiting()).some((pid) => !earlier.includes(pid)),
  );
  await blocker.query({ text: "commit" });
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
