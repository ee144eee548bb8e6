import { existsSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../../base/problem.ts";
import type { Configuration } from "../../config/load.ts";
import { isPostgresUrl } from "../../config/setting-readers.ts";
import { fingerprintOf } from "../../secrets/master-key.ts";
import { keptSecret, masterSecret } from "../../secrets/master-secret.ts";
import { isReplaceable, secretSource } from "../secret.ts";
import type { Checks, DatabaseFindings } from "./checks.ts";

/** Whether the master secret is there, and is the one of the database. */
export function checkSecret(
  checks: Checks,
  { settings }: Configuration,
  { fingerprint, wrappings = [], isUnreadable }: DatabaseFindings,
): void {
  if (isUnreadable) return checks.skipped("Not checked, because the database cannot be read");
  const path = join(settings.dataDir, "secret");
  const { secret, secretFile } = settings;
  const isSet = secret !== undefined || secretFile !== undefined;
  const source = secret === undefined ? (secretFile ?? path) : "SVC_SECRET";
  if (!isSet && !existsSync(path)) {
    if (fingerprint === undefined)
      return checks.skipped("The first start creates the master secret");
    return checks.problem(
      "The master secret of this database is missing.",
      `Set SVC_SECRET or SVC_SECRET_FILE to it, or restore ${path} from a backup. Without it, no stored key works.`,
    );
  }
  let master: string;
  try {
    master = masterSecret({ ...secretSource(settings), hasDatabase: true });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return checks.failed(error);
  }
  if (fingerprint === undefined)
    return checks.ok(`There is a master secret (${source}); the database is not created yet`);
  const own = fingerprintOf(master);
  const isKept = isReplaceable(settings) && keptSecret(settings.dataDir, fingerprint) !== undefined;
  if (isKept && own !== fingerprint)
    return checks.warning(
      `A rotation of the master secret was interrupted (${path} has the one of before).`,
      "The next start or command completes it.",
    );
  if (own !== fingerprint && wrappings.includes(own))
    return checks.warning(
      `The master secret (${source}) is the one of before a rotation (fingerprint ${own}; the new one has ${fingerprint}).`,
      "Give this machine the new secret and restart it, then run svc secret rotate --finish. See docs/deploy/secrets.md.",
    );
  if (own !== fingerprint)
    return checks.problem(
      `The master secret (${source}) is not the one of this database.`,
      "Restore the secret that belongs to it, or point SVC_DATABASE_URL or SVC_DATA_DIR at the right database.",
    );
  checks.ok(`The master secret (${source}) is the one of the database`);
  if (wrappings.length > 1)
    checks.warning(
      "A rotation of the master secret is not finished: the previous secret still opens the database.",
      "Restart every process with the new secret, then run svc secret rotate --finish.",
    );
  if (isPostgresUrl(settings.databaseUrl) && !isSet)
    checks.warning(
      "The master secret is only on this machine, and a backup of the database does not contain it.",
      `Keep a copy of ${path} in a safe place. Other machines need it as well.`,
    );
}
