import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Money } from "../../components/money/money.tsx";
import { StatTile, Tiles } from "../../components/table/stat-tile.tsx";
import { formatCompact, formatCount, formatShare } from "../../format/figures.ts";
import { formatUsd } from "../../format/money.ts";
import { useApi } from "../../queries.ts";
import { formatAboutMs, largestShortfalls } from "./figures.ts";
import classes from "./page.module.css";
import {
  beforeWords,
  changeOf,
  failureRate,
  failureRateOrNone,
  requestsSearch,
  type Sums,
  tokensOf,
  type Usage,
  type View,
} from "./usage.ts";

interface UsageTilesProps {
  readonly usage: Usage;
  readonly view: View;
}

/** Six metrics of the selected period, compared with the previous one. */
export function UsageTiles({ usage, view }: UsageTilesProps) {
  const versus = beforeWords(view);
  const { totals, before, points } = usage;
  const change = (read: (sums: Sums) => number | null) => ({
    change:
      before === null || before.requests === 0 ? undefined : changeOf(read(totals), read(before)),
    versus,
  });
  // Steps without a figure keep their place: what is left out would move the others.
  const spark = (read: (sums: Sums) => number | null) => points.map((point) => read(point));
  return (
    <div className={classes.figures}>
      <Tiles>
        <StatTile
          label="Spend"
          value={<Money usd={totals.charged_usd} />}
          {...change(spend)}
          spark={spark(spend)}
        />
        <StatTile
          label="Requests"
          value={<span title={formatCount(totals.requests)}>{formatCompact(totals.requests)}</span>}
          {...change(requests)}
          spark={spark(requests)}
        />
        <StatTile
          label="Tokens"
          value={
            <span title={formatCount(tokensOf(totals))}>{formatCompact(tokensOf(totals))}</span>
          }
          note={`${formatCompact(totals.input_tokens)} in · ${formatCompact(totals.output_tokens)} out`}
          spark={spark(tokensOf)}
        />
        <StatTile
          label="Error rate"
          value={formatShare(failureRate(totals))}
          note={<ErrorsNote totals={totals} view={view} />}
          {...change(failureRate)}
          moreIs="bad"
          spark={spark(failureRateOrNone)}
        />
        <StatTile
          label="Latency, median"
          value={<AboutTime ms={totals.latency_p50_ms} />}
          note={
            <>
              p95 <AboutTime ms={totals.latency_p95_ms} />
            </>
          }
          {...change(latency)}
          moreIs="bad"
          spark={spark(latency)}
        />
        <StatTile
          label="First token, median"
          value={<AboutTime ms={totals.first_byte_p50_ms} />}
          note={
            <>
              p95 <AboutTime ms={totals.first_byte_p95_ms} /> · streamed replies
            </>
          }
          {...change(firstByte)}
          moreIs="bad"
          spark={spark(firstByte)}
        />
      </Tiles>
    </div>
  );
}

interface ErrorsNoteProps {
  readonly totals: Sums;
  readonly view: View;
}

function ErrorsNote({ totals, view }: ErrorsNoteProps) {
  return (
    <span title="The rate is the share of admitted calls that failed. Rejected calls were never admitted and cost nothing.">
      <RequestsLink view={view} outcome="failed">
        {formatCount(totals.failures)} {totals.failures === 1 ? "error" : "errors"}
      </RequestsLink>{" "}
      ·{" "}
      <RequestsLink view={view} outcome="rejected">
        {formatCount(totals.rejected)} rejected
      </RequestsLink>
      {view.account === undefined && <Shortfalls />}
    </span>
  );
}

const shortfallFreshMs = 60_000;

/** Providers whose calls cost the operator more than was held for them. */
function Shortfalls() {
  const found = useApi("GET /api/providers", {}, { freshMs: shortfallFreshMs });
  const causes = largestShortfalls(found.data?.providers ?? []);
  const [largest, ...others] = causes;
  if (largest === undefined) return null;
  return (
    <Link
      to="/operator/margin"
      search={{ by: "provider" }}
      className={classes.shortfall}
      title="Cost of calls beyond their holds in the last 24 hours. You bear it. Check the usage that the provider reports."
    >
      {formatUsd(largest.usd)} shortfall by {largest.name}
      {others.length > 0 && ` and ${others.length} more`}
    </Link>
  );
}

interface RequestsLinkProps {
  readonly view: View;
  readonly outcome: "failed" | "rejected";
  readonly children: ReactNode;
}

/** To those that the figure counts; the list is by whole days. */
function RequestsLink({ view, outcome, children }: RequestsLinkProps) {
  const { account } = view;
  const search = { outcome, ...requestsSearch(view, Date.now()) };
  return account === undefined ? (
    <Link to="/operator/requests" search={search}>
      {children}
    </Link>
  ) : (
    <Link to="/a/$account/requests" params={{ account }} search={search}>
      {children}
    </Link>
  );
}

const spend = ({ charged_usd }: Sums) => Number(charged_usd);
const requests = (sums: Sums) => sums.requests;
const latency = ({ latency_p50_ms }: Sums) => latency_p50_ms;
const firstByte = ({ first_byte_p50_ms }: Sums) => first_byte_p50_ms;

/** An approximate time, marked as such on hover. */
export function AboutTime({ ms }: { readonly ms: number | null }) {
  if (ms === null) return "–";
  return <span title="Approximate, from histogram buckets">{formatAboutMs(ms)}</span>;
}
