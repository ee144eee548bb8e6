import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { idTimeMs } from "../../src/base/ids.ts";
import { Minutes } from "../../src/ledger/minutes.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import { verifyLedger } from "../../src/ledger/verify/verify.ts";
import { masterSecret } from "../../src/secrets/master-secret.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { type CopyStep, copyDatabase } from "../../src/store/copy/copy.ts";
import { copiedTables } from "../../src/store/copy/tables.ts";
import { openLedgerReader } from "../../src/store/postgres/ledger/reader.ts";
import { createPlainStore } from "../../src/store/postgres/ledger-store.ts";
import { ensureWeekOf, listPartitions } from "../../src/store/postgres/partitions.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { openLedgerReader as openSqliteReader } from "../../src/store/sqlite/ledger/reader.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createHome, type Home } from "../setup/child.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { waitUntil } from "../setup/money-home.ts";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import { contentOf, fillStore, receiptsOf } from "../store/full-store.ts";
import { noonMs } from "../store/ledger-samples.ts";
import { insertReceipts } from "../store/postgres-receipts.ts";

let home: Home;
let url: string;
const receipts = receiptsOf(2_500);
const path = () => join(home.dataDir, "svc.db");
const fingerprint = () =>
  createSecrets(
    masterSecret({ fromEnvironment: undefined, dataDir: home.dataDir, hasDatabase: true }),
  ).fingerprint;
const openSource = () => createStore(openSqlite(path()), fingerprint());
const copy = () => home.svc(["store", "copy", "--to", url]);

/** Its data directory is copied for each test. */
let origin: Home;
beforeAll(async () => {
  origin = home = createHome();
  await home.svc(["apply", home.configPath]);
  const store = await openSource();
  await fillStore(store, receipts);
  await store.close();
});
afterAll(() => origin.remove());

beforeEach(() => {
  home = createHome({ isBare: true });
  cpSync(origin.dataDir, home.dataDir, { recursive: true });
});
afterEach(() => home.remove());

beforeEach(async () => {
  url = await createDatabase();
});
afterEach(() => dropDatabase(url));

async function withTarget<T>(work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = await openPostgres({ url });
  return work(postgres).finally(() => postgres.close());
}

test("every table of SQLite has rows in this test, and is copied", () => {
  const raw = new Database(path());
  const names = raw
    .query<{ name: string }, []>("select name from sqlite_master where type = 'table'")
    .all()
    .map(({ name }) => name)
    .filter((name) => !/^(sqlite|kysely)_/.test(name));
  // What is in these two is copied in another form.
  const apart = ["feed", "leases", "meta"];
  expect(copiedTables.map(({ name }) => name).toSorted()).toEqual(
    names.filter((name) => !apart.includes(name)).toSorted(),
  );
  for (const name of names)
    expect([name, raw.query(`select 1 from ${name}`).get()]).not.toContain(null);
  raw.close();
});

test("a copy has all that the source has, its ledger is right, and servers can use it", async () => {
  const { code, stdout, stderr } = await copy();
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  expect(stdout).toContain(`copied ${path()} to postgres://`);
  expect(stdout).toContain("2 accounts, 3 entries, 2,500 receipts");
  const source = await openSource();
  const expected = await contentOf(source);
  await source.close();
  await withTarget(async (postgres) => {
    const shared = await createPostgresStore(postgres, fingerprint());
    const store = createPlainStore({ postgres, shared, nowMs: Date.now });
    expect(await contentOf(store)).toEqual(expected);
    expect(await store.ledger.findClaim("claim_running")).toBeUndefined();
    const reader = await openLedgerReader(postgres);
    const from = openSqliteReader(path());
    expect(await Array.fromAsync(reader.receipts({}))).toEqual(
      await Array.fromAsync(from.receipts({})),
    );
    expect(await reader.leases()).toEqual(await from.leases());
    expect(await verifyLedger(reader)).toEqual(await verifyLedger(from));
    await reader.close();
    await from.close();
    const weeks = (await listPartitions(postgres.db)).filter(({ toMs }) => toMs <= noonMs);
    expect(weeks.length).toBeGreaterThanOrEqual(3);
    const other = await postgres.pool.query("select 1 from receipts_other");
    expect(other.rowCount).toBe(0);
  });
});

test("the chart of the last hour goes on, also where a copy ended during the comparison", async () => {
  const query = { fromMs: noonMs - hourMs, toMs: noonMs, by: "key", grain: "minute" } as const;
  const lastHour = async (store: Store) => {
    const clock = { nowMs: () => noonMs };
    const reports = store.openReports({ clock, flush: async () => {}, minutes: new Minutes() });
    return reports.usage(query).finally(() => reports.close());
  };
  const source = await openSource();
  const expected = await lastHour(source);
  await source.close();
  expect(expected.length).toBeGreaterThan(3);
  await withTarget(async (postgres) => {
    const asked = {
      path: path(),
      postgres,
      fingerprint: fingerprint(),
      nowMs: () => noonMs,
      onVerified: () => {},
      onProgress: () => {},
    };
    let wasAtTables = false;
    const endAtComparison = ({ table }: CopyStep) => {
      wasAtTables ||= table !== undefined;
      if (wasAtTables && table === undefined) throw new Error("the copy was ended");
    };
    await expect(copyDatabase({ ...asked, onProgress: endAtComparison })).rejects.toThrow(
      "the copy was ended",
    );
    expect((await copyDatabase(asked)).isResumed).toBe(true);
    const shared = await createPostgresStore(postgres, fingerprint());
    expect(await lastHour(createPlainStore({ postgres, shared, nowMs: asked.nowMs }))).toEqual(
      expected,
    );
  });
});

