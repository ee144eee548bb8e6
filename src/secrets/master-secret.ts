import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../base/problem.ts";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";

const fewestCharacters = 32;

/** The first one that is there. */
export interface SecretSource {
  readonly fromEnvironment: string | undefined;
  /** A file of the operator, a vault, Docker or Kubernetes. */
  readonly file?: string | undefined;
  readonly dataDir: string;
}

export interface MasterSecretOptions extends SecretSource {
  /** A database is there already: it belongs to a secret, and a new one would not open it. */
  readonly hasDatabase: boolean;
}

/** The secret of the environment, of a file, or of the data directory, created on the first start. */
export function masterSecret(options: MasterSecretOptions): string {
  const { fromEnvironment, file, dataDir, hasDatabase } = options;
  if (fromEnvironment !== undefined) return fromEnvironment;
  if (file !== undefined) return readNamed(file);
  const path = join(dataDir, "secret");
  if (!existsSync(path)) {
    if (hasDatabase)
      throw new Problem({
        code: "failed",
        message: `The master secret of this database is missing. Set SVC_SECRET or SVC_SECRET_FILE, or restore ${path}.`,
      });
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  }
  chmodSync(path, 0o600);
  const secret = readFileSync(path, "utf8").trim();
  if (secret.length < fewestCharacters)
    throw new Problem({
      code: "failed",
      message: `${path} is damaged. It must contain a secret of at least ${fewestCharacters} characters; restore it from a backup or set SVC_SECRET.`,
    });
  return secret;
}

function readNamed(path: string): string {
  const wrong = (trouble: string) =>
    new Problem({
      code: "invalid",
      message: `SVC_SECRET_FILE: ${path} ${trouble}. It must be a file with at least ${fewestCharacters} random characters (openssl rand -hex 32).`,
    });
  try {
    const { text } = readSecretFile(path);
    if (text.length < fewestCharacters)
      throw wrong(`has fewer than ${fewestCharacters} characters`);
    return text;
  } catch (error) {
    throw error instanceof SecretFileTrouble ? wrong(error.message) : error;
  }
}

/** Whether every user of the machine can read the file. */
export function isSecretOpen(path: string): boolean {
  try {
    return readSecretFile(path).isOpenToAll;
  } catch {
    return false;
  }
}
