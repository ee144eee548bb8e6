import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "../../parts/icons.tsx";
import { Moment } from "../../parts/moment.tsx";
import { useApi } from "../../queries.ts";
import { useMay } from "../../session.tsx";
import type { Billing } from "./billing.ts";
import classes from "./page.module.css";
import { type MoneyTrouble, moneyTrouble } from "./trouble.ts";

/** Says it before calls are refused, and while they are; and who can do something about it. */
export function MoneyNotice({ billing }: { readonly billing: Billing }) {
  const { account } = billing;
  const params = { account };
  const isOperator = useMay("operator");
  const standing = useApi("GET /api/accounts/:account", { params }, { everyMs: 30_000 });
  const trouble = standing.data && moneyTrouble(standing.data, billing.runs_out_at, Date.now());
  const isEmpty = trouble?.kind === "empty";
  const models = useApi("GET /api/accounts/:account/models", { params }, { enabled: isEmpty });
  const isAllFree = models.data?.every(({ price }) => isFree(price)) !== false;
  // Who pays for nothing needs no money.
  if (trouble === undefined || (isEmpty && isAllFree)) return null;
  const { title, about } = wordsFor(trouble);
  return (
    <div
      role="alert"
      className={classes.notice}
      data-tone={trouble.kind === "low" ? "warn" : "bad"}
    >
      <Icon name="warning" size={18} />
      <div className={classes.noticeWords}>
        <p className={classes.noticeTitle}>{title}</p>
        <p>
          {about} {!isOperator && "Ask the operator of this platform."}
        </p>
      </div>
      {isOperator && (
        <Link to="/operator/accounts/$id" params={{ id: account }}>
          Go to the account
        </Link>
      )}
    </div>
  );
}

const isFree = (price: Readonly<Record<string, string>> | null) =>
  Object.values(price ?? {}).every((usd) => Number(usd) === 0);

function wordsFor(trouble: MoneyTrouble): { readonly title: string; readonly about: ReactNode } {
  switch (trouble.kind) {
    case "suspended":
      return {
        title: "This account is suspended",
        about: "Calls are refused with 402 until an operator lets it go on.",
      };
    case "empty":
      return {
        title: "The balance is used up",
        about: "Calls are refused with 402 until money is added.",
      };
    case "budget":
      return {
        title: "The budget of this account is used up",
        about:
          trouble.period === "total"
            ? "Calls are refused with 402 until the budget is raised."
            : `Calls are refused with 402 until the next ${trouble.period} begins or the budget is raised.`,
      };
    case "low":
      return {
        title: "The balance is low",
        about: (
          <>
            At this pace it is used up <Moment at={trouble.at} />; then calls are refused with 402
            until money is added.
          </>
        ),
      };
    default:
      return trouble satisfies never;
  }
}
