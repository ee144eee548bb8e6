import type { Log } from "../base/log.ts";
import type { Settings } from "../config/settings.ts";
import { isSecretOpen, type SecretSource } from "../secrets/master-secret.ts";

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
