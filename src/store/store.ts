import type { ChangeFeed } from "../base/feed.ts";
import { Problem } from "../base/problem.ts";
import type { CatalogStore } from "../catalog/catalog.ts";
import type { KeyStore } from "../keys/directory.ts";
import type { AccountStore } from "../ledger/account.ts";
import { createAccountStore } from "./account-store.ts";
import { createCatalogStore } from "./catalog-store.ts";
import { createFeedStore } from "./feed-store.ts";
import { createKeyStore } from "./key-store.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { migrate } from "./migrations.ts";
import type { Db } from "./schema.ts";

/** All ports of the domains, on one database. */
export interface Store {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly catalog: CatalogStore;
  readonly feed: ChangeFeed;
  /** Rejects when the database does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export async function createStore(db: Db, secretFingerprint: string): Promise<Store> {
  await migrate(db);
  const known = await readMeta(db, "secret_fingerprint");
  if (known === undefined) await writeMeta(db, "secret_fingerprint", secretFingerprint);
  else if (known !== secretFingerprint)
    throw new Problem(
      "failed",
      "The database belongs to another master secret: with this one no stored key would work. Restore the secret (SVC_SECRET, or the file `secret` in the data directory), or use another SVC_DATA_DIR.",
    );
  return {
    accounts: createAccountStore(db),
    keys: createKeyStore(db),
    catalog: createCatalogStore(db),
    feed: createFeedStore(db),
    async check() {
      await db.selectFrom("feed").select("sequence").executeTakeFirstOrThrow();
    },
    close: () => db.destroy(),
  };
}
