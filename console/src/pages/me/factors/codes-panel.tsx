import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog, useDialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Panel } from "../../../components/layout/panel.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { Verified } from "./verified.tsx";

/** Few enough to think of new ones. */
const fewCodes = 3;

export function CodesPanel({ left }: { readonly left: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel
      title="Recovery codes"
      about="For signing in when you have lost your other factors. Each code works once."
    >
      <Group justify="space-between">
        <p>
          {left === 1 ? "1 code" : `${left} codes`} left.
          {left <= fewCodes && <strong> Create new ones before you run out.</strong>}
        </p>
        <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
          Create new codes
        </Button>
      </Group>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => (
          <Verified>
            <NewCodes />
          </Verified>
        )}
      </Dialog>
    </Panel>
  );
}

function NewCodes() {
  const dialog = useDialog();
  const form = useForm({
    route: "POST /api/me/recovery-codes",
    values: {},
    toInput: () => ({}),
    onDone: () => "stay",
  });
  const codes = form.reply?.recovery_codes ?? undefined;
  if (codes !== undefined)
    return (
      <RecoveryCodes
        codes={codes}
        onDone={() => {
          say("The old recovery codes no longer work.");
          dialog?.close();
        }}
      />
    );
  return (
    <FormDialog title="Create new recovery codes?" form={form} submit="Create codes" isDangerous>
      <p>Your current codes stop working immediately. The new ones are shown once.</p>
    </FormDialog>
  );
}
