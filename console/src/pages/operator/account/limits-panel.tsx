import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import { FormProblem } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatCount, formatShare } from "../../../format/figures.ts";
import { formatUsd } from "../../../format/money.ts";
import { useChange } from "../../../queries.ts";
import { LimitFields, limitFieldNames } from "./limit-fields.tsx";
import type { Details } from "./limits.ts";
import { fromLimits, type Limits, toLimitFields } from "./limits.ts";
import classes from "./page.module.css";

export function LimitsPanel({ account }: { readonly account: Details }) {
  const [isOpen, setOpen] = useState(false);
  const { rpm, tpm, concurrency } = account.limits;
  const words = (text: string | null) => (text === null ? "no limit" : formatCount(Number(text)));
  return (
    <Panel
      title="Limits"
      about="Of all its keys together."
      actions={
        <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
          Change the limits
        </Button>
      }
    >
      <dl className={classes.facts}>
        <dt>Requests a minute</dt>
        <dd>{words(rpm)}</dd>
        <dt>Tokens a minute</dt>
        <dd>{words(tpm)}</dd>
        <dt>Calls at once</dt>
        <dd>{words(concurrency)}</dd>
        {account.budget === null && (
          <>
            <dt>Budget</dt>
            <dd>no limit</dd>
          </>
        )}
      </dl>
      {account.budget !== null && <Budget budget={account.budget} />}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Limits of ${account.name}`}>
        <LimitsForm id={account.id} limits={account.limits} onClose={() => setOpen(false)} />
      </Modal>
    </Panel>
  );
}

const periodWords = { month: "this month", day: "today", total: "in all" } as const;

function Budget({ budget }: { readonly budget: NonNullable<Details["budget"]> }) {
  const share = Number(budget.spent_usd) / Math.max(Number(budget.limit_usd), 1e-9);
  return (
    <div className={classes.budget}>
      <p>
        {formatUsd(budget.spent_usd)} of the budget of {formatUsd(budget.limit_usd)} is spent{" "}
        {periodWords[budget.period]} ({formatShare(Math.min(share, 1))}).
      </p>
      <Bar share={share} />
    </div>
  );
}

/** Repeats a figure that stands beside it. */
export function Bar({ share }: { readonly share: number }) {
  const percent = Math.max(0, Math.min(100, share * 100));
  return (
    <div className={classes.bar} aria-hidden="true" data-full={share >= 1}>
      <div style={{ width: `${percent}%` }} />
    </div>
  );
}

interface LimitsFormProps {
  readonly id: string;
  readonly limits: Limits;
  readonly onClose: () => void;
}

/** Inside the dialog, so that it begins with what is in force. */
function LimitsForm({ id, limits, onClose }: LimitsFormProps) {
  const [texts, setTexts] = useState(() => fromLimits(limits));
  const change = useChange("PATCH /api/accounts/:account/limits", {
    onDone: () => {
      say("The limits are in force.");
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ params: { account: id }, body: toLimitFields(texts) });
      }}
    >
      <Stack>
        <LimitFields value={texts} onChange={setTexts} problem={change.error} />
        <p className={classes.quiet}>
          A field that is empty limits nothing. A budget counts what was spent in its period
          already; a call that would go beyond it is refused.
        </p>
        <FormProblem problem={change.error} fields={limitFieldNames} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
