import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Facts } from "../../../components/layout/facts.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatCount } from "../../../format/figures.ts";
import type { Details } from "./limits.ts";

export function RetentionPanel({ account }: { readonly account: Details }) {
  const [isOpen, setOpen] = useState(false);
  const { receipts_days: days } = account;
  return (
    <Panel
      title="Receipts"
      about="Balances and daily sums stay when old receipts are deleted."
      actions={
        <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
          {" "}
          Edit retention{" "}
        </Button>
      }
    >
      <Facts
        of={{
          "Kept for":
            days === null
              ? "As long as those of all accounts"
              : `${formatCount(days)} ${days === 1 ? "day" : "days"}`,
        }}
      />
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => <RetentionForm account={account} />}
      </Dialog>
    </Panel>
  );
}

function RetentionForm({ account }: { readonly account: Details }) {
  const form = useForm({
    route: "PATCH /api/accounts/:account/retention",
    values: () => ({ days: account.receipts_days === null ? "" : String(account.receipts_days) }),
    toInput: ({ days }) => ({
      params: { account: account.id },
      body: { days: days.trim() === "" ? "none" : days.trim() },
    }),
    onDone: () => say("Retention saved."),
  });
  return (
    <FormDialog title={`Receipts of ${account.name}`} form={form} submit="Save changes">
      <TextInput
        label="Days to keep receipts"
        inputMode="numeric"
        placeholder="As long as those of all accounts"
        value={form.values.days}
        onChange={(event) => form.edit({ days: event.currentTarget.value })}
        error={fieldError(form.problem, "days")}
      />
      <p className="soft">
        Older receipts are deleted for good. They are not exported, and members no longer see them.
      </p>
    </FormDialog>
  );
}
