import type { Reply } from "../../api.ts";
import { formatShare } from "../../format/figures.ts";
import { ShareBar } from "../chart/share-bar.tsx";
import classes from "./budget-bar.module.css";
import { Money } from "./money.tsx";

type Budget = NonNullable<Reply<"GET /api/accounts/:account">["budget"]>;

const periodWords = { month: "this month", day: "today", total: "in total" } as const;
/** Budgets start again at midnight UTC, whatever zone the reader is in. */
const resetWords = {
  month: "Resets on the first of the month, 00:00 UTC.",
  day: "Resets at 00:00 UTC.",
  total: "Does not reset.",
} as const;
/** From here on it deserves a look. */
const nearShare = 0.8;

/** What a budget has been used for so far, and when it starts again. */
export function BudgetBar({ budget }: { readonly budget: Budget }) {
  const share = Number(budget.spent_usd) / Math.max(Number(budget.limit_usd), 1e-9);
  const isFull = share >= 1;
  return (
    <div className={classes.budget} data-near={share >= nearShare}>
      <p>
        <Money usd={budget.spent_usd} /> of the <Money usd={budget.limit_usd} /> budget spent{" "}
        {periodWords[budget.period]} (<span className={classes.share}>{formatShare(share)}</span>).{" "}
        {resetWords[budget.period]}
        {isFull && " Calls are rejected with 402."}
      </p>
      <ShareBar share={share} isFull={isFull} />
    </div>
  );
}
