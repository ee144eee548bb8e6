import { systemClock } from "../base/clock.ts";
import { invalid, Problem } from "../base/problem.ts";
import { withoutPassword } from "../base/text/passwords.ts";
import type { CancelView, CopyRequest, CopyView } from "../cli/store-wiring.ts";
import type { Configuration } from "../config/load.ts";
import { databasePlace, isPostgresUrl } from "../config/setting-readers.ts";
import { copyDatabase } from "../store/copy/copy.ts";
import { deadlines } from "../store/postgres/deadlines.ts";
import { openPostgres } from "../store/postgres/postgres.ts";
import { toPostgresProblem } from "../store/postgres/store-problem.ts";
import { markCopied, refuseOtherCopy, takeMarkAway } from "../store/sqlite/copied.ts";
import { toStoreProblem } from "../store/sqlite/store-problem.ts";
import type { Opened } from "./opened.ts";
import { existingSqlite } from "./sqlite-file.ts";
import { openStore } from "./store.ts";

/** `svc store copy`: the SQLite database of this installation to PostgreSQL. */
export async function copyStore(
  configuration: Configuration,
  { to, onProgress }: CopyRequest,
): Promise<CopyView> {
  const url = to ?? configuration.settings.databaseUrl;
  if (!isPostgresUrl(url))
    throw invalid({
      to: `to must be the address of a PostgreSQL database, for example postgres://user:password@host:5432/svc${to === undefined ? ", or SVC_DATABASE_URL must be set to one" : ""}.`,
    });
  const path = existingSqlite(configuration);
  const opened = await openSource(configuration, path);
  try {
    refuseOtherCopy(path, databasePlace(url));
    await settle(opened);
    // A large table may take its time: no statement is cancelled.
    const postgres = await openPostgres({
      url,
      name: "svc store copy",
      statementMs: 0,
      answerMs: deadlines.unlimited,
    });
    const { nowMs } = systemClock;
    const { fingerprint } = opened.secrets;
    const { isResumed, wasComplete, counts, findings } = await copyDatabase({
      path,
      postgres,
      fingerprint,
      nowMs,
      onProgress,
      onVerified: () => markCopied(path, databasePlace(url)),
    }).finally(() => postgres.close());
    const { accounts, entries, receipts, charged } = findings;
    return {
      from: path,
      to: withoutPassword(url),
      resumed: isResumed,
      was_complete: wasComplete,
      rows: Object.values(counts).reduce((sum, count) => sum + count, 0),
      tables: counts,
      accounts,
      entries,
      receipts,
      charged,
    };
  } catch (error) {
    const known = error instanceof Problem ? error : toStoreProblem(error, path);
    const problem = known instanceof Problem ? known : toPostgresProblem(known, url);
    if (to === undefined || !(problem instanceof Problem)) throw problem;
    // The address was given with the command, and not by the setting.
    throw problem.reworded(problem.message.replaceAll("SVC_DATABASE_URL", "--to"));
  } finally {
    await opened.close();
  }
}

/** `svc store copy --cancel`: the SQLite database is the one in use again. */
export async function cancelCopy(configuration: Configuration): Promise<CancelView> {
  const path = existingSqlite(configuration);
  const opened = await openSource(configuration, path);
  try {
    const to = takeMarkAway(path);
    if (to !== undefined) return { database: path, copied_to: to };
  } finally {
    await opened.close();
  }
  throw new Problem({
    code: "not_found",
    message: `The database ${path} was not copied, so there is nothing to cancel.`,
  });
}

/** With its locks, as a server would: its schema is current, and the secret is the right one. */
async function openSource(configuration: Configuration, path: string): Promise<Opened> {
  const { settings } = configuration;
  try {
    return await openStore(
      { ...configuration, settings: { ...settings, databaseUrl: path } },
      { kind: "copy" },
    );
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "busy") throw error;
    throw error.reworded(`${error.message} Stop it before you copy its database.`);
  }
}

/** What the process before has left open: requests that ended with it, and sums of its receipts. */
async function settle({ store }: Opened): Promise<void> {
  const { ledger } = store;
  await ledger.releaseRunningClaims();
  if ((await ledger.rollups.openFromMs()) === undefined) return;
  throw new Problem({
    code: "failed",
    message:
      "An account of the SQLite database was charged more than it has, so its ledger cannot be copied. Credit the account first.",
    command: "ledger verify",
  });
}
