import { Button } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { ApiProblem } from "../../api.ts";
import classes from "./error-notice.module.css";

interface NoticeProps {
  readonly title: string;
  readonly tone?: "bad" | "warn";
  /** What to do about it, in paragraphs. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** What is wrong, where it must be seen. */
export function Notice({ title, tone = "bad", children, action }: NoticeProps) {
  return (
    <div role="alert" className={classes.notice} data-tone={tone}>
      <IconAlertTriangle size={18} />
      <div className={classes.words}>
        <p className={classes.title}>{title}</p>
        {children}
      </div>
      {action}
    </div>
  );
}

interface ErrorNoticeProps {
  readonly problem: ApiProblem | null;
  /** Shown as a button where asking again can help. */
  readonly onRetry?: () => unknown;
}

/** What went wrong, in the platform's own words, and what to do about it. Nothing without a problem. */
export function ErrorNotice({ problem, onRetry }: ErrorNoticeProps) {
  if (problem === null) return null;
  const { status, code, message } = problem;
  return (
    <Notice
      title={message}
      action={
        onRetry !== undefined &&
        (status === 0 || status >= 500) && <RetryButton onClick={() => void onRetry()} />
      }
    >
      {status >= 500 && code !== "failed" && (
        <p>This is probably temporary. Try again in a moment.</p>
      )}
    </Notice>
  );
}

export function RetryButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <Button size="xs" variant="default" onClick={onClick}>
      Try again
    </Button>
  );
}
