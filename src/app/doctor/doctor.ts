import type { Check, CheckGroup, DoctorRequest } from "../../cli/doctor-wiring.ts";
import type { Configuration } from "../../config/load.ts";
import { connectControl } from "../../platform/control-socket.ts";
import type { Operations } from "../../platform/operations.ts";
import { ownerPid } from "../../store/sqlite/lock.ts";
import { withStore } from "../store.ts";
import { checkCertificates } from "./certificates.ts";
import { Checks } from "./checks.ts";
import { checkClock } from "./clock.ts";
import { checkDatabase } from "./database.ts";
import { checkExports } from "./exports.ts";
import { checkFiles } from "./files.ts";
import { checkListeners } from "./listeners.ts";
import { checkMachine } from "./machine.ts";
import { checkMail } from "./mail.ts";
import { checkProviders } from "./providers.ts";
import { checkSecret } from "./secret.ts";
import { checkRoleAccounts, checkSignIn } from "./sign-in.ts";
import { checkTelemetry } from "./telemetry.ts";

/**
 * Examines this installation. Each group is examined whatever the others found, as far as it can be
 * without them, and nothing is created or changed.
 */
export async function examine(
  load: () => Configuration,
  { isDeep, onGroup }: DoctorRequest,
): Promise<readonly Check[]> {
  const found: Check[] = [];
  const run = async <T>(
    group: CheckGroup,
    work: (checks: Checks) => T | Promise<T>,
  ): Promise<T | undefined> => {
    onGroup(group);
    const checks = new Checks(group);
    try {
      return await work(checks);
    } catch (error) {
      checks.failed(error);
      return undefined;
    } finally {
      found.push(...checks.found);
    }
  };
  const configuration = await run("configuration", (checks) => loadWhole(checks, load));
  const dataDir = configuration?.settings.dataDir;
  const running =
    dataDir === undefined
      ? undefined
      : (await connectControl(dataDir).catch(() => undefined))?.operations;
  const serverPid = running && dataDir !== undefined ? ownerPid(dataDir) : undefined;
  await run("machine", (checks) => checkMachine(checks, configuration?.settings, serverPid));
  if (configuration === undefined) return found;
  await run("files", (checks) => checkFiles(checks, configuration));
  await run("listeners", (checks) => checkListeners(checks, configuration, running));
  await run("certificates", (checks) => checkCertificates(checks, configuration));
  await run("mail", (checks) => checkMail(checks, configuration.settings));
  await run("telemetry", (checks) => checkTelemetry(checks, configuration.settings));
  const database = await run("database", (checks) => checkDatabase(checks, configuration, isDeep));
  if (database === undefined) return found;
  await run("secret", (checks) => checkSecret(checks, configuration, database));
  await run("clock", (checks) => checkClock(checks, database));
  const isOpened = !found.some(({ group, state }) => group === "secret" && state === "problem");
  const isUsable = running !== undefined || (database.isReady && isOpened);
  await run("sign-in", async (checks) => {
    await checkSignIn(checks, configuration);
    if (isUsable && configuration.settings.oidcRoles !== undefined)
      await withOperations(configuration, running, (operations) =>
        checkRoleAccounts(checks, configuration, operations),
      );
  });
  await run("providers", async (checks) => {
    if (!isUsable) return checks.skipped("Not checked, because the database cannot be opened");
    await withOperations(configuration, running, (operations) =>
      checkProviders(checks, operations),
    );
  });
  await run("exports", async (checks) => {
    if (!isUsable) return checks.skipped("Not checked, because the database cannot be opened");
    await withOperations(configuration, running, (operations) =>
      checkExports(checks, operations, running !== undefined),
    );
  });
  return found;
}

/** The server's where one runs; opening the store beside it would be refused. */
function withOperations(
  configuration: Configuration,
  running: Operations | undefined,
  work: (operations: Operations) => Promise<void>,
): Promise<void> {
  return running === undefined ? withStore(configuration, work) : work(running);
}

function loadWhole(checks: Checks, load: () => Configuration): Configuration {
  const configuration = load();
  const { file, inForce } = configuration;
  checks.ok(file === undefined ? "No config file" : `The config file ${file.path} is valid`);
  const changed = inForce.filter(({ source }) => source !== "default").length;
  checks.ok(`All settings are valid (${changed} set; svc config shows them)`);
  return configuration;
}
