import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Configuration } from "../../config/load.ts";
import { isPostgresUrl } from "../../config/setting-readers.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import type { Checks } from "./checks.ts";

/** Whether the master secret is there, and is the one of the database. */
export function checkSecret(
  checks: Checks,
  { settings }: Configuration,
  fingerprint: string | undefined,
): void {
  const path = join(settings.dataDir, "secret");
  const isSet = settings.secret !== undefined;
  const source = isSet ? "SVC_SECRET" : path;
  if (!isSet && !existsSync(path)) {
    if (fingerprint === undefined)
      return checks.skipped("The first start creates the master secret");
    return checks.problem(
      "The master secret of this database is missing.",
      `Set SVC_SECRET to it, or restore ${path} from a backup. Without it, no stored key works.`,
    );
  }
  const master = settings.secret ?? readFileSync(path, "utf8").trim();
  if (fingerprint === undefined)
    return checks.ok(`There is a master secret (${source}); the database is not created yet`);
  if (createSecrets(master).fingerprint !== fingerprint)
    return checks.problem(
      `The master secret (${source}) is not the one of this database.`,
      "Restore the secret that belongs to it, or point SVC_DATABASE_URL or SVC_DATA_DIR at the right database.",
    );
  checks.ok(`The master secret (${source}) is the one of the database`);
  if (isPostgresUrl(settings.databaseUrl) && !isSet)
    checks.warning(
      "The master secret is only on this machine, and a backup of the database does not contain it.",
      `Keep a copy of ${path} in a safe place. Other machines need it as well.`,
    );
}
