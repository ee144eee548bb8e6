import { Button } from "@mantine/core";
import { useState } from "react";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Facts } from "../../../components/layout/facts.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { BudgetBar } from "../../../components/money/budget-bar.tsx";
import { formatCount } from "../../../format/figures.ts";
import { LimitFields } from "./limit-fields.tsx";
import type { Details } from "./limits.ts";
import { fromLimits, toLimitFields } from "./limits.ts";
import classes from "./page.module.css";

export function LimitsPanel({ account }: { readonly account: Details }) {
  const [isOpen, setOpen] = useState(false);
  const { rpm, tpm, concurrency } = account.limits;
  const words = (text: string | null) => (text === null ? "No limit" : formatCount(Number(text)));
  return (
    <Panel
      title="Limits"
      about="Shared by all keys of this account."
      actions={
        <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
          {" "}
          Edit limits{" "}
        </Button>
      }
    >
      <Facts
        of={{
          "Requests per minute": words(rpm),
          "Tokens per minute": words(tpm),
          "Concurrent requests": words(concurrency),
          ...(account.budget === null ? { Budget: "No limit" } : {}),
        }}
      />
      {account.budget !== null && (
        <div className={classes.budget}>
          <BudgetBar budget={account.budget} />
        </div>
      )}
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => <LimitsForm account={account} />}
      </Dialog>
    </Panel>
  );
}

function LimitsForm({ account }: { readonly account: Details }) {
  const form = useForm({
    route: "PATCH /api/accounts/:account/limits",
    values: () => fromLimits(account.limits),
    toInput: (texts) => ({ params: { account: account.id }, body: toLimitFields(texts) }),
    onDone: () => say("Limits saved."),
  });
  return (
    <FormDialog title={`Limits of ${account.name}`} form={form} submit="Save changes">
      <LimitFields value={form.values} onChange={form.edit} problem={form.problem} />
      <p className="soft">
        Leave empty for no limit. Spend earlier in the period counts toward the budget. Calls over
        the budget are rejected.
      </p>
    </FormDialog>
  );
}
