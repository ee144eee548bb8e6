import { Money } from "../../components/money/money.tsx";
import { StatTile, Tiles } from "../../components/table/stat-tile.tsx";
import { formatCompact, formatCount, formatShare } from "../../format/figures.ts";
import { formatAboutMs } from "./figures.ts";
import classes from "./page.module.css";
import { changeOf, failureRate, type Sums, tokensOf, type Usage } from "./usage.ts";

/** Six metrics of the selected period, compared with the previous one. */
export function UsageTiles({ usage }: { readonly usage: Usage }) {
  const { totals, before, points } = usage;
  const change = (read: (sums: Sums) => number | null) =>
    before === null || before.requests === 0 ? undefined : changeOf(read(totals), read(before));
  const spark = (read: (sums: Sums) => number | null) =>
    points.flatMap((point) => read(point) ?? []);
  const spend = ({ charged_usd }: Sums) => Number(charged_usd);
  const requests = (sums: Sums) => sums.requests;
  const latency = ({ latency_p50_ms }: Sums) => latency_p50_ms;
  const firstByte = ({ first_byte_p50_ms }: Sums) => first_byte_p50_ms;
  return (
    <div className={classes.figures}>
      <Tiles>
        <StatTile
          label="Spend"
          value={<Money usd={totals.charged_usd} />}
          change={change(spend)}
          spark={spark(spend)}
        />
        <StatTile
          label="Requests"
          value={<span title={formatCount(totals.requests)}>{formatCompact(totals.requests)}</span>}
          change={change(requests)}
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
          note={
            <span title="Share of admitted calls. Rejected calls (401, 402, 403, 429) cost nothing and are not counted.">
              {formatCount(totals.failures)} {totals.failures === 1 ? "error" : "errors"} · rejected
              calls not included
            </span>
          }
          change={change(failureRate)}
          moreIs="bad"
          spark={spark(({ failures }) => failures)}
        />
        <StatTile
          label="Latency, median"
          value={<AboutTime ms={totals.latency_p50_ms} />}
          note={
            <>
              p95 <AboutTime ms={totals.latency_p95_ms} />
            </>
          }
          change={change(latency)}
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
          change={change(firstByte)}
          moreIs="bad"
          spark={spark(firstByte)}
        />
      </Tiles>
    </div>
  );
}

/** An approximate time, marked as such on hover. */
export function AboutTime({ ms }: { readonly ms: number | null }) {
  if (ms === null) return "–";
  return <span title="Approximate, from histogram buckets">{formatAboutMs(ms)}</span>;
}
