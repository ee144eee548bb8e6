import { csvText } from "../../../../src/base/text/csv.ts";
import type { Reply } from "../../api.ts";

export type Billing = Reply<"GET /api/accounts/:account/billing">;
export type Line = Billing["ledger"]["lines"][number];

const monthName = new Intl.DateTimeFormat("en", {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** `2027-01` is `January 2027`. */
export const monthWords = (month: string) => monthName.format(Date.parse(`${month}-01`));

export const kindWords: Readonly<Record<string, string>> = {
  credit: "Credit",
  refund: "Refund",
  withdrawal: "Withdrawal",
  usage: "Usage",
};

/** The rows as they are on the page, the newest first. */
export function ledgerCsv(lines: readonly Line[]): string {
  const header = [
    "at",
    "kind",
    "model",
    "requests",
    "reference",
    "note",
    "amount_usd",
    "balance_usd",
  ];
  return csvText([
    header,
    ...lines.map((line) => [
      line.at,
      line.kind,
      line.model,
      line.receipts,
      line.reference,
      line.note,
      line.amount_usd,
      line.balance_usd,
    ]),
  ]);
}
