import { sentenceCase } from "../../format/sentence-case.ts";
import type { LiveState } from "../../live/live.ts";
import classes from "./state-badge.module.css";

const tones = {
  paused: "quiet",
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
  /** Shown instead of the state's name. */
  readonly label?: string;
}

/** A state in a word; the color only repeats it. */
export function StateBadge({ state, label = state }: StateBadgeProps) {
  return (
    <span className={classes.badge} data-tone={tones[state]}>
      {sentenceCase(label)}
    </span>
  );
}

interface OutcomeBadgeProps {
  /** `ok`, `served`, `left`, or the code of an error. */
  readonly outcome: string;
  readonly words: string;
}

/** The outcome of a call, in words. */
export function OutcomeBadge({ outcome, words }: OutcomeBadgeProps) {
  return <StateBadge state={stateOf(outcome)} label={words} />;
}

function stateOf(outcome: string): State {
  if (outcome === "ok" || outcome === "served") return "ok";
  return outcome === "left" ? "left" : "failed";
}

const liveBadges: Readonly<Record<LiveState, { readonly state: State; readonly label: string }>> = {
  live: { state: "live", label: "Live" },
  connecting: { state: "off", label: "Connecting" },
  waiting: { state: "pending", label: "Not connected" },
};

/** Whether the page shows live data. */
export function LiveSign({ state }: { readonly state: LiveState }) {
  return <StateBadge {...liveBadges[state]} />;
}
