import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import {
  migrate,
  migrateAtStart,
  migrations,
  pendingOf,
} from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { compareSchema } from "../../src/store/sqlite/migrations/migrations.ts";
import { createHome, type Home } from "../setup/child.ts";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import { firstSchema } from "../store/first-schema.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

describe("svc migrate on SQLite", () => {
  const raw = () => new Database(join(home.dataDir, "svc.db"));
  const beginWithFirst = () => {
    rmSync(home.dataDir, { recursive: true });
    mkdirSync(home.dataDir, { mode: 0o700 });
    const database = raw();
    for (const statement of firstSchema.split("\n")) database.run(statement);
    database.run("create table kysely_migration (name text primary key, timestamp text not null)");
    database.run("insert into kysely_migration (name, timestamp) values ('0001-foundation', '')");
    database.close();
  };

  test("applies what is pending, once, and shows it before", async () => {
    beginWithFirst();
    const view = {
      applied: [],
      pending: compareSchema(["0001-foundation"]).lacking,
      dry_run: true,
    };
    expect(await home.json<object>("migrate --dry-run")).toMatchObject(view);
    expect(await home.json<object>("migrate --dry-run")).toMatchObject(view);
    const { stdout, code } = await home.svc("migrate");
    for (const name of view.pending) expect(stdout).toContain(`applied ${name}`);
    expect(code).toBe(0);
    expect((await home.svc("migrate")).stdout).toContain("The schema is up to date.");
  });

  test("needs the server to be stopped, but for a look", async () => {
    const server = await home.serve();
    await home.ok("migrate --dry-run");
    const { code, stderr } = await home.svc("migrate");
    expect(stderr).toContain("is in use");
    expect(code).toBe(5);
    await server.stop();
  });

  test("creates no database, and refuses one of a newer version", async () => {
    const bare = createHome({ isBare: true });
    expect((await bare.svc(["migrate"])).stderr).toContain("does not exist. Check SVC_DATA_DIR");
    await bare.remove();
    const database = raw();
    database.run("insert into kysely_migration (name, timestamp) values ('0999-later', '')");
    database.close();
    for (const words of [["migrate"], ["migrate", "--dry-run"], ["ledger", "verify"]])
      expect((await home.svc(words)).stderr).toContain(
        "written by a newer version (it has the migration 0999-later)",
      );
  });
});

describe("svc migrate on PostgreSQL", () => {
  const all = Object.keys(migrations);
  const newest = all.at(-1) ?? "";
  let url: string;
  let postgres: Postgres;
  beforeEach(async () => {
    url = await createDatabase();
    postgres = await openPostgres({ url });
  });
  afterEach(async () => {
    await postgres.close();
    await dropDatabase(url);
  });
  const svc = (...words: string[]) => home.svc(words, { environment: { SVC_DATABASE_URL: url } });

  test("creates the schema of an empty database, and shows it before", async () => {
    const { stdout } = await svc("migrate", "--dry-run", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ applied: [], pending: all });
    expect(await pendingOf(postgres.db)).toEqual(all);
    expect((await svc("migrate")).stdout).toContain("applied 0001-foundation");
    expect((await svc("migrate")).stdout).toContain("The schema is up to date.");
  });

  test("refuses a database of a newer version", async () => {
    await svc("migrate");
    await postgres.pool.query(
      "insert into kysely_migration (name, timestamp) values ('0999-later', '')",
    );
    await postgres.pool.query(
      "update meta set value = '0999-later' where key = 'schema_compatible_from'",
    );
    const { stderr, code } = await svc("migrate");
    expect(stderr).toContain("written by a newer version (it has the migration 0999-later)");
    expect(code).toBe(1);
    for (const words of [
      ["ledger", "verify"],
      ["receipt", "list"],
    ])
      expect((await svc(...words)).stderr).toBe(stderr);
  });

  test("versions that a newer schema is compatible with start on it, and older ones do not", async () => {
    const { db } = postgres;
    const up = async () => {};
    const second = { ...migrations, "9002-next": { up, about: "", compatibleFrom: newest } };
    const third = { ...second, "9003-later": { up, about: "", compatibleFrom: "9002-next" } };
    // Its own step changes nothing that the second version needs, but the one before did.
    const fourth = { ...third, "9004-last": { up, about: "", compatibleFrom: newest } };
    const refused = (names: string) =>
      `The database was written by a newer version (it has the ${names.includes(",") ? "migrations" : "migration"} ${names}). Start that version, restore the backup from before the upgrade, or use another SVC_DATABASE_URL.`;
    await migrate(db, second);
    expect(await migrateAtStart(db)).toEqual([]);
    await expect(migrate(db)).rejects.toThrow(refused("9002-next"));
    await expect(pendingOf(db)).rejects.toThrow(refused("9002-next"));
    for (const later of [third, fourth]) {
      await migrate(db, later);
      expect(await migrateAtStart(db, second)).toEqual([]);
      await expect(migrateAtStart(db)).rejects.toThrow("written by a newer version");
    }
  });

  test("of several processes that migrate at once, one does it, and the others wait", async () => {
    const others = await Promise.all([1, 2, 3].map(() => openPostgres({ url })));
    const applied = await Promise.all(others.map(({ db }) => migrate(db)));
    expect(applied.flat()).toEqual(all);
    for (const other of others) await other.close();
  });

  test("a migration that fails leaves nothing, takes its time, and is applied the next time", async () => {
    const table = (db: Kysely<unknown>) =>
      db.schema.createTable("half").addColumn("id", "text").execute();
    await migrate(postgres.db);
    const stepOf = (up: (db: Kysely<unknown>) => Promise<void>) => ({
      ...migrations,
      "9002-half": { up, about: "", compatibleFrom: newest },
    });
    const failing = async (db: Kysely<unknown>) => {
      await table(db);
      throw new Error("the connection broke");
    };
    await expect(migrate(postgres.db, stepOf(failing))).rejects.toThrow(
      "The database migration failed and changed nothing",
    );
    const limits: string[] = [];
    const whole = async (db: Kysely<unknown>) => {
      const { rows } = await sql<{ limit: string }>`
        select current_setting('statement_timeout') as limit`.execute(db);
      limits.push(rows[0]?.limit ?? "");
      await table(db);
    };
    expect(await migrate(postgres.db, stepOf(whole))).toEqual(["9002-half"]);
    // No limit while it runs, and the usual one again behind it.
    expect(limits).toEqual(["0"]);
    const { rows } = await postgres.pool.query<{ limit: string }>(
      "select current_setting('statement_timeout') as limit",
    );
    expect(rows[0]?.limit).toBe("30s");
  });

  test("a migration that meets a deadlock with a call begins again", async () => {
    await migrate(postgres.db);
    const call = await postgres.pool.connect();
    // Whoever waits longer looks first, and is the one that the database ends.
    await call.query("set deadlock_timeout = '1min'");
    await call.query("begin; lock table accounts in row exclusive mode");
    let commit: Promise<unknown> | undefined;
    let begun = 0;
    const crossed = async (db: Kysely<unknown>) => {
      begun++;
      await sql`alter table receipts add column note text`.execute(db);
      commit ??= call
        .query("lock table receipts in row exclusive mode")
        .then(() => call.query("commit"));
      await sql`alter table accounts add column note text`.execute(db);
    };
    const steps = {
      ...migrations,
      "9005-crossed": { up: crossed, about: "", compatibleFrom: newest },
    };
    expect(await migrate(postgres.db, steps)).toEqual(["9005-crossed"]);
    expect(begun).toBe(2);
    await commit;
    call.release(true);
  });
});
