import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../migrations/migrations.ts";
import { openSqlite } from "../sqlite.ts";
import { readForeign } from "./contents.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-contents-"));
  path = join(folder, "svc.db");
  const { db, raw } = openSqlite(path);
  await migrate(db);
  raw.run("insert into meta (key, value) values ('secret_fingerprint', 'x')");
  await db.destroy();
  raw.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Change {
  readonly run?: string;
  /** Bytes of the file and others of the same length, as in the rows of `sqlite_master`. */
  readonly replace?: Readonly<Record<string, string>>;
}

async function foundAfter({ run, replace = {} }: Change) {
  const raw = new Database(path);
  if (run !== undefined) raw.run(run);
  raw.run("PRAGMA journal_mode = DELETE");
  raw.close();
  const bytes = Object.entries(replace).reduce(
    (text, [from, to]) => {
      expect([text.includes(from), from.length]).toEqual([true, to.length]);
      return text.replaceAll(from, to);
    },
    readFileSync(path, "latin1"),
  );
  writeFileSync(path, bytes, "latin1");
  return readForeign(path);
}

const trigger = "create trigger xqlite_t after insert on accounts begin delete from receipts; end";

test("a database that a gateway has written has nothing strange, also after ANALYZE", async () => {
  expect(await foundAfter({ run: "analyze" })).toMatchObject({ programs: [], strange: [] });
});

const programs: readonly (readonly [string, Change])[] = [
  ["a view", { run: "create view v as select 1" }],
  ["a trigger", { run: trigger }],
  ["a trigger in another case", { run: trigger, replace: { triggerxqlite: "Triggerxqlite" } }],
  [
    "a trigger with a name of SQLite",
    { run: trigger, replace: { xqlite_t: "sqlite_t", triggersqlite: "Triggersqlite" } },
  ],
  ["a virtual table", { run: "create virtual table v using fts5(text)" }],
  ["a generated column", { run: "create table g (a text, b text generated always as (hex(a)))" }],
  ["a generated column in short", { run: "create table g (a text, b text as (hex(a)) stored)" }],
];
for (const [what, change] of programs)
  test(`${what} is a program`, async () => {
    expect((await foundAfter(change)).programs).not.toEqual([]);
  });

test("rows are read whatever the case of their table and columns, and the schema is strange", async () => {
  const { providers, strange } = await foundAfter({
    run: `insert into providers (name, kind, base_url, api_key, allow_private)
          values ('p', 'openai', 'https://a.example', '{"variable":"A"}', 0)`,
    replace: {
      tableprovidersproviders: "tableProvidersProviders",
      _1providers: "_1Providers",
      '"providers"': '"Providers"',
      '"api_key" text': '"API_KEY" text',
    },
  });
  expect(providers).toMatchObject([{ name: "p", api_key: '{"variable":"A"}' }]);
  expect(strange).toEqual(["table Providers", "table providers"]);
});

test("a constraint that a moved space takes away is strange", async () => {
  const { strange } = await foundAfter({
    replace: { '"name" text not null unique': '"name" textnot null  unique' },
  });
  expect(strange).toEqual(["table accounts"]);
});
