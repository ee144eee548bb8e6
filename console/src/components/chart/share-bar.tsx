import classes from "./time-chart.module.css";

interface ShareBarProps {
  /** From 0 to 1; all of it where it is more. */
  readonly share: number;
  readonly width?: number;
  /** A budget that is used up. */
  readonly isFull?: boolean;
}

/** Repeats a figure that stands beside it. */
export function ShareBar({ share, width, isFull = false }: ShareBarProps) {
  const percent = Math.max(0, Math.min(100, share * 100));
  return (
    <span className={classes.share} style={{ width }} aria-hidden="true" data-full={isFull}>
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}
