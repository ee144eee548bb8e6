import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of package.json: a clone, or the installed package. */
export const projectDir = resolve(import.meta.dir, "../..");

/** npm never packs the lock file of the root, so an installed package does not have it. */
export const isClone = existsSync(join(projectDir, "package-lock.json"));

/**
 * Where relative paths of settings begin. A clone has its data with it, from whatever folder it is
 * called. A package is shared and may be read-only, so the data is in the current folder.
 */
export const baseDir = isClone ? projectDir : process.cwd();

/** What starts the server here. */
export const startCommand = isClone ? "npm start" : "svc serve";
