import { join } from "node:path";

export const root = join(import.meta.dir, "..", "..");

/** Ends the process with one sentence. */
export function giveUp(sentence: string): never {
  process.stderr.write(`error: ${sentence}\n`);
  process.exit(1);
}
