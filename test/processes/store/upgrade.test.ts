import { Database } from "bun:sqlite";
import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { createSecrets } from "../../../src/secrets/secrets.ts";
import { refusal } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

/** What an upgrade shows and keeps before it changes a database. */

const dump = readFileSync(join(import.meta.dir, "../../fixtures/database-0011.sql"), "utf8");
const secret = "0123456789abcdef".repeat(4);
const newest = "0011-origin";

const home = useHome({ isBare: true });
let database: string;
let backups: string;

beforeEach(() => {
  database = join(home.dataDir, "svc.db");
  backups = join(home.dataDir, "backups");
  mkdirSync(home.dataDir, { mode: 0o700 });
  writeFileSync(join(home.dataDir, "secret"), `${secret}\n`, { mode: 0o600 });
  withDatabase((raw) => {
    for (const line of dump.trim().split(";\n")) raw.run(line);
    raw.run("insert or replace into meta (key, value) values ('secret_fingerprint', ?)", [
      createSecrets(secret).fingerprint,
    ]);
    raw.run("insert or replace into meta (key, value) values ('versions', ?)", [
      JSON.stringify([{ version: "0.0.9", schema: newest, atMs: 1 }]),
    ]);
  });
});

function withDatabase<T>(work: (raw: Database) => T): T {
  const raw = new Database(database, { create: true });
  try {
    return work(raw);
  } finally {
    raw.close();
  }
}

const migrations = () =>
  withDatabase((raw) =>
    raw.query<{ name: string }, []>("select name from kysely_migration order by name").all(),
  ).map(({ name }) => name);
const files = () => readdirSync(backups).toSorted();

test("an upgrade shows each step before it, backs up, and names the way back, which works", async () => {
  const dryRun = await home.svc("migrate --dry-run");
  expect(dryRun.stdout).toContain("pending 0012-rejections: Adds refused requests");
  expect(migrations().at(-1)).toBe(newest);
  const { stderr, stdout, code } = await home.svc("migrate");
  expect(code).toBe(0);
  expect(stderr).toContain(`upgraded from version 0.0.9 to version ${packageJson.version}:`);
  expect(stderr).toMatch(/0015-preferences: .* Goes through \d+ rows\./);
  expect(stdout).toContain("applied 0012-rejections");
  const [name = ""] = files();
  const file = join(backups, name);
  expect(name).toMatch(/^\d{8}T\d{9}Z-before-0012-rejections\.svcbackup$/);
  expect(stderr).toContain(`backup: ${file}`);
  const wayBack = `run svc restore ${file} --keep-schema, and start svc 0.0.9 on it.`;
  expect(stderr).toContain(wayBack);
  // As the line says.
  for (const end of ["", "-wal", "-mark"])
    if (readdirSync(home.dataDir).includes(`svc.db${end}`))
      renameSync(database + end, `${database}${end}.away`);
  const restored = await home.svc(["restore", file, "--keep-schema"]);
  expect([restored.code, restored.stdout]).toEqual([
    0,
    expect.stringContaining("which must verify"),
  ]);
  expect(migrations().at(-1)).toBe(newest);
  // A start upgrades again, and says so in its log.
  const server = await home.serve();
  const line = server
    .stderr()
    .split("\n")
    .find((one) => one.includes("the database is upgraded"));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    from_version: "0.0.9",
    to_version: packageJson.version,
    migrations: expect.stringContaining("0012-rejections: Adds refused requests"),
    way_back: expect.stringContaining("--keep-schema"),
  });
  expect(await server.stop()).toBe(0);
  expect(files()).toHaveLength(2);
});

test("a backup of an older schema is migrated by a restore", async () => {
  const file = join(home.dataDir, "..", "old.svcbackup");
  await home.ok(["backup", file]);
  expect(migrations().at(-1)).toBe(newest);
  rmSync(database);
  const { stdout, code } = await home.svc(["restore", file]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("applied 0012-rejections")]);
  expect(stdout).toContain("The ledger is verified.");
  expect(await (await home.serve()).stop()).toBe(0);
});

test("an upgrade whose backup fails changes nothing, unless it is switched off", async () => {
  writeFileSync(backups, "in the way");
  for (const words of [["migrate"], ["serve"], ["account", "list"]]) {
    const { stderr, code } = await home.svc(words);
    expect([code, stderr]).toEqual([1, expect.stringContaining("The database was not upgraded")]);
    expect(stderr).toContain("set SVC_UPGRADE_BACKUP=off");
  }
  expect(migrations().at(-1)).toBe(newest);
  const environment = { SVC_UPGRADE_BACKUP: "off" };
  const { stderr, code } = await home.svc("migrate", { environment });
  expect([code, stderr]).toEqual([0, expect.stringContaining("backup: none")]);
  expect(migrations().at(-1)).not.toBe(newest);
});

test("three backups of upgrades are kept", async () => {
  mkdirSync(backups);
  for (const year of ["2021", "2022", "2023"])
    writeFileSync(join(backups, `${year}0101T000000Z-before-0001-x.svcbackup`), "old");
  writeFileSync(join(backups, "mine.svcbackup"), "mine");
  expect(await home.svc("migrate")).toMatchObject({ code: 0 });
  expect(files()).toHaveLength(4);
  expect(files().filter((name) => /^2021|^mine/.test(name))).toEqual(["mine.svcbackup"]);
});

test("the version that wrote a newer schema is named, with the way back", async () => {
  expect(await home.svc("migrate")).toMatchObject({ code: 0 });
  withDatabase((raw) => {
    raw.run("insert into kysely_migration (name, timestamp) values ('9999-later', '')");
    raw.run("update meta set value = ? where key = 'versions'", [
      JSON.stringify([
        { version: packageJson.version, schema: "x", atMs: 1 },
        { version: "7.1.0", schema: "9999-later", atMs: 2 },
      ]),
    ]);
  });
  for (const words of [["migrate"], ["serve"], ["ledger", "verify"]])
    expect((await home.svc(words)).stderr).toContain(
      "The database was written by a newer version, 7.1.0 (it has the migration 9999-later). Start that version, restore the backup from before the upgrade, or use another SVC_DATA_DIR.",
    );
  const file = join(home.dataDir, "..", "newer.svcbackup");
  await home.ok(["backup", file]);
  rmSync(database);
  for (const one of readdirSync(home.dataDir))
    if (/-wal|-mark/.test(one)) rmSync(join(home.dataDir, one));
  expect(await home.svc(["restore", file])).toMatchObject(
    refusal(1, "(it has the migration 9999-later). Restore it with that version."),
  );
});
