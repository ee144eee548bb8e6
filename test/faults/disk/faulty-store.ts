/** The real store, with its connection in the test's hands: SQLite itself is made to fail. */

import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Opened } from "../../../src/app/opened.ts";
import { openSecrets } from "../../../src/app/secret.ts";
import type { Configuration } from "../../../src/config/load.ts";
import { masterSecret } from "../../../src/secrets/master-secret.ts";
import { lockDataDir } from "../../../src/store/sqlite/lock.ts";
import { migrate } from "../../../src/store/sqlite/migrations/migrations.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../../src/store/sqlite/store.ts";

export class FaultyStore {
  #raw: Database | undefined;

  /** As the program opens it. */
  readonly open = async ({ settings }: Configuration): Promise<Opened> => {
    const { dataDir, secret } = settings;
    const lock = lockDataDir(dataDir);
    const path = join(dataDir, "svc.db");
    const hasDatabase = existsSync(path);
    const text = masterSecret({ fromEnvironment: secret, dataDir, hasDatabase });
    const sqlite = openSqlite(path);
    this.#raw = sqlite.raw;
    const { db } = sqlite;
    await migrate(db);
    const keys = await openSecrets({ db, settings, text, advice: "" });
    const { secrets } = keys;
    const store = await createStore(sqlite, secrets.fingerprint);
    const close = async () => {
      await store.close();
      lock.release();
    };
    return { store, secrets, keys, lock, close };
  };

  /** Every write fails from now on, as on a disk that has become read-only. */
  setReadOnly(isReadOnly: boolean): void {
    this.#database.run(`PRAGMA query_only = ${isReadOnly ? "ON" : "OFF"}`);
  }

  /** The file may not grow any more, as on a full disk: SQLITE_FULL once its pages are used up. */
  setFull(isFull: boolean): void {
    const pages = this.#database.query<{ page_count: number }, []>("PRAGMA page_count").get();
    const most = isFull ? (pages?.page_count ?? 0) : 1_073_741_823;
    this.#database.query(`PRAGMA max_page_count = ${most}`).get();
  }

  /** Nothing can be added to a table any more, or again. */
  setRefusing(table: string, isRefusing: boolean): void {
    this.#database.run(
      isRefusing
        ? `CREATE TEMP TRIGGER refuse_${table} BEFORE INSERT ON main.${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`
        : `DROP TRIGGER temp.refuse_${table}`,
    );
  }

  get #database(): Database {
    if (this.#raw === undefined) throw new Error("the store is not open");
    return this.#raw;
  }
}
