import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import type { Freshness } from "../../base/freshness.ts";
import { Type } from "../../base/json/type.ts";
import { moment } from "../http/schemas.ts";

/** In every reply that is made of sums. */
export const freshnessFields = {
  is_complete: Type.Boolean({
    description: "False if calls that have ended are not counted yet.",
  }),
  as_of: moment(
    "Every call that ended before this time is counted. The time of the reply if `is_complete`.",
  ),
};

/** Since when calls are missing in the sums; undefined when none is. */
export const toFreshness = (missingSinceMs: number | undefined, clock: Clock): Freshness => ({
  is_complete: missingSinceMs === undefined,
  as_of: toDateText(missingSinceMs ?? clock.nowMs()),
});
