import type { ReactNode } from "react";
import { formatShare } from "../../format/figures.ts";
import { Sparkline } from "../chart/sparkline.tsx";
import classes from "./stat-tile.module.css";

interface StatTileProps {
  readonly label: string;
  readonly value: ReactNode;
  /** Below the value, in small: what it is made of. */
  readonly note?: ReactNode;
  /** Against the time before: 0.12 is 12% more. */
  readonly change?: number | undefined;
  /** Whether more is better, worse, or neither; colors the change. */
  readonly moreIs?: "good" | "bad" | "neither";
  /** What the change is against: `previous 7 days`. */
  readonly versus?: string | undefined;
  /** Null where there is no figure. */
  readonly spark?: readonly (number | null)[];
}

/** One figure that matters. Side by side in a <Tiles>. */
export function StatTile(props: StatTileProps) {
  const { label, value, note, change, versus, moreIs = "neither", spark } = props;
  return (
    <div className={classes.tile}>
      <dt className={classes.label}>{label}</dt>
      <dd className={classes.value}>{value}</dd>
      <dd className={classes.foot}>
        {change !== undefined && (
          <span>
            <Change change={change} moreIs={moreIs} />
            {versus !== undefined && ` vs. ${versus}`}
          </span>
        )}
        {note !== undefined && <span>{note}</span>}
      </dd>
      {spark !== undefined && (
        <dd className={classes.spark} aria-hidden="true">
          <Sparkline values={spark} />
        </dd>
      )}
    </div>
  );
}

export function Tiles({ children }: { readonly children: ReactNode }) {
  return <dl className={classes.tiles}>{children}</dl>;
}

function Change({ change, moreIs }: { readonly change: number; readonly moreIs: string }) {
  const isMore = change > 0;
  const tone = moreIs === "neither" || change === 0 ? "plain" : isMore ? moreIs : opposite(moreIs);
  const sign = change === 0 ? "±" : isMore ? "+" : "−";
  return (
    <span className={classes.change} data-tone={tone}>
      {sign}
      {formatShare(Math.abs(change))}
    </span>
  );
}

const opposite = (tone: string) => (tone === "good" ? "bad" : "good");
