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

/** A state in a word; its colour only repeats what the word says. */
export function StateBadge({ state, label = state }: StateBadgeProps) {
  return (
    <span className={classes.badge} data-tone={tones[state]}>
      {label}
    </span>
  );
}
