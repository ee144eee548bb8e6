import type { ModelState, TargetState } from "../../../../src/catalog/state.ts";
import { type State, StateBadge } from "./state-badge.tsx";

const badges: Readonly<Record<ModelState, { readonly state: State; readonly label: string }>> = {
  failing: { state: "failed", label: "Failing" },
  no_route: { state: "failed", label: "No route" },
  needs_price: { state: "pending", label: "Needs price" },
  paused: { state: "off", label: "Paused" },
  untested: { state: "unknown", label: "Untested" },
  serving: { state: "ok", label: "Serving" },
};

export const modelStateLabel = (state: ModelState) => badges[state].label;

/** The state of a model or of one of its targets. */
export function ServingBadge({ state }: { readonly state: ModelState | TargetState }) {
  return <StateBadge {...badges[state]} />;
}
