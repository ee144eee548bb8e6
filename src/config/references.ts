import { statSync } from "node:fs";
import { isReserved } from "../base/reserved-variable.ts";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";
import { isStoredReference } from "../base/stored-reference.ts";
import type { Environment } from "./child-environment.ts";
import { commandPath, isCommand, type KeyCommands } from "./key-commands.ts";

const ofFiles = "file:";

const isFile = (reference: string): boolean =>
  reference.startsWith(ofFiles) && isStoredReference(reference);

export interface ReferenceSources {
  readonly environment: Environment;
  readonly commands: KeyCommands;
}

/** The value on this machine: a variable, the content of `file:/PATH`, or what a command printed. */
export function valueOf(
  reference: string,
  { environment, commands }: ReferenceSources,
): string | undefined {
  if (isCommand(reference)) return commands.valueOf(reference);
  // A row that is already stored, or that comes from a backup, may name one.
  if (isReserved(reference)) return undefined;
  if (!isFile(reference)) return environment[reference];
  const found = read(reference.slice(ofFiles.length));
  return typeof found === "string" ? found : undefined;
}

/** Why a file or a command gives no value; undefined for variables, and for what is right. */
export function referenceProblem(reference: string, commands: KeyCommands): string | undefined {
  if (isCommand(reference)) {
    const problem = commands.problemOf(reference);
    const isLacking = problem !== undefined && commands.valueOf(reference) === undefined;
    return isLacking ? `${commandPath(reference)} ${problem}` : undefined;
  }
  if (!isFile(reference)) return undefined;
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

/** Whether its value can change while the process runs. */
export const canChange = (reference: string): boolean => isCommand(reference) || isFile(reference);

/** Differs once a file was replaced or a command printed another value. Nothing is read for it. */
export function referenceMark(reference: string, commands: KeyCommands): string | undefined {
  if (isCommand(reference)) return commands.markOf(reference);
  if (!isFile(reference)) return undefined;
  try {
    const { ino, size, mtimeMs } = statSync(reference.slice(ofFiles.length));
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}
