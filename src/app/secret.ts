import { join, resolve } from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { Problem } from "../base/problem.ts";
import type { Configuration } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import type { MasterPlace } from "../platform/secrets/operations.ts";
import { type DataKeyStore, type OpenedKeys, openDataKeys } from "../secrets/data-keys.ts";
import { MasterKey } from "../secrets/master-key.ts";
import {
  installKept,
  isSecretLinked,
  isSecretOpen,
  keptSecret,
  masterSecret,
  type SecretSource,
} from "../secrets/master-secret.ts";
import { createDataKeyStore } from "../store/sql/data-keys.ts";
import type { Db } from "../store/sql/schema.ts";

/** Where the master secret of this installation is. */
export const secretSource = ({ secret, secretFile, dataDir }: Settings): SecretSource => ({
  fromEnvironment: secret,
  file: secretFile,
  dataDir,
});

/** Docker and Kubernetes create such files unless they get a mode. */
export function warnOfOpenSecret(settings: Settings, log: Log): void {
  const { secretFile: file } = settings;
  if (file === undefined || !isSecretOpen(file)) return;
  log.warn(
    "all users of this machine can read the file in SVC_SECRET_FILE; give it the mode 0400, or 0440 with a group of the gateway",
    { file },
  );
}

/** The data keys of a store, and what rotates their wrapping. */
export interface OpenedSecrets extends OpenedKeys {
  readonly dataKeys: DataKeyStore;
}

export interface OpenSecretsOptions {
  /** Its schema is current. */
  readonly db: Db;
  readonly settings: Settings;
  /** The master secret of the settings or of the data directory. */
  readonly text: string;
  readonly advice: string;
}

/**
 * Opens the data keys, and creates them in a store that has none. A rotation that was killed between
 * the database and the file `secret` is completed.
 */
export async function openSecrets(options: OpenSecretsOptions): Promise<OpenedSecrets> {
  const { db, settings, text, advice } = options;
  const { dataDir } = settings;
  const master = new MasterKey(text);
  const dataKeys = createDataKeyStore(db);
  const opened = await openDataKeys({
    store: dataKeys,
    master,
    kept: (fingerprint) => (isReplaceable(settings) ? keptSecret(dataDir, fingerprint) : undefined),
    nowMs: systemClock.nowMs,
    advice,
  });
  const { fingerprint } = opened.master;
  if (fingerprint !== master.fingerprint) installKept(dataDir, fingerprint);
  return { ...opened, dataKeys };
}

/** The operator has not put it elsewhere. */
export const isInDataDir = ({ secret, secretFile }: Settings): boolean =>
  secret === undefined && secretFile === undefined;

/** Whether a rotation replaces the secret by itself: nobody else provides it. */
export const isReplaceable = (settings: Settings): boolean =>
  isInDataDir(settings) && !isSecretLinked(settings.dataDir);

/** What a rotation needs to know of this process. */
export function masterPlace(
  { dataKeys, master }: OpenedSecrets,
  { settings, environment }: Pick<Configuration, "settings" | "environment">,
): MasterPlace {
  const { secret, secretFile, dataDir } = settings;
  const found = { store: dataKeys, master, dataDir };
  if (secret !== undefined) return { ...found, source: "SVC_SECRET", path: undefined };
  if (secretFile === undefined)
    return { ...found, source: "data directory", path: join(dataDir, "secret") };
  const isCredential = isBelowCredentials(secretFile, environment["CREDENTIALS_DIRECTORY"]);
  return { ...found, source: "SVC_SECRET_FILE", path: secretFile, isCredential };
}

/** A command outside of the service does not have the variable, but may be given the file's path. */
function isBelowCredentials(path: string, folder = ""): boolean {
  return (
    (folder !== "" && path.startsWith(`${resolve(folder)}/`)) ||
    path.startsWith("/run/credentials/")
  );
}

/**
 * The master secret with this fingerprint, if this machine has it; also one that was replaced, or that
 * a rotation has written for the operator to put into a setting.
 */
export function masterOf(settings: Settings, fingerprint: string): MasterKey | undefined {
  try {
    const own = new MasterKey(masterSecret({ ...secretSource(settings), hasDatabase: true }));
    if (own.fingerprint === fingerprint) return own;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return undefined;
  }
  return keptSecret(settings.dataDir, fingerprint);
}
