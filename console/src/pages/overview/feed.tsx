import { Link } from "@tanstack/react-router";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { RequestLink } from "../../components/table/request-link.tsx";
import { OutcomeBadge } from "../../components/table/state-badge.tsx";
import { formatMs } from "../../format/figures.ts";
import type { RequestRow } from "../../live/news.ts";
import classes from "./page.module.css";

interface FeedProps {
  readonly account: string | undefined;
  readonly rows: readonly RequestRow[];
  /** Those that came while one looked. */
  readonly isFresh: (id: string) => boolean;
}

/** The newest requests, as they end. */
export function Feed({ account, rows, isFresh }: FeedProps) {
  const all =
    account === undefined ? (
      <Link to="/operator/requests">All requests</Link>
    ) : (
      <Link to="/a/$account/requests" params={{ account }}>
        All requests
      </Link>
    );
  return (
    <Panel title="Newest requests" actions={<span className="small">{all}</span>} isFlush>
      {rows.length === 0 && (
        <p className={classes.noFeed}>
          Every call so far was rejected. The requests page shows why.
        </p>
      )}
      <ol className={classes.feed} aria-label="Newest requests">
        {rows.map((row) => (
          <li key={row.id} data-fresh={isFresh(row.id)}>
            <RequestLink account={account} id={row.id} className={classes.feedLink}>
              <span className={classes.feedModel}>{row.model}</span>
              <OutcomeBadge outcome={row.outcome} words={row.outcome_words} />
              <span className="soft small">
                <Moment at={row.started_at} /> · {formatMs(row.duration_ms)}
              </span>
              <Money usd={row.charged_usd} />
            </RequestLink>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
