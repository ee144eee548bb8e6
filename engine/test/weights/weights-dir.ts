import { homedir } from "node:os";
import { join } from "node:path";
import { pullSets } from "../../weights/pull.ts";
import { type SetName, setOf } from "../../weights/sets.ts";
import { readyDir } from "../../weights/state.ts";

/** The cache that the machine's gateway uses too, so that tests fetch a set at most once. */
export function testCacheDir(): string {
  return process.env["SVC_CACHE_DIR"] || join(homedir(), ".cache/svc-gateway");
}

/** The folder of a set, for tests with real models; fetched first if it is not there. */
export async function weightsDir(set: SetName): Promise<string> {
  const cacheDir = testCacheDir();
  const [result] = await pullSets({ cacheDir, sets: [setOf(set)] });
  const dir = readyDir(cacheDir, set);
  if (dir === undefined) throw new Error(result?.problem ?? `the ${set} set is not there`);
  return dir;
}
