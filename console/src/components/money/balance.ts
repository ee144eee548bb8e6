import type { Reply } from "../../api.ts";

export type Standing = Pick<Reply<"GET /api/accounts/:account">, "free_usd" | "status" | "budget">;

export type BalanceTrouble =
  | { readonly kind: "suspended" }
  | { readonly kind: "empty" }
  | { readonly kind: "budget"; readonly period: "total" | "day" | "month" }
  /** At the pace of the last day. */
  | { readonly kind: "low"; readonly hours: number };

/** Why calls are refused for want of money, or soon will be. */
export function balanceTrouble(
  { status, free_usd, budget }: Standing,
  daySpendUsd: string,
): BalanceTrouble | undefined {
  if (status === "suspended") return { kind: "suspended" };
  const free = Number(free_usd);
  const daySpend = Number(daySpendUsd);
  if (free <= 0) return { kind: "empty" };
  if (budget !== null && Number(budget.spent_usd) >= Number(budget.limit_usd))
    return { kind: "budget", period: budget.period };
  if (free < daySpend)
    return { kind: "low", hours: Math.max(1, Math.floor((free / daySpend) * 24)) };
  return undefined;
}
