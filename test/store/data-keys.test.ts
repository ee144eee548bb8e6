import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openDataKeys } from "../../src/secrets/data-keys.ts";
import { MasterKey } from "../../src/secrets/master-key.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { createDataKeyStore } from "../../src/store/sql/data-keys.ts";
import { readMeta, writeMeta } from "../../src/store/sql/meta.ts";
import type { Db } from "../../src/store/sql/schema.ts";
import { openEmptyDatabase } from "../setup/empty-database.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { useFolder } from "../setup/folder.ts";
import { dropDatabase } from "../setup/postgres.ts";

const root = useFolder();

const text = "a".repeat(64);
const otherText = "b".repeat(64);

const open = (db: Db, secret = text, kept: readonly string[] = []) =>
  openDataKeys({
    store: createDataKeyStore(db),
    master: new MasterKey(secret),
    kept: (fingerprint) =>
      kept.map((one) => new MasterKey(one)).find((key) => key.fingerprint === fingerprint),
    nowMs: () => 5,
    advice: "Use the right one.",
  });

async function createSqlite() {
  const { db } = openEmptyDatabase(root);
  return { db, beside: db, remove: () => db.destroy() };
}

async function createPostgres() {
  const url = await createMigratedDatabase();
  const [one, other] = [await openPostgres({ url }), await openPostgres({ url })];
  return {
    db: one.db,
    beside: other.db,
    async remove() {
      await Promise.all([one.close(), other.close()]);
      await dropDatabase(url);
    },
  };
}

for (const [name, create] of [
  ["SQLite", createSqlite],
  ["PostgreSQL", createPostgres],
] as const)
  describe(`data keys on ${name}`, () => {
    let tables: Awaited<ReturnType<typeof create>>;
    beforeEach(async () => {
      tables = await create();
    });
    afterEach(() => tables.remove());

    test("are random in an empty store, and the same at every start", async () => {
      const { secrets } = await open(tables.db);
      const derived = createSecrets(text);
      expect(secrets.keyHashKey).not.toEqual(derived.keyHashKey);
      expect(secrets.sessionKey).not.toEqual(derived.sessionKey);
      expect(secrets.fingerprint).toBe(derived.fingerprint);
      const sealed = secrets.seal("vendor key", "provider:acme");
      expect(() => derived.open(sealed, "provider:acme")).toThrow();
      const { secrets: again } = await open(tables.db);
      expect(again.keyHashKey).toEqual(secrets.keyHashKey);
      expect(again.open(sealed, "provider:acme")).toBe("vendor key");
      const rows = await tables.db.selectFrom("data_keys").selectAll().execute();
      expect(rows.length).toBe(4);
      for (const key of [secrets.keyHashKey, secrets.sessionKey])
        for (const encoding of ["base64", "hex"] as const)
          expect(JSON.stringify(rows)).not.toContain(Buffer.from(key).toString(encoding));
    });

    test("of a store from before are those that it derived", async () => {
      const derived = createSecrets(text);
      await writeMeta(tables.db, "secret_fingerprint", derived.fingerprint);
      const { secrets } = await open(tables.db);
      expect(secrets.keyHashKey).toEqual(derived.keyHashKey);
      expect(secrets.sessionKey).toEqual(derived.sessionKey);
      const sealed = derived.seal("vendor key", "provider:acme");
      expect(secrets.open(sealed, "provider:acme")).toBe("vendor key");
      const response = await derived.responses.seal([Buffer.from("reply")], "acct_1 resp_1");
      expect(Buffer.from(await secrets.responses.open(response, "acct_1 resp_1")).toString()).toBe(
        "reply",
      );
    });

    test("exclude older versions on PostgreSQL exactly where these would derive others", async () => {
      const needed = () => readMeta(tables.db, "schema_compatible_from");
      await writeMeta(tables.db, "secret_fingerprint", createSecrets(text).fingerprint);
      await open(tables.db);
      const before = await needed();
      expect(before === undefined || before === "0001-foundation").toBe(true);
      await tables.db.deleteFrom("data_keys").execute();
      await tables.db.deleteFrom("meta").execute();
      await open(tables.db);
      expect(await needed()).toBe(name === "SQLite" ? undefined : "0007-data-keys");
    });

    test("are the same for processes that start at once on an empty store", async () => {
      const opened = await Promise.all(
        Array.from({ length: 8 }, (_, at) => open(at % 2 === 0 ? tables.db : tables.beside)),
      );
      for (const { secrets } of opened)
        expect(secrets.keyHashKey).toEqual(opened[0]?.secrets.keyHashKey ?? new Uint8Array());
    });

    test("do not open with another secret, at the start of a store or later", async () => {
      const both = await Promise.allSettled([
        open(tables.db, text),
        open(tables.beside, otherText),
      ]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      await expect(open(tables.db, "c".repeat(64))).rejects.toThrow(
        "belongs to another master secret",
      );
    });

    test("open with a secret that a rotation has kept, if the store belongs to it", async () => {
      await open(tables.db);
      const { master } = await open(tables.db, otherText, [text]);
      expect(master.fingerprint).toBe(createSecrets(text).fingerprint);
      await expect(open(tables.db, otherText, [otherText])).rejects.toThrow(
        "another master secret",
      );
    });

    test("that were moved, changed or removed are an error, and are not replaced", async () => {
      const { db } = tables;
      await open(db);
      const rows = await db.selectFrom("data_keys").selectAll().execute();
      const [first, second] = rows;
      if (first === undefined || second === undefined) throw new Error("there are four");
      const set = async (wrapped: string) => {
        await db
          .updateTable("data_keys")
          .set({ wrapped })
          .where("purpose", "=", first.purpose)
          .execute();
      };
      await set(second.wrapped);
      await expect(open(db)).rejects.toThrow(`the one for ${first.purpose} was changed`);
      await set("AAAA");
      await expect(open(db)).rejects.toThrow(`the one for ${first.purpose} was changed`);
      await set(first.wrapped);
      await open(db);
      await writeMeta(db, "store_id", "0".repeat(32));
      await expect(open(db)).rejects.toThrow("was changed. Restore the database from a backup");
      await db.deleteFrom("data_keys").where("purpose", "=", first.purpose).execute();
      await expect(open(db)).rejects.toThrow(`the one for ${first.purpose} is missing`);
      await db.deleteFrom("data_keys").execute();
      await expect(open(db)).rejects.toThrow("damaged: they are missing");
    });
  });
