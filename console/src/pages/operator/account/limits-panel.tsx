import { Button } from "@mantine/core";
import { useState } from "react";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatCount, formatShare } from "../../../format/figures.ts";
import { formatUsd } from "../../../format/money.ts";
import { LimitFields } from "./limit-fields.tsx";
import type { Details } from "./limits.ts";
import { fromLimits, toLimitFields } from "./limits.ts";
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
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => <LimitsForm account={account} />}
      </Dialog>
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

function LimitsForm({ account }: { readonly account: Details }) {
  const form = useForm({
    route: "PATCH /api/accounts/:account/limits",
    values: () => fromLimits(account.limits),
    toInput: (texts) => ({ params: { account: account.id }, body: toLimitFields(texts) }),
    onDone: () => say("The limits are in force."),
  });
  return (
    <FormDialog title={`Limits of ${account.name}`} form={form} submit="Save">
      <LimitFields value={form.values} onChange={form.edit} problem={form.problem} />
      <p className={classes.quiet}>
        A field that is empty limits nothing. A budget counts what was spent in its period already;
        a call that would go beyond it is refused.
      </p>
    </FormDialog>
  );
}
