import type { ReactNode } from "react";
import { Panel } from "../../components/layout/panel.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatCount } from "../../format/figures.ts";
import { formatUsdExact } from "../../format/money.ts";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";

type Row = NonNullable<Receipt["arithmetic"]>["rows"][number];

const perWords = { million: "per million", image: "per image", second: "per second" } as const;

const columns: readonly Column<Row>[] = [
  { header: "What", cell: ({ words }) => words },
  { header: "Units", isFigure: true, cell: ({ units }) => formatCount(units) },
  {
    header: "× Price",
    isFigure: true,
    cell: ({ price_usd, per }) => (
      <span>
        {formatUsdExact(price_usd)} <span className="soft small">{perWords[per]}</span>
      </span>
    ),
  },
  { header: "= Cost", isFigure: true, cell: ({ cost_usd }) => formatUsdExact(cost_usd) },
];

/** How the cost came about, to the last digit, and what was taken of it. */
export function Arithmetic({ receipt }: { readonly receipt: Receipt }) {
  const { arithmetic } = receipt;
  return (
    <Panel
      title="What it cost"
      about={`By version ${receipt.price_version} of the model's price.`}
      actions={arithmetic !== null && <AddsUp isRight={arithmetic.adds_up} />}
      isFlush
    >
      {arithmetic === null ? (
        <p className={classes.note}>
          The price of that time is no longer known, so the cost cannot be worked out again. It is
          as it was written then.
        </p>
      ) : (
        <DataTable
          caption="Units times price"
          columns={columns}
          rows={arithmetic.rows}
          rowKey={(row) => row.class}
          empty="Nothing was used, so there is nothing to pay."
        />
      )}
      <dl className={classes.sums}>
        {arithmetic !== null && (
          <>
            <Sum label="Sum" usd={arithmetic.sum_usd} />
            <Sum label="Rounded up by" usd={arithmetic.rounding_usd} />
          </>
        )}
        <Sum label="Cost" usd={receipt.cost_usd} isStrong />
        <Sum
          label="Held before the call"
          usd={receipt.hold_usd}
          note="the most that it could cost; given back when it ended"
        />
        <Sum label="Charged" usd={receipt.charged_usd} isStrong />
        {Number(receipt.shortfall_usd) > 0 && (
          <Sum
            label="Shortfall"
            usd={receipt.shortfall_usd}
            note="cost beyond what could be taken; it is not owed"
          />
        )}
        <Vendor receipt={receipt} />
      </dl>
      {receipt.estimated && (
        <p className={classes.note}>
          <strong>Estimated.</strong> Nobody upstream said how much was used, as when a stream
          breaks off. The gateway counted what it had passed on itself.
        </p>
      )}
    </Panel>
  );
}

function AddsUp({ isRight }: { readonly isRight: boolean }) {
  return isRight ? (
    <StateBadge state="ok" label="Adds up" />
  ) : (
    <StateBadge state="failed" label="Does not add up" />
  );
}

/** For operators: what the vendor asks, and what is left. */
function Vendor({ receipt }: { readonly receipt: Receipt }) {
  const { vendor_cost_usd: cost, margin_usd: margin } = receipt;
  if (cost === undefined) return null;
  if (cost === null || margin === null || margin === undefined)
    return <Sum label="The vendor asks" note="the route says no cost" />;
  return (
    <>
      <Sum label="The vendor asks" usd={cost} />
      <Sum label="Margin" usd={margin} isStrong />
    </>
  );
}

function Sum(props: {
  readonly label: string;
  readonly usd?: string;
  readonly note?: ReactNode;
  readonly isStrong?: boolean;
}) {
  const { label, usd, note, isStrong = false } = props;
  return (
    <div data-strong={isStrong}>
      <dt>
        {label}
        {note !== undefined && <span className="soft small">{note}</span>}
      </dt>
      <dd>{usd === undefined ? "–" : <data value={usd}>{formatUsdExact(usd)}</data>}</dd>
    </div>
  );
}
