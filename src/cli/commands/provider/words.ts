import type { TargetState } from "../../../catalog/state.ts";
import type { LastDayView, SecretView } from "../../../platform/providers/schemas.ts";
import { style } from "../../terminal/output.ts";

const statusTexts: Readonly<Record<TargetState, string>> = {
  failing: style.red("failing"),
  untested: style.yellow("untested"),
  paused: style.dim("paused"),
  serving: style.green("serving"),
};

export const statusText = (status: TargetState): string => statusTexts[status];

/** Where a secret is, never the secret itself. */
export function secretText({ variable, hint, is_set: isSet }: SecretView): string {
  if (variable !== null) return `\${${variable}} ${isSet ? "set" : style.red("not set")}`;
  return hint === null ? "stored" : `stored, …${hint}`;
}

/** `120 calls, 2.5% errors, p95 830 ms, $1.20, $0.40 shortfall`. */
export function lastDayText(day: LastDayView | null): string | null {
  if (day === null) return null;
  if (day.calls === 0) return "no calls";
  const percent = ((day.errors / day.calls) * 100).toFixed(1).replace(/\.0$/, "");
  const p95 = day.latency_p95_ms === null ? "" : `, p95 ${day.latency_p95_ms} ms`;
  const cost = day.cost_usd === null ? "cost unknown" : `$${day.cost_usd}`;
  const shortfall =
    Number(day.shortfall_usd) === 0 ? "" : `, ${style.red(`$${day.shortfall_usd} shortfall`)}`;
  return `${day.calls} ${day.calls === 1 ? "call" : "calls"}, ${percent}% errors${p95}, ${cost}${shortfall}`;
}
