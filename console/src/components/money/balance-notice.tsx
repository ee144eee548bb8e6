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

/** Says it before calls are refused, and while they are; and who can do something about it. */
export function BalanceNotice({ account, daySpendUsd, hasLink = false }: BalanceNoticeProps) {
  const params = { account };
  const isOperator = useMay("operator");
  const standing = useApi(standingRoute, { params }, { everyMs: 30_000 });
  const trouble = standing.data && balanceTrouble(standing.data, daySpendUsd ?? "0");
  const isEmpty = trouble?.kind === "empty";
  const models = useApi("GET /api/accounts/:account/models", { params }, { enabled: isEmpty });
  const isAllFree = models.data?.every(({ price }) => isFree(price)) !== false;
  // Who pays for nothing needs no money.
  if (standing.data === undefined || trouble === undefined || (isEmpty && isAllFree)) return null;
  const { title, about } = wordsFor(trouble, standing.data.free_usd);
  return (
    <div className="below">
      <Notice
        title={title}
        tone={trouble.kind === "low" ? "warn" : "bad"}
        action={
          <>
            {hasLink && (
              <Link to="/a/$account/billing" params={params}>
                Go to billing
              </Link>
            )}
            {isOperator && (
              <Link to="/operator/accounts/$id" params={{ id: account }}>
                Go to the account
              </Link>
            )}
          </>
        }
      >
        <p>
          {about} {!isOperator && "Ask the operator of this platform."}
        </p>
      </Notice>
    </div>
  );
}

function wordsFor(
  trouble: BalanceTrouble,
  freeUsd: string,
): { readonly title: string; readonly about: ReactNode } {
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
            ? "Calls are refused with 402 until an operator raises it."
            : `Calls are refused with 402 until the next ${trouble.period} begins, or an operator raises it.`,
      };
    case "low":
      return {
        title: "The balance is low",
        about: (
          <>
            <Money usd={freeUsd} /> is left: about {trouble.hours}{" "}
            {trouble.hours === 1 ? "hour" : "hours"} at the pace of the last day. Then calls are
            refused with 402 until money is added.
          </>
        ),
      };
    default:
      return trouble satisfies never;
  }
}
