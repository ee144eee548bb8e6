import { mostListed, mostNames, type UsageQuery } from "../../../ledger/reports.ts";
import { dayMs } from "../../../ledger/rollups.ts";

/** Days of a time zone are made of hours. */
export const readGrain = ({ grain, dayOffsets }: UsageQuery) =>
  dayOffsets === undefined ? grain : "hour";

export const namesFor = ({ isWhole }: UsageQuery) => (isWhole === true ? mostListed : mostNames);

/** In SQL: the step that sums count toward, by the column that says where their own time starts. */
export function stepOf(
  { isWhole, dayOffsets, fromMs, grain }: UsageQuery,
  start: "hour_ms" | "day_ms" | "start_ms",
): string {
  if (isWhole === true) return String(fromMs);
  if (dayOffsets === undefined)
    return grain === "day" && start === "hour_ms" ? `${start} / ${dayMs} * ${dayMs}` : start;
  const last = dayOffsets.at(-1)?.offsetMs ?? 0;
  const cases = dayOffsets
    .slice(0, -1)
    .map(({ offsetMs }, at) => `when ${start} < ${dayOffsets[at + 1]?.fromMs} then ${offsetMs}`);
  const offset = cases.length === 0 ? String(last) : `case ${cases.join(" ")} else ${last} end`;
  return `(${start} + ${offset}) / ${dayMs} * ${dayMs}`;
}

/** A table `steps` of one column `at`: the steps of time from one value on and below another. */
export const stepsSql = (stepMs: number) => `steps(at) as (values (cast(? as bigint))
  union all select at + ${stepMs} from steps where at + ${stepMs} < ?)`;
