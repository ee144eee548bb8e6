import { Anchor, Button } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { formatCount } from "../../format/figures.ts";
import type { Filters, Sorting } from "./filters.ts";
import classes from "./page.module.css";
import { useRejectedCount } from "./rejections.ts";
import { mostFresh, type Total, useTotal } from "./use-requests.ts";

interface TotalsProps {
  readonly account: string | undefined;
  readonly filters: Filters;
  readonly sorting: Sorting;
  readonly newestId: string | undefined;
  readonly onRejected: () => void;
}

/** How many there are, and how many never became one. */
export function Totals({ account, filters, sorting, newestId, onRejected }: TotalsProps) {
  const total = useTotal({ account, filters, newestId });
  const { outcome, provider, status } = filters;
  // Receipts alone have the others.
  const isOfAll = outcome + provider === "" && (status === "" || status.startsWith("4"));
  const refused = useRejectedCount({ account, filters, enabled: isOfAll });
  return (
    <p className={classes.totals} role="status">
      {total !== undefined && <span>{totalWords(total)}</span>}
      {total?.is_capped === true && sorting.sort !== "time" && (
        <span>Sorted within the newest {formatCount(total.count)}.</span>
      )}
      {isOfAll && refused !== undefined && refused.count > 0 && (
        <span>
          {countWords(refused)} rejected ·{" "}
          <Anchor component="button" type="button" size="sm" onClick={onRejected}>
            Show rejected
          </Anchor>
        </span>
      )}
    </p>
  );
}

const countWords = ({ count, is_capped: isCapped }: Total) =>
  `${formatCount(count)}${isCapped ? "+" : ""}`;

export const totalWords = (total: Total) =>
  `${countWords(total)} ${total.count === 1 ? "request" : "requests"}`;

/** Of the list of rejected calls; a row of it may stand for several. */
export function RejectedTotal(asked: Pick<TotalsProps, "account" | "filters">) {
  const total = useRejectedCount({ ...asked, enabled: true });
  return (
    <p className={classes.totals} role="status">
      {total !== undefined && (
        <span>
          {countWords(total)} rejected {total.count === 1 ? "call" : "calls"}
        </span>
      )}
    </p>
  );
}

interface PauseButtonProps {
  readonly isPaused: boolean;
  readonly onChange: (isPaused: boolean) => void;
}

/** Rows that arrive while it is paused wait until one looks. */
export function PauseButton({ isPaused, onChange }: PauseButtonProps) {
  return (
    <Button
      variant="default"
      leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
      aria-pressed={isPaused}
      onClick={() => onChange(!isPaused)}
    >
      {isPaused ? "Resume live rows" : "Pause live rows"}
    </Button>
  );
}

interface NewChipProps {
  readonly waiting: number;
  readonly onShow: () => void;
}

export function NewChip({ waiting, onShow }: NewChipProps) {
  if (waiting === 0) return null;
  return (
    <div className={classes.chip}>
      <Button size="compact-sm" radius="xl" onClick={onShow}>
        {formatCount(waiting)}
        {waiting >= mostFresh && "+"} new
      </Button>
    </div>
  );
}
