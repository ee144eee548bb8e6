import type { Log } from "../base/log.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import type { Settings } from "../config/settings.ts";

const retryMs = 1_000;

export interface StartedOptions {
  readonly settings: Pick<Settings, "databaseUrl">;
  readonly log: Log;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * For what a start still does once its port is open, and calls are served: a database that goes away
 * now is waited for, as it is later. Any other error ends the start.
 */
export async function whenReachable<T>(
  { settings, log, pause = Bun.sleep }: StartedOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let isLogged = false; ; isLogged = true) {
    try {
      return await work();
    } catch (error) {
      if (!isPostgresUrl(settings.databaseUrl)) throw error;
      // Loaded here, because most installations do without it.
      const { isAway } = await import("../store/postgres/store-problem.ts");
      if (!isAway(error)) throw error;
      if (!isLogged)
        log.error("the database went away during the start, which goes on when it is back", {
          detail: String(error),
        });
      await pause(retryMs);
    }
  }
}
