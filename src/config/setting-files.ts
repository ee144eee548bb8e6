import { resolve } from "node:path";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";
import type { Environment } from "./child-environment.ts";
import { projectDir } from "./setting-readers.ts";

/**
 * Settings with a secret can name a file in place of it, because a variable is inherited by child
 * processes and shown by many tools. The address of the database is read here. The master secret is
 * read when a database is opened: commands that need none work without it.
 */
export function readSettingFiles(environment: Environment): {
  readonly environment: Environment;
  readonly problems: readonly string[];
} {
  const isSet = (name: string) => (environment[name] ?? "") !== "";
  const problems = ["SVC_SECRET", "SVC_DATABASE_URL"]
    .filter((name) => isSet(name) && isSet(`${name}_FILE`))
    .map((name) => `${name} and ${name}_FILE are both set. Unset one of them.`);
  const named = environment["SVC_DATABASE_URL_FILE"] ?? "";
  if (named === "" || isSet("SVC_DATABASE_URL")) return { environment, problems };
  try {
    const { text } = readSecretFile(resolve(projectDir, named));
    return { environment: { ...environment, SVC_DATABASE_URL: text }, problems };
  } catch (error) {
    if (!(error instanceof SecretFileTrouble)) throw error;
    const wrong = `SVC_DATABASE_URL_FILE: ${named} ${error.message}.`;
    return { environment, problems: [...problems, wrong] };
  }
}
