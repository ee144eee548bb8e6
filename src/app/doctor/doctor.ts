import { Mutex } from "../../base/mutex.ts";
import {
  type Check,
  type CheckGroup,
  checkGroups,
  type DoctorRequest,
} from "../../cli/doctor-wiring.ts";
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
 * without them, and nothing is created or changed. What is asked over the network is asked side by
 * side; before it comes what may keep this process busy, so that no time limit ends because of it.
 */
export async function examine(
  load: () => Configuration,
  { isDeep, onGroups }: DoctorRequest,
): Promise<readonly Check[]> {
  const found = new Map<CheckGroup, readonly Check[]>();
  const active = new Set<CheckGroup>();
  const run = async <T>(
    group: CheckGroup,
    work: (checks: Checks) => T | Promise<T>,
  ): Promise<T | undefined> => {
    const checks = new Checks(group);
    active.add(group);
    onGroups([...active]);
    try {
      return await work(checks);
    } catch (error) {
      checks.failed(error);
      return undefined;
    } finally {
      found.set(group, checks.found);
      active.delete(group);
      if (active.size > 0) onGroups([...active]);
    }
  };
  await examineGroups(run, load, isDeep);
  const order = new Set<CheckGroup>(["configuration", ...checkGroups]);
  return [...order].flatMap((group) => found.get(group) ?? []);
}

type Run = <T>(
  group: CheckGroup,
  work: (checks: Checks) => T | Promise<T>,
) => Promise<T | undefined>;

async function examineGroups(run: Run, load: () => Configuration, isDeep: boolean): Promise<void> {
  const configuration = await run("configuration", (checks) => loadWhole(checks, load));
  const dataDir = configuration?.settings.dataDir;
  const running =
    dataDir === undefined
      ? undefined
      : (await connectControl(dataDir).catch(() => undefined))?.operations;
  const serverPid = running && dataDir !== undefined ? ownerPid(dataDir) : undefined;
  await run("machine", (checks) => checkMachine(checks, configuration?.settings, serverPid));
  if (configuration === undefined) return;
  const { settings } = configuration;
  await run("files", (checks) => checkFiles(checks, configuration));
  const database = await run("database", (checks) => checkDatabase(checks, configuration, isDeep));
  if (database === undefined) return;
  const isOpened = await run("secret", (checks) => {
    checkSecret(checks, configuration, database);
    return checks.found.every(({ state }) => state !== "problem");
  });
  await run("clock", (checks) => checkClock(checks, database));
  const isUsable = running !== undefined || (database.isReady && isOpened === true);
  // The running server has the store open. Without one, only one check at a time can open it.
  const opening = new Mutex();
  const withOperations = (work: (operations: Operations) => Promise<void>) =>
    running === undefined ? opening.run(() => withStore(configuration, work)) : work(running);
  const unusable = "Not checked, because the database cannot be opened";
  await Promise.all([
    run("listeners", (checks) => checkListeners(checks, configuration, running)),
    run("certificates", (checks) => checkCertificates(checks, configuration)),
    run("mail", (checks) => checkMail(checks, settings)),
    run("telemetry", (checks) => checkTelemetry(checks, settings)),
    run("sign-in", (checks) =>
      checks.sideBySide([
        (own) => checkSignIn(own, configuration),
        async (own) => {
          if (isUsable && settings.oidcRoles !== undefined)
            await withOperations((operations) => checkRoleAccounts(own, configuration, operations));
        },
      ]),
    ),
    run("providers", async (checks) => {
      if (!isUsable) return checks.skipped(unusable);
      await withOperations((operations) => checkProviders(checks, operations));
    }),
    run("exports", async (checks) => {
      if (!isUsable) return checks.skipped(unusable);
      await withOperations((operations) => checkExports(checks, operations, running !== undefined));
    }),
  ]);
}

function loadWhole(checks: Checks, load: () => Configuration): Configuration {
  const configuration = load();
  const { file, inForce } = configuration;
  checks.ok(file === undefined ? "No config file" : `The config file ${file.path} is valid`);
  const changed = inForce.filter(({ source }) => source !== "default").length;
  checks.ok(`All settings are valid (${changed} set; svc config shows them)`);
  return configuration;
}
