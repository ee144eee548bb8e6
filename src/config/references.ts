import { statSync } from "node:fs";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const ofFiles = "file:";

/** The value of a reference on this machine: a variable, or the content of `file:/PATH`. */
export function valueOf(reference: string, environment: Environment): string | undefined {
  if (!reference.startsWith(ofFiles)) return environment[reference];
  const found = read(reference.slice(ofFiles.length));
  return typeof found === "string" ? found : undefined;
}

/** Why a file gives no value; undefined for variables, and for files that are right. */
export function fileProblem(reference: string): string | undefined {
  if (!reference.startsWith(ofFiles)) return undefined;
  const path = reference.slice(ofFiles.length);
  const found = read(path);
  return typeof found === "string" ? undefined : `${path} ${found.message}`;
}

function read(path: string): string | SecretFileTrouble {
  try {
    return readSecretFile(path).text;
  } catch (error) {
    if (error instanceof SecretFileTrouble) return error;
    throw error;
  }
}

/** Differs once a file was replaced: agents of vaults rotate them. Nothing is read for it. */
export function fileMark(reference: string): string | undefined {
  if (!reference.startsWith(ofFiles)) return undefined;
  try {
    const { ino, size, mtimeMs } = statSync(reference.slice(ofFiles.length));
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}
