import type { Clock } from "../base/clock.ts";
import type { FeedFollower } from "../base/feed.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { socketPath } from "../base/network/listen.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { engineProvider } from "../catalog/model.ts";
import type { Configuration } from "../config/load.ts";
import { embeddedModels } from "../engine/embedded.ts";
import { EngineSupervisor } from "../engine/supervisor.ts";
import { serverStart } from "../platform/audit/author.ts";
import { inFirstStart, type Opened } from "./opened.ts";

/**
 * Adds the embedded models to an empty catalog. With an `engine:` section, also adds those that an
 * existing catalog lacks or has without a route. Nothing else is changed.
 */
export async function addEmbedded(options: {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly follower: FeedFollower;
  readonly clock: Clock;
}): Promise<void> {
  if (await inFirstStart(options.opened, () => addLacking(options)))
    await options.follower.catchUp();
}

/** Whether there were any to add. */
async function addLacking(
  options: Pick<Parameters<typeof addEmbedded>[0], "configuration" | "opened" | "clock">,
): Promise<boolean> {
  const { namesEngine } = options.configuration;
  const { store } = options.opened;
  const { models } = await store.catalog.load();
  if (models.length > 0 && !namesEngine) return false;
  const nowMs = options.clock.nowMs();
  const lacking = embeddedModels(models, nowMs);
  if (lacking.saveModels.length === 0) return false;
  const { address, ...actor } = serverStart;
  await store.catalog.write(
    { atMs: nowMs, ...lacking },
    {
      id: newId("audit", nowMs),
      atMs: nowMs,
      actor,
      action: "model.embed",
      subject: "embedded models",
      detail: { models: lacking.saveModels.map(({ id }) => id) },
      address,
    },
  );
  return true;
}

/** The names that routes give to models of the engine. */
export function engineModelsOf({ served }: Catalog): readonly string[] {
  return [...served].flatMap(({ routes }) =>
    routes.filter(({ provider }) => provider === engineProvider).map(({ model }) => model),
  );
}

export function superviseEngine(configuration: Configuration, log: Log): EngineSupervisor {
  const { settings, engineModels, environment } = configuration;
  return new EngineSupervisor({
    socket: socketPath(settings.dataDir, "engine.sock"),
    cacheDir: settings.cacheDir,
    ownModels: engineModels,
    environment,
    log,
  });
}
