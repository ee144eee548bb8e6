import { type State, StateBadge } from "./state-badge.tsx";

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
