import type { LiveState } from "../../live/live.ts";
import classes from "./state-badge.module.css";

const tones = {
  active: "good",
  ok: "good",
  healthy: "good",
  live: "good",
  closed: "good",
  deprecated: "warn",
  suspended: "warn",
  expiring: "warn",
  left: "warn",
  pending: "warn",
  "half-open": "warn",
  retired: "bad",
  revoked: "bad",
  failed: "bad",
  open: "bad",
  expired: "quiet",
  ended: "quiet",
  off: "quiet",
  unknown: "quiet",
} as const;

export type State = keyof typeof tones;

interface StateBadgeProps {
  readonly state: State;
  /** Other words than the state's own name. */
  readonly label?: string;
}

/** A state in a word; its color only repeats what the word says. */
export function StateBadge({ state, label = state }: StateBadgeProps) {
  return (
    <span className={classes.badge} data-tone={tones[state]}>
      {label}
    </span>
  );
}

interface OutcomeBadgeProps {
  /** `ok`, `served`, `left`, or the code of an error. */
  readonly outcome: string;
  readonly words: string;
}

/** What came of a call, in words. */
export function OutcomeBadge({ outcome, words }: OutcomeBadgeProps) {
  return <StateBadge state={stateOf(outcome)} label={words} />;
}

function stateOf(outcome: string): State {
  if (outcome === "ok" || outcome === "served") return "ok";
  return outcome === "left" ? "left" : "failed";
}

const signs: Readonly<Record<LiveState, { readonly state: State; readonly label: string }>> = {
  live: { state: "live", label: "Live" },
  connecting: { state: "off", label: "Connecting" },
  waiting: { state: "pending", label: "Not connected" },
};

/** Whether what is shown follows what happens. */
export function LiveSign({ state }: { readonly state: LiveState }) {
  return <StateBadge {...signs[state]} />;
}
