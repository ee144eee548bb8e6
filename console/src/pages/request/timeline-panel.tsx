import { Panel } from "../../components/layout/panel.tsx";
import { formatCount, formatMs } from "../../format/figures.ts";
import { formatExact } from "../../format/moments.ts";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";
import { attemptBarOf, timelineOf } from "./timeline.ts";

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
      <AttemptBars receipt={receipt} />
      <dl className={classes.moments}>
        <div>
          <dt>Started</dt>
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
            <span className={classes.swatch} data-kind="answering" /> Replying{" "}
          </dt>
          <dd>{first_byte_ms === null ? "–" : formatMs(answeringMs)}</dd>
        </div>
        <div>
          <dt>Ended after {formatMs(duration_ms)}</dt>
          <dd>
            <time dateTime={ended_at}>{formatExact(Date.parse(ended_at))}</time>
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

/** To the millisecond: attempts are compared with each other. */
const formatWholeMs = (ms: number) => `${formatCount(Math.round(ms))} ms`;

/** Keeps the shortest attempt visible. */
const leastShare = 0.004;

/** From the start of each attempt to its end, under the bar of the whole call. */
function AttemptBars({ receipt }: { readonly receipt: Receipt }) {
  const bars = receipt.attempts.flatMap((attempt) => {
    const bar = attemptBarOf(attempt, receipt.duration_ms);
    return bar === undefined ? [] : [{ attempt, bar }];
  });
  if (bars.length === 0) return null;
  return (
    <ol className={classes.attemptBars} aria-label="Attempts over time">
      {bars.map(({ attempt: { number, outcome, provider }, bar }) => (
        <li key={number}>
          <svg aria-hidden="true" width="100%" height={8}>
            <rect className={classes.track} width="100%" height={8} rx={4} />
            <rect
              className={classes.attemptBar}
              data-outcome={outcome === "served" ? "served" : "failed"}
              x={`${bar.from * 100}%`}
              width={`${Math.max(leastShare, bar.share) * 100}%`}
              height={8}
              rx={4}
            />
          </svg>
          <p>
            <span>
              Attempt {number}
              {typeof provider === "string" && `, ${provider}`}
            </span>
            <span>
              {formatWholeMs(bar.durationMs)}
              {bar.startedMs > 0 && `, started after ${formatWholeMs(bar.startedMs)}`}
            </span>
          </p>
        </li>
      ))}
    </ol>
  );
}

function wordsFor({ first_byte_ms, duration_ms }: Receipt["timeline"]): string {
  const { waitingMs, answeringMs } = timelineOf(first_byte_ms, duration_ms);
  if (first_byte_ms === null) return `Ended after ${formatMs(duration_ms)} without a reply.`;
  if (answeringMs === 0) return `The complete reply was sent after ${formatMs(waitingMs)}.`;
  return `First byte after ${formatMs(waitingMs)}, then ${formatMs(answeringMs)} of streaming.`;
}
