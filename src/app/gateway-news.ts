import { type TargetNews, toTargetSubject } from "../catalog/health.ts";
import type { RunningGateway } from "../platform/gateway/operations.ts";
import { announce } from "../store/sql/feed.ts";
import type { Db } from "../store/sql/schema.ts";

/** Reaches every gateway that shares the database, within a second: they all follow the feed. */
export function announceToGateways(
  db: Db,
  { health }: Pick<RunningGateway, "health">,
): Pick<RunningGateway, "resetHealth" | "forgetServed"> {
  const tell = (news: TargetNews) =>
    db
      .transaction()
      .execute((transaction) =>
        announce(transaction, { topic: "targets", subject: toTargetSubject(news) }),
      );
  return {
    async resetHealth(provider, model) {
      const known = (await health()).filter(
        (one) => one.provider === provider && (model === undefined || one.model === model),
      );
      await tell({ kind: "reset", provider, model });
      await untilBack(async () =>
        (await health()).some(
          (one) =>
            one.provider === provider &&
            (model === undefined || one.model === model) &&
            (one.nodes?.length ?? 0) > 0,
        ),
      );
      return known.length;
    },
    forgetServed: (target) => tell({ kind: "forget-served", target }),
  };
}

const longestMs = 1_000;
const everyMs = 50;

/** Whoever put targets back looks at them next. Those that fail again at once are not waited for. */
async function untilBack(isOut: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + longestMs;
  while (performance.now() < untilMs && (await isOut()))
    await new Promise((resolve) => setTimeout(resolve, everyMs));
}
