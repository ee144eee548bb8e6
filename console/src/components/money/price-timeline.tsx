import type { Reply } from "../../api.ts";
import { formatDay, formatExact } from "../../format/moments.ts";
import { StateBadge } from "../table/state-badge.tsx";
import { PriceTags } from "./price-tags.tsx";
import classes from "./price-timeline.module.css";

type PriceVersion = Reply<"GET /api/prices">[number];

/** Current, scheduled and past prices of a model, newest first. */
export function PriceTimeline({ versions }: { readonly versions: readonly PriceVersion[] }) {
  const known = versions.filter(({ version }) => version !== null).toReversed();
  if (known.length === 0) return <p className="soft">No price set.</p>;
  return (
    <ol className={classes.timeline} aria-label="Prices, newest first">
      {known.map((version) => (
        <li key={version.version} data-now={version.in_force}>
          <div className={classes.head}>
            <When at={version.effective_at} />
            {version.in_force && <StateBadge state="active" label="current" />}
            {!version.in_force && isAhead(version) && (
              <StateBadge state="pending" label="scheduled" />
            )}
          </div>
          <PriceTags price={version.price} none="No price: not served" />
        </li>
      ))}
    </ol>
  );
}

const isAhead = ({ effective_at: at }: PriceVersion) => at !== null && Date.parse(at) > Date.now();

function When({ at }: { readonly at: string | null }) {
  if (at === null) return <span>From the beginning</span>;
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatExact(atMs)}>
      From {formatDay(atMs)}
    </time>
  );
}
