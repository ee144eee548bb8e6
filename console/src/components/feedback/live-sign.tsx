import type { LiveState } from "../../live/live.ts";
import { type State, StateBadge } from "../table/state-badge.tsx";

const signs: Readonly<Record<LiveState, { readonly state: State; readonly label: string }>> = {
  live: { state: "live", label: "Live" },
  connecting: { state: "off", label: "Connecting" },
  waiting: { state: "pending", label: "Not connected" },
};

/** Whether what is shown follows what happens. */
export function LiveSign({ state }: { readonly state: LiveState }) {
  return <StateBadge {...signs[state]} />;
}
