import { Button } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ApiProblem } from "../../api.ts";
import classes from "./error-notice.module.css";

interface ErrorNoticeProps {
  readonly problem: ApiProblem | null;
  /** Shown as a button where asking again can help. */
  readonly onRetry?: () => unknown;
}

/** What went wrong, in the platform's own words, and what to do about it. Nothing without a problem. */
export function ErrorNotice({ problem, onRetry }: ErrorNoticeProps) {
  if (problem === null) return null;
  const advice = adviceFor(problem);
  const mayRetry = onRetry !== undefined && (problem.status === 0 || problem.status >= 500);
  return (
    <div role="alert" className={classes.notice}>
      <IconAlertTriangle size={18} />
      <div className={classes.words}>
        <p className={classes.message}>{problem.message}</p>
        {advice !== undefined && <p className={classes.advice}>{advice}</p>}
      </div>
      {mayRetry && (
        <Button size="xs" variant="default" onClick={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  );
}

function adviceFor({ status, code }: ApiProblem): string | undefined {
  if (status >= 500 && code !== "failed") return "This is likely to pass. Try again in a moment.";
  return undefined;
}
