import { resolve } from "node:path";
import { baseDir } from "../base/place.ts";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";
import type { Environment } from "./child-environment.ts";

/** Read when the settings are. */
const readHere = ["SVC_DATABASE_URL", "SVC_OIDC_CLIENT_SECRET", "SVC_SMTP_URL"] as const;

/**
 * Settings with a secret can name a file in place of it, because a variable is inherited by child
 * processes and shown by many tools. The master secret is read when a database is opened: commands
 * that need none work without it.
 */
export function readSettingFiles(environment: Environment): {
  readonly environment: Environment;
  readonly problems: readonly string[];
} {
  const isSet = (name: string) => (environment[name] ?? "") !== "";
  const problems = ["SVC_SECRET", ...readHere]
    .filter((name) => isSet(name) && isSet(`${name}_FILE`))
    .map((name) => `${name} and ${name}_FILE are both set. Unset one of them.`);
  const found: Record<string, string> = {};
  for (const name of readHere) {
    const named = environment[`${name}_FILE`] ?? "";
    if (named === "" || isSet(name)) continue;
    try {
      found[name] = readSecretFile(resolve(baseDir, named)).text;
    } catch (error) {
      if (!(error instanceof SecretFileTrouble)) throw error;
      problems.push(`${name}_FILE: ${named} ${error.message}.`);
    }
  }
  return { environment: { ...environment, ...found }, problems };
}
