import type { LimitsView } from "../../platform/http/schemas.ts";
import type { LimitInputs } from "../../platform/input/limits.ts";
import type { Invocation } from "../command.ts";

/** The same wherever something can be limited. */
export const limitFlags = {
  rpm: { about: "requests a minute; none takes the limit away", value: "N" },
  tpm: { about: "tokens a minute; none takes the limit away", value: "N" },
  concurrency: { about: "requests at a time; none takes the limit away", value: "N" },
  budget: {
    about: "USD at most: in all (5), a day (5/day) or a month (12.50/month), in UTC; or none",
    value: "USD",
  },
} as const;

export function readLimitFlags({ flags }: Pick<Invocation, "flags">): LimitInputs {
  const { rpm, tpm, concurrency, budget } = flags;
  return {
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** In words; undefined where nothing is limited. */
export function limitsText(limits: LimitsView): string | undefined {
  const { rpm, tpm, concurrency, budget } = limits;
  const parts = [
    rpm === null ? "" : `${rpm} requests a minute`,
    tpm === null ? "" : `${tpm} tokens a minute`,
    concurrency === null ? "" : `${concurrency} at a time`,
    budget === null ? "" : `${budget.replace("/", " USD a ")}${budget.includes("/") ? "" : " USD"}`,
  ].filter((text) => text !== "");
  return parts.length === 0 ? undefined : parts.join(", ");
}
