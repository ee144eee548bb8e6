import { type BalanceTrouble, balanceTrouble, type Standing } from "../overview/balance.ts";
import type { Billing } from "./billing.ts";

const soonMs = 3 * 86_400_000;

export type MoneyTrouble =
  | Exclude<BalanceTrouble, { readonly kind: "low" }>
  | { readonly kind: "low"; readonly at: string };

/** Why calls are refused for want of money, or will be within three days at the pace there is. */
export function moneyTrouble(
  standing: Standing,
  runsOutAt: Billing["runs_out_at"],
  nowMs: number,
): MoneyTrouble | undefined {
  const now = balanceTrouble(standing, "0");
  if (now !== undefined && now.kind !== "low") return now;
  return runsOutAt !== null && Date.parse(runsOutAt) - nowMs < soonMs
    ? { kind: "low", at: runsOutAt }
    : undefined;
}
