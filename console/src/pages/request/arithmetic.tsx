import type { ReactNode } from "react";
import { Panel } from "../../components/layout/panel.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatCount } from "../../format/figures.ts";
import { formatUsdExact } from "../../format/money.ts";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";

type Row = NonNullable<Receipt["arithmetic"]>["rows"][number];

const perWords = { million: "per 1M", image: "per image", second: "per second" } as const;

const columns: readonly Column<Row>[] = [
  { header: "Class", cell: ({ words }) => words },
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

/** The cost calculation, exact to the last digit, and the amount charged. */
export function Arithmetic({ receipt }: { readonly receipt: Receipt }) {
  const { arithmetic } = receipt;
  return (
    <Panel
      title="Cost"
      about={`Price version ${receipt.price_version} of this model.`}
      actions={arithmetic !== null && <AddsUp isRight={arithmetic.adds_up} />}
      isFlush
    >
      {arithmetic === null ? (
        <p className={classes.note}>
          The price at that time is no longer available, so the calculation cannot be shown. The
          cost is as recorded.
        </p>
      ) : (
        <DataTable
          caption="Cost calculation"
          columns={columns}
          rows={arithmetic.rows}
          rowKey={(row) => row.class}
          empty="No usage."
        />
      )}
      <dl className={classes.sums}>
        {arithmetic !== null && (
          <>
            <Sum label="Subtotal" usd={arithmetic.sum_usd} />
            <Sum label="Rounding" usd={arithmetic.rounding_usd} />
          </>
        )}
        <Sum label="Cost" usd={receipt.cost_usd} isStrong />
        <Sum
          label="Held before the call"
          usd={receipt.hold_usd}
          note="Maximum cost, released at the end"
        />
        <Sum label="Charged" usd={receipt.charged_usd} isStrong />
        {Number(receipt.shortfall_usd) > 0 && (
          <Sum
            label="Shortfall"
            usd={receipt.shortfall_usd}
            note="Cost beyond the hold, borne by the operator"
          />
        )}
        <Vendor receipt={receipt} />
      </dl>
      {receipt.estimated && (
        <p className={classes.note}>
          <strong>Estimated.</strong> The provider did not report usage, for example because the
          stream was interrupted. The gateway counted the tokens itself.
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

/** For operators: the vendor's cost and the margin. */
function Vendor({ receipt }: { readonly receipt: Receipt }) {
  const { vendor_cost_usd: cost, margin_usd: margin } = receipt;
  if (cost === undefined) return null;
  if (cost === null || margin === null || margin === undefined)
    return <Sum label="Vendor cost" note="Not set on the route" />;
  return (
    <>
      <Sum label="Vendor cost" usd={cost} />
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
