import type { Route } from "./route-drafts.ts";

type Shared = Pick<Route, "priority" | "weight" | "state">;

/**
 * The share of calls that a route gets at the moment. Calls go to the lowest priority that has a
 * route in service, by weight; where none is, all routes of the lowest one are tried.
 */
export function shareOf<Of extends Shared>(routes: readonly Of[], route: Of): number {
  const usable = routes.filter(({ state }) => state !== "paused");
  const working = usable.filter(({ state }) => state !== "failing");
  const candidates = working.length > 0 ? working : usable;
  const first = Math.min(...candidates.map(({ priority }) => priority));
  const peers = candidates.filter(({ priority }) => priority === first);
  if (!peers.includes(route)) return 0;
  const total = peers.reduce((sum, { weight }) => sum + weight, 0);
  // A weight of 0 counts only where there is no other.
  return total === 0 ? 1 / peers.length : route.weight / total;
}
