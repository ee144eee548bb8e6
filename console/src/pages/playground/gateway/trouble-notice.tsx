import { Link } from "@tanstack/react-router";
import { Notice, RetryButton } from "../../../components/feedback/error-notice.tsx";
import { formatMs } from "../../../format/figures.ts";
import { useAccount } from "../../../session.tsx";
import type { Trouble } from "./use-run.ts";

interface TroubleNoticeProps {
  readonly trouble: Trouble | null;
  readonly onRetry?: (() => void) | undefined;
}

/** What went wrong, where the answer would be, and what to do about it. */
export function TroubleNotice({ trouble, onRetry }: TroubleNoticeProps) {
  if (trouble === null) return null;
  const { code, status, message } = trouble;
  return (
    <Notice
      title={titleOf(trouble)}
      action={onRetry !== undefined && <RetryButton onClick={onRetry} />}
    >
      <p>{message}</p>
      <Advice trouble={trouble} />
      <code className="soft small">{status < 400 ? code : `${status} ${code}`}</code>
    </Notice>
  );
}

function Advice({ trouble }: { readonly trouble: Trouble }) {
  const account = useAccount();
  const { status, code } = trouble;
  const waitMs = "waitMs" in trouble ? trouble.waitMs : undefined;
  if (code === "insufficient_quota")
    return (
      <p>
        The balance must cover the worst case of a call before it starts.{" "}
        <Link to="/a/$account/billing" params={{ account: account.id }}>
          See the balance in Billing
        </Link>
        .
      </p>
    );
  if (status === 402)
    return (
      <p>
        <Link to="/a/$account/billing" params={{ account: account.id }}>
          Billing
        </Link>{" "}
        shows what is left and what was spent.
      </p>
    );
  if (waitMs !== undefined && !trouble.message.includes("Try again in"))
    return <p>Wait {formatMs(Math.ceil(waitMs / 1_000) * 1_000)}, then try again.</p>;
  return null;
}

function titleOf({ status, code }: Trouble): string {
  // The status went out before the trouble came.
  if (status === 200 || code === "broken") return "The answer broke off";
  if (code === "account_suspended") return "This account is suspended";
  if (code === "budget_exceeded") return "A budget is used up";
  if (status === 402) return "The balance is too low for this call";
  if (code === "upstream_rate_limited") return "The model is asked too often at the moment";
  if (status === 429) return "A limit is reached";
  if (code === "content_filtered") return "The model's filter refused this";
  if (code === "model_loading") return "The model is still being loaded";
  if (status === 403) return "Not allowed";
  if (status >= 500 || status === 0) return "No answer came";
  return "The request was refused";
}
