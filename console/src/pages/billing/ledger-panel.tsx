import { ActionIcon, Button } from "@mantine/core";
import { IconChevronRight, IconDownload } from "@tabler/icons-react";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { formatCount } from "../../format/figures.ts";
import { dayOf, formatDate, formatExact, timeZone } from "../../format/moments.ts";
import { formatBalance, usdPlaces } from "../../format/money.ts";
import { saveFile } from "../../format/save-file.ts";
import { type Billing, kindWords, type Line, ledgerCsv, monthWords } from "./billing.ts";
import classes from "./page.module.css";

interface LedgerPanelProps {
  readonly ledger: Billing["ledger"];
  /** Of its days. */
  readonly zone: string;
  readonly onMonth: (month: string) => void;
}

export function LedgerPanel({ ledger, zone, onMonth }: LedgerPanelProps) {
  const { month, lines, opening_usd: opening, closing_usd: closing } = ledger;
  return (
    <Panel
      title={`Ledger for ${monthWords(month)}`}
      about={`Opening balance: ${formatBalance(opening)}. ${ledger.next_month === null ? "Current" : "Closing"} balance: ${formatBalance(closing)}.`}
      actions={
        <div className={classes.months}>
          <MonthButton month={ledger.previous_month} side="Earlier" onMonth={onMonth} />
          <MonthButton month={ledger.next_month} side="Later" onMonth={onMonth} />
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconDownload size={14} />}
            disabled={lines.length === 0}
            onClick={() => download(ledger)}
          >
            {" "}
            Export CSV{" "}
          </Button>
        </div>
      }
      isFlush
    >
      <DataTable
        caption={`Ledger for ${monthWords(month)}`}
        columns={columnsFor(
          zone,
          Math.max(4, usdPlaces(lines.map(({ amount_usd }) => amount_usd))),
        )}
        rows={lines}
        rowKey={({ kind, at, model, reference }) => `${kind} ${at} ${model ?? reference}`}
        empty="No credit or usage this month."
      />
      {lines.length > 0 && (
        <p className="soft inset">
          Usage is summed by day and model, and listed after that day's entries.
          {zone !== timeZone() && ` Days here are ${zone} days.`}
        </p>
      )}
    </Panel>
  );
}

interface MonthButtonProps {
  /** None: there is nothing on that side. */
  readonly month: string | null;
  readonly side: "Earlier" | "Later";
  readonly onMonth: (month: string) => void;
}

function MonthButton({ month, side, onMonth }: MonthButtonProps) {
  return (
    <ActionIcon
      size={28}
      variant="default"
      aria-label={month === null ? `${side}: no more months` : `${side}: ${monthWords(month)}`}
      disabled={month === null}
      onClick={() => month !== null && onMonth(month)}
    >
      <span className={side === "Earlier" ? classes.mirrored : undefined}>
        <IconChevronRight size={16} />
      </span>
    </ActionIcon>
  );
}

const columnsFor = (zone: string, places: number): readonly Column<Line>[] => [
  { header: "Date", cell: ({ at }) => <Day at={at} zone={zone} /> },
  { header: "Type", cell: ({ kind }) => kindWords[kind] ?? kind },
  { header: "Details", cell: (line) => <Details line={line} /> },
  {
    header: "Amount",
    isFigure: true,
    cell: (line) => <Amount usd={line.amount_usd} places={places} />,
  },
  {
    header: "Balance",
    isFigure: true,
    cell: ({ balance_usd: usd }) => <Money usd={usd} digits="balance" places={4} />,
  },
];

/** Usage has a day, an entry a moment: one column has the days of one zone. */
function Day({ at, zone }: Pick<Line, "at"> & { readonly zone: string }) {
  const isDay = at.length === 10;
  return (
    <time
      dateTime={at}
      className="nowrap"
      title={isDay ? `${at} (${zone})` : formatExact(Date.parse(at))}
    >
      {formatDate(isDay ? at : dayOf(Date.parse(at), zone))}
    </time>
  );
}

function Details({ line: { model, receipts, reference, note } }: { readonly line: Line }) {
  if (model !== null)
    return (
      <span className={classes.details}>
        <code>{model}</code>
        <small>
          {formatCount(receipts ?? 0)} {receipts === 1 ? "request" : "requests"}
        </small>
      </span>
    );
  return (
    <span className={classes.details}>
      <span>{note === null || note === "" ? reference : note}</span>
      {note !== null && note !== "" && <small>{reference}</small>}
    </span>
  );
}

function Amount({ usd, places }: { readonly usd: string; readonly places: number }) {
  const isIn = !usd.startsWith("-");
  return (
    <span className={isIn ? classes.in : undefined}>
      {isIn && "+"}
      <Money usd={usd} places={places} />
    </span>
  );
}

function download({ month, lines }: Billing["ledger"]): void {
  const file = new Blob([ledgerCsv(lines)], { type: "text/csv;charset=utf-8" });
  saveFile(file, `ledger-${month}.csv`);
}
