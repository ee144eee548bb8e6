import { sql } from "kysely";
import { createAuditStore } from "../sql/audit.ts";
import { createCatalogStore } from "../sql/catalog/catalog.ts";
import { createTargetCheckStore } from "../sql/catalog/target-checks.ts";
import { createExportStore } from "../sql/exports/store.ts";
import { createFeedStore } from "../sql/feed.ts";
import { createKeyStore } from "../sql/keys.ts";
import { createAccountStore } from "../sql/ledger/accounts.ts";
import { createPeopleStore } from "../sql/people/people.ts";
import { createProviderFailureStore } from "../sql/reports/provider-reading.ts";
import { SqlResponses } from "../sql/responses/store.ts";
import type { Db } from "../sql/schema.ts";
import { checkSecret } from "../sql/secret.ts";
import type { SharedStore } from "../store.ts";
import { alone } from "./alone.ts";
import { deadlines } from "./deadlines.ts";
import { migrateAtStart } from "./migrations/migrations.ts";
import { type Postgres, withDeadline } from "./postgres.ts";
import { createRejectionStore } from "./rejections/store.ts";
import { refuseUnfinishedCopy } from "./unfinished-copy.ts";

export const otherSecret =
  "Set SVC_SECRET to the secret of the gateways that already use this database, or use another SVC_DATABASE_URL.";

/** Several processes may start at once, also on an empty database: one of them creates the tables. */
export async function createPostgresStore(
  { db, pool, close }: Postgres,
  secretFingerprint: string,
): Promise<SharedStore> {
  await prepareSchema(db);
  await checkSecret(db, { fingerprint: secretFingerprint, advice: otherSecret });
  const patient = withDeadline(db, deadlines.long);
  return {
    // An account has no lease until a process borrows from it.
    accounts: createAccountStore(db, async () => {}),
    keys: createKeyStore(db),
    catalog: createCatalogStore(db),
    targetChecks: createTargetCheckStore(db),
    providerFailures: createProviderFailureStore(db),
    // Calls wait for it.
    feed: createFeedStore(withDeadline(db, deadlines.statement, deadlines.statement)),
    people: createPeopleStore(db),
    audit: createAuditStore(db),
    rejections: createRejectionStore(patient),
    responses: new SqlResponses(db),
    exports: createExportStore(patient, (work) => alone({ pool, lock: "exporting", work })),
    // The server has confirmed every commit.
    sync: async () => {},
    async check() {
      await sql`select 1 from feed`.execute(db);
    },
    close,
  };
}

/** Before anything is read from or written to the database. */
export async function prepareSchema(db: Db): Promise<void> {
  await migrateAtStart(db);
  await refuseUnfinishedCopy(db);
}
