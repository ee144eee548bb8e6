import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createOwned, toAccessProblem } from "../base/owned-file.ts";
import { Problem } from "../base/problem.ts";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";
import { fingerprintOf, MasterKey } from "./master-key.ts";

export const fewestCharacters = 32;

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
    create(path, randomBytes(32).toString("hex"));
  }
  const secret = readOwn(path);
  if (secret.length < fewestCharacters)
    throw new Problem({
      code: "failed",
      message: `${path} is damaged. It must contain a secret of at least ${fewestCharacters} characters; restore it from a backup or set SVC_SECRET.`,
    });
  return secret;
}

/**
 * Whether `secret` is a link to a file of the operator. A tool that links it at each start would undo
 * a rotation that replaces the link, and destroy the new secret.
 */
export const isSecretLinked = (dataDir: string): boolean =>
  lstatSync(join(dataDir, "secret"), { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** Beside the file `secret`: one that a rotation has replaced, or is about to put there. */
export const keptPath = (dataDir: string, fingerprint: string) =>
  join(dataDir, `secret.${fingerprint}`);

/** The secret in such a file; undefined where there is none, or another one than its name says. */
export function keptSecret(dataDir: string, fingerprint: string): MasterKey | undefined {
  // It comes from a database, and becomes part of a path.
  if (!/^[0-9a-f]{16}$/.test(fingerprint)) return undefined;
  try {
    const key = new MasterKey(readSecretFile(keptPath(dataDir, fingerprint)).text);
    return key.fingerprint === fingerprint ? key : undefined;
  } catch (error) {
    if (error instanceof SecretFileTrouble) return undefined;
    throw error;
  }
}

/** The secret of a data directory with this fingerprint: the one in use, or one that is kept. */
export function secretOf(dataDir: string, fingerprint: string): string | undefined {
  const own = masterSecret({ fromEnvironment: undefined, dataDir, hasDatabase: true });
  if (fingerprintOf(own) === fingerprint) return own;
  if (keptSecret(dataDir, fingerprint) === undefined) return undefined;
  return readFileSync(keptPath(dataDir, fingerprint), "utf8").trim();
}

const keptName = /^secret\.([0-9a-f]{16})$/;

/** Of the secrets that are kept in the data directory. */
export function keptFingerprints(dataDir: string): readonly string[] {
  try {
    return readdirSync(dataDir)
      .flatMap((name) => keptName.exec(name)?.[1] ?? [])
      .toSorted();
  } catch {
    // With PostgreSQL and SVC_SECRET there may be no such directory.
    return [];
  }
}

/**
 * Makes a kept secret the one of the data directory. The one that was there is kept, too, under its
 * own fingerprint: backups from its time need it. At no moment is there no file `secret`. Another
 * process may do the same at the same time. A link stays, and so does the kept file.
 */
export function installKept(dataDir: string, fingerprint: string): void {
  const kept = keptPath(dataDir, fingerprint);
  const path = join(dataDir, "secret");
  if (isSecretLinked(dataDir) || keptSecret(dataDir, fingerprint) === undefined) return;
  const text = readFileSync(kept, "utf8").trim();
  if (existsSync(path)) keepSecret(dataDir, readFileSync(path, "utf8").trim());
  write(path, text);
  rmSync(kept, { force: true });
  syncDirectory(dataDir);
}

/** Writes a secret under its fingerprint; it is on the disk when this returns. */
export function keepSecret(dataDir: string, text: string): string {
  const fingerprint = fingerprintOf(text);
  const path = keptPath(dataDir, fingerprint);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (keptSecret(dataDir, fingerprint) === undefined) write(path, text);
  return path;
}

/** Whole or not at all. */
function write(path: string, text: string): void {
  const part = `${path}.part-${process.pid}`;
  rmSync(part, { force: true });
  create(part, text);
  renameSync(part, path);
  syncDirectory(dirname(path));
}

function create(path: string, text: string): void {
  const fd = createOwned(path);
  try {
    writeFileSync(fd, `${text}\n`, { flush: true });
  } finally {
    closeSync(fd);
  }
}

function readOwn(path: string): string {
  try {
    chmodSync(path, 0o600);
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw toAccessProblem(error, path);
  }
}

function syncDirectory(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function readNamed(path: string): string {
  const wrong = (
    trouble: string,
    advice = `It must be a file with at least ${fewestCharacters} random characters (openssl rand -hex 32).`,
  ) => new Problem({ code: "invalid", message: `SVC_SECRET_FILE: ${path} ${trouble}. ${advice}` });
  try {
    const { text } = readSecretFile(path);
    if (text.length < fewestCharacters)
      throw wrong(`has fewer than ${fewestCharacters} characters`);
    return text;
  } catch (error) {
    if (!(error instanceof SecretFileTrouble)) throw error;
    throw error.isDenied
      ? wrong(error.message, "Make this user its owner, with mode 0400.")
      : wrong(error.message);
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
