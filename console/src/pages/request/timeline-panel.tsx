import { Panel } from "../../components/layout/panel.tsx";
import { formatMs } from "../../format/figures.ts";
import { formatExact } from "../../format/moments.ts";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";
import { timelineOf } from "./timeline.ts";

/** When the call began, when the first byte went out, and when it was over. */
export function TimelinePanel({ receipt }: { readonly receipt: Receipt }) {
  const { started_at, ended_at, first_byte_ms, duration_ms } = receipt.timeline;
  const { waitingShare, waitingMs, answeringMs } = timelineOf(first_byte_ms, duration_ms);
  const words = wordsFor(receipt.timeline);
  return (
    <Panel title="Timeline" about={words}>
      <svg
        role="img"
        aria-label={`Timeline: ${words}`}
        className={classes.bar}
        width="100%"
        height={36}
      >
        <rect className={classes.waiting} width={`${waitingShare * 100}%`} height={36} />
        <rect
          className={classes.answering}
          x={`${waitingShare * 100}%`}
          width={`${(1 - waitingShare) * 100}%`}
          height={36}
        />
      </svg>
      <dl className={classes.moments}>
        <div>
          <dt>Start</dt>
          <dd>
            <time dateTime={started_at}>{formatExact(Date.parse(started_at))}</time>
          </dd>
        </div>
        <div>
          <dt>
            <span className={classes.swatch} data-kind="waiting" />
            Waiting
          </dt>
          <dd>{formatMs(waitingMs)}</dd>
        </div>
        <div>
          <dt>
            <span className={classes.swatch} data-kind="answering" />
            Answering
          </dt>
          <dd>{first_byte_ms === null ? "–" : formatMs(answeringMs)}</dd>
        </div>
        <div>
          <dt>End, after {formatMs(duration_ms)}</dt>
          <dd>
            <time dateTime={ended_at}>{formatExact(Date.parse(ended_at))}</time>
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

function wordsFor({ first_byte_ms, duration_ms }: Receipt["timeline"]): string {
  const { waitingMs, answeringMs } = timelineOf(first_byte_ms, duration_ms);
  if (first_byte_ms === null) return `No byte of an answer went out in ${formatMs(duration_ms)}.`;
  if (answeringMs === 0) return `The whole answer came at once, after ${formatMs(waitingMs)}.`;
  return `The first byte after ${formatMs(waitingMs)}, then ${formatMs(answeringMs)} of answer.`;
}
