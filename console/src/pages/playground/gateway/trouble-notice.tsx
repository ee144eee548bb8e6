import { Link } from "@tanstack/react-router";
import { Notice, RetryButton } from "../../../components/feedback/error-notice.tsx";
import { formatMs } from "../../../format/figures.ts";
import { usePlaygroundAccount } from "../account.ts";
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

/** Their messages name the wait themselves. */
const saysWhen: ReadonlySet<string> = new Set(["rate_limit_exceeded", "store_unavailable"]);

function Advice({ trouble }: { readonly trouble: Trouble }) {
  const account = usePlaygroundAccount();
  const { status, code } = trouble;
  const waitMs = "waitMs" in trouble ? trouble.waitMs : undefined;
  if (code === "insufficient_quota")
    return (
      <p>
        The balance must cover the maximum cost of a call before it starts.{" "}
        <Link to="/a/$account/billing" params={{ account }}>
          View billing
        </Link>
        .
      </p>
    );
  if (status === 402)
    return (
      <p>
        <Link to="/a/$account/billing" params={{ account }}>
          Billing
        </Link>{" "}
        shows the balance and what was spent.
      </p>
    );
  if (waitMs !== undefined && !saysWhen.has(code))
    return <p>Try again in {formatMs(Math.ceil(waitMs / 1_000) * 1_000)}.</p>;
  return null;
}

function titleOf({ status, code }: Trouble): string {
  // The error came after the status was sent.
  if (status === 200 || code === "broken") return "The reply was interrupted";
  if (code === "account_suspended") return "This account is suspended";
  if (code === "budget_exceeded") return "Budget used up";
  if (status === 402) return "Balance too low for this call";
  if (code === "upstream_rate_limited") return "Provider rate limit";
  if (status === 429) return "Rate limit reached";
  if (code === "content_filtered") return "Content filtered";
  if (code === "model_loading") return "The model is still loading";
  if (status === 403) return "Not allowed";
  if (status >= 500 || status === 0) return "No reply";
  return "Request rejected";
}
