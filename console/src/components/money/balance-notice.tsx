import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useApi } from "../../queries.ts";
import { useMay } from "../../session.tsx";
import { Notice } from "../feedback/error-notice.tsx";
import { type BalanceTrouble, balanceTrouble } from "./balance.ts";
import { Money } from "./money.tsx";

/** Asked for again when calls have ended: they cost. */
export const standingRoute = "GET /api/accounts/:account";

const isFree = (price: Readonly<Record<string, string>> | null) =>
  Object.values(price ?? {}).every((usd) => Number(usd) === 0);

interface BalanceNoticeProps {
  readonly account: string;
  /** What the last day cost, as far as it is known. */
  readonly daySpendUsd: string | undefined;
  /** Where the page itself is not the one that tells more. */
  readonly hasLink?: boolean;
}

/** Warns before and while calls are rejected, and links to the fix. */
export function BalanceNotice({ account, daySpendUsd, hasLink = false }: BalanceNoticeProps) {
  const params = { account };
  const isOperator = useMay("operator");
  const standing = useApi(standingRoute, { params }, { everyMs: 30_000 });
  const trouble = standing.data && balanceTrouble(standing.data, daySpendUsd ?? "0");
  const isEmpty = trouble?.kind === "empty";
  const models = useApi("GET /api/accounts/:account/models", { params }, { enabled: isEmpty });
  const isAllFree = models.data?.every(({ price }) => isFree(price)) !== false;
  // Free models work without a balance.
  if (standing.data === undefined || trouble === undefined || (isEmpty && isAllFree)) return null;
  const { title, about, request } = wordsFor(trouble, standing.data.free_usd);
  return (
    <div className="below">
      <Notice
        title={title}
        tone={trouble.kind === "low" ? "warn" : "bad"}
        action={
          <>
            {hasLink && (
              <Link to="/a/$account/billing" params={params}>
                View billing
              </Link>
            )}
            {isOperator && (
              <Link to="/operator/accounts/$id" params={{ id: account }}>
                View account
              </Link>
            )}
          </>
        }
      >
        <p>
          {about} {!isOperator && `Ask the operator of this platform to ${request}.`}
        </p>
      </Notice>
    </div>
  );
}

function wordsFor(
  trouble: BalanceTrouble,
  freeUsd: string,
): {
  readonly title: string;
  readonly about: ReactNode;
  /** What members ask the operator for. */
  readonly request: string;
} {
  switch (trouble.kind) {
    case "suspended":
      return {
        title: "This account is suspended",
        about: "Calls are rejected with 402 until an operator resumes the account.",
        request: "resume it",
      };
    case "empty":
      return {
        title: "Out of credit",
        about: "Calls are rejected with 402 until credit is added.",
        request: "add credit",
      };
    case "budget":
      return {
        title: "This account's budget is used up",
        about:
          trouble.period === "total"
            ? "Calls are rejected with 402 until an operator raises the budget."
            : `Calls are rejected with 402 until the next ${trouble.period} starts or an operator raises the budget.`,
        request: "raise the budget",
      };
    case "low":
      return {
        title: "Low balance",
        about: (
          <>
            <Money usd={freeUsd} digits="balance" /> is left. At the rate of the last 24 hours, it
            lasts about {trouble.hours} {trouble.hours === 1 ? "hour" : "hours"}. After that, calls
            are rejected with 402 until credit is added.
          </>
        ),
        request: "add credit",
      };
    default:
      return trouble satisfies never;
  }
}