test("money can be spent of the copy, and what was spent stays spent", async () => {
  await copy();
  await withTarget(async (postgres) => {
    const { rows } = await postgres.pool.query<{ left: string; entered: string }>(
      `select cast(sum(unleased + settled) as text) as left,
        (select cast(sum(nano) as text) from entries) as entered from accounts`,
    );
    expect(rows[0]?.left).toBe(rows[0]?.entered);
    const open = await postgres.pool.query("select 1 from epochs where is_open");
    expect(open.rowCount).toBe(0);
  });
});

test("a copy that is killed among receipts refuses servers, and continues where it was", async () => {
  const [middle] = receipts.slice(1_500);
  if (middle === undefined) throw new Error("there are more");
  await dropDatabase(url);
  url = await createMigratedDatabase();
  await withTarget(async (postgres) => {
    // Holds up the batch that has this receipt, until its transaction ends.
    await ensureWeekOf(postgres.db, idTimeMs(middle.id));
    const blocker = await postgres.pool.connect();
    await blocker.query("begin");
    await insertReceipts(blocker, { epoch: 1, receipts: [middle] });
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "../../src/main.ts"), "store", "copy", "--to", url],
      {
        env: home.environment(),
        stdout: "ignore",
        stderr: "ignore",
      },
    );
    await waitUntil("the batch that is held up", async () => {
      const { rows } = await postgres.pool.query<{ value: string }>(
        "select value from meta where key = 'store_copy'",
      );
      return rows[0] !== undefined && JSON.parse(rows[0].value).doneRows === 1_000;
    });
    child.kill("SIGKILL");
    await child.exited;
    await blocker.query("rollback");
    blocker.release();
    const copied = await postgres.pool.query("select 1 from receipts");
    expect(copied.rowCount).toBe(1_000);
    await expect(createPostgresStore(postgres, fingerprint())).rejects.toThrow(
      `The database has an unfinished copy of ${path()}. Run svc store copy`,
    );
  });
  const result = await home.json<{ resumed: boolean; receipts: number }>([
    "store",
    "copy",
    "--to",
    url,
  ]);
  expect(result).toMatchObject({ resumed: true, receipts: 2_500 });
  await withTarget(async (postgres) => {
    await createPostgresStore(postgres, fingerprint());
  });
});

async function expectRefused(words: string, exitCode: number): Promise<void> {
  const { code, stderr } = await copy();
  expect(stderr).toContain(words);
  expect(code).toBe(exitCode);
}

test("a copy does not continue with a source that has been used since", async () => {
  await dropDatabase(url);
  url = await createMigratedDatabase();
  await withTarget(({ pool }) =>
    pool.query("insert into meta (key, value) values ('store_copy', $1)", [
      JSON.stringify({ from: path(), stamp: "of before", epoch: 1, table: 0, doneRows: 0 }),
    ]),
  );
  await expectRefused("the SQLite database is another one or has been used since", 4);
  const migrated = await home.svc("migrate", { environment: { SVC_DATABASE_URL: url } });
  expect(migrated.stdout).toContain(`The database has an unfinished copy of ${path()}.`);
});

test("a copy goes into an empty database alone", async () => {
  expect((await copy()).code).toBe(0);
  await home.svc("store copy --cancel");
  await home.svc("account create later");
  await expectRefused("The PostgreSQL database is not empty: its table accounts has rows.", 4);
});

test("a copy goes to no database of another secret, or of a newer version", async () => {
  await dropDatabase(url);
  url = await createMigratedDatabase();
  await withTarget(async (postgres) => {
    await createPostgresStore(postgres, "another");
  });
  await expectRefused("belongs to another master secret", 1);
  await withTarget(({ pool }) =>
    pool.query("insert into kysely_migration (name, timestamp) values ('0999-later', '')"),
  );
  await expectRefused("written by a newer version (it has the migration 0999-later)", 1);
});

test("a copy needs the server to be stopped", async () => {
  const server = await home.serve();
  await expectRefused("Stop it before you copy its database.", 5);
  await server.stop();
  expect((await copy()).code).toBe(0);
});

test("a ledger that is wrong is not copied, and leaves the target empty", async () => {
  const raw = new Database(path());
  raw.run("update receipts set cost = cost + 1 where id = (select max(id) from receipts)");
  raw.close();
  await expectRefused("The SQLite ledger has", 1);
  await withTarget(async ({ pool }) => {
    expect((await pool.query("select 1 from epochs")).rowCount).toBe(0);
    // What migrations leave.
    expect((await pool.query("select key from meta")).rows).toEqual([
      { key: "schema_compatible_from" },
    ]);
  });
});

test("an address that is none, and a database that is not there, are named", async () => {
  const wrong = await home.svc("store copy --to mysql://x");
  expect(wrong.stderr).toContain("--to: Must be the address of a PostgreSQL database");
  const away = await home.svc("store copy --to postgres://u:secret@127.0.0.1:1/x");
  expect(away.stderr).toContain("127.0.0.1:1");
  expect(away.stderr).not.toMatch(/secret|SVC_DATABASE_URL/);
  const none = await home.svc("store copy");
  expect(none.code).toBe(2);
  expect(none.stderr).toContain("or SVC_DATABASE_URL must be set to one");
  const bare = createHome({ isBare: true });
  const missing = await bare.svc(["store", "copy", "--to", url]);
  expect(missing.stderr).toContain("does not exist. Check SVC_DATA_DIR");
  expect(missing.code).toBe(3);
  await bare.remove();
});
