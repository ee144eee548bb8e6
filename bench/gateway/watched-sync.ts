/**
 * Stands in the place of node:fs in `wal-sync.ts` of a watched gateway: counts and times each
 * fdatasync, and makes it slower where the bench asks for a slow disk.
 */
import { fdatasync as realSync } from "node:fs";
import { Samples } from "../load/samples.ts";

/** From asking to the answer, the made-up delay included. */
export const syncTimesMs = new Samples();

/** Read before the configuration is: not a setting of the gateway. */
const delayMs = Number(process.env["BENCH_SYNC_DELAY_MS"] ?? "0");

type Done = (error: NodeJS.ErrnoException | null) => void;

export function fdatasync(fd: number, done: Done): void {
  const startedMs = performance.now();
  const timed: Done = (error) => {
    syncTimesMs.add(performance.now() - startedMs);
    done(error);
  };
  if (delayMs > 0) setTimeout(() => realSync(fd, timed), delayMs);
  else realSync(fd, timed);
}
