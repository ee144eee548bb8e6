/** A fleet is upgraded while it serves: this version is the one before, and the next one migrates. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Kysely, sql } from "kysely";
import OpenAI from "openai";
import {
  migrate,
  migrations,
  pendingOf,
  type Steps,
} from "../../../src/store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../../../src/store/postgres/postgres.ts";
import { chatAnswers } from "../../fake/recordings.ts";
import { Callers } from "../../setup/callers.ts";
import { type ChildServer, createHome } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { createDatabase, dropDatabase } from "../../setup/postgres.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

let url: string;
let postgres: Postgres;
const upstream = await useFakeUpstream();
const home = createHome({ isBare: true });
afterAll(() => home.remove());
beforeAll(async () => {
  url = await createDatabase();
  postgres = await openPostgres({ url });
  upstream.replyWith(chatAnswers.plain());
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
});
afterAll(async () => {
  await postgres.close();
  await dropDatabase(url);
});

const environment = () => ({ SVC_DATABASE_URL: url, FAKE_KEY: "x" });
const svc = (...words: string[]) => home.svc(words, { environment: environment() });

/** What the rules for migrations allow: columns with a default or without a value, and tables. */
async function addNotes(db: Kysely<unknown>): Promise<void> {
  await sql`alter table receipts add column note text`.execute(db);
  await sql`alter table accounts add column is_large boolean not null default false`.execute(db);
  await sql`create table notes (id text primary key)`.execute(db);
}

const next: Steps = {
  ...migrations,
  "9001-notes": { up: addNotes, about: "", compatibleFrom: Object.keys(migrations).at(-1) ?? "" },
};
const afterNext: Steps = {
  ...next,
  "9002-notes": { up: async () => {}, about: "", compatibleFrom: "9001-notes" },
};

const clientOf = ({ baseUrl }: ChildServer, apiKey: string) =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

test("the version before serves on the new schema, starts on it again, and on no newer one", async () => {
  const first = await home.serve(environment());
  expect((await svc("apply")).code).toBe(0);
  const key = first.key ?? "";
  const callers = new Callers(clientOf(first, key));
  await callers.serve(20);
  expect(await pendingOf(postgres.db, next)).toEqual(["9001-notes"]);
  expect(await migrate(postgres.db, next)).toEqual(["9001-notes"]);
  await callers.serve(20);
  let served = await callers.end();
  expect((await svc("migrate")).stderr).toContain("it has the migration 9001-notes");
  expect(await first.stop()).toBe(0);

  const again = await home.serve(environment());
  const later = new Callers(clientOf(again, key));
  await later.serve(5);
  const { stdout } = await svc("ledger", "verify", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  expect(await migrate(postgres.db, afterNext)).toEqual(["9002-notes"]);
  await later.serve(5);
  served += await later.end();
  expect(await again.stop()).toBe(0);
  const tooOld =
    "error: The database was written by a newer version (it has the migrations 9001-notes, 9002-notes). Start that version, restore the backup from before the upgrade, or use another SVC_DATABASE_URL.";
  await expect(home.serve(environment())).rejects.toThrow(tooOld);
  expect((await svc("ledger", "verify")).stderr).toContain(tooOld);

  const { rows } = await postgres.pool.query("select count(*) as receipts from receipts");
  expect(rows).toEqual([{ receipts: served }]);
});
