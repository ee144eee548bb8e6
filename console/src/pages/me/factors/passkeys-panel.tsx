import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Panel } from "../../../components/layout/panel.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { passkeyPlace } from "../../../passkey-place.ts";
import classes from "./factors.module.css";
import { PasskeyPlaceNotice } from "./passkey-place-notice.tsx";
import type { FactorsView } from "./verified.tsx";
import { VerifiedButton } from "./verified-button.tsx";

type Passkey = FactorsView["passkeys"][number];

interface PasskeysPanelProps {
  readonly factors: FactorsView;
  readonly onAdd: () => void;
}

export function PasskeysPanel({ factors, onAdd }: PasskeysPanelProps) {
  const [place] = useState(passkeyPlace);
  const [renaming, setRenaming] = useState<Passkey>();
  const { passkeys } = factors;
  const isLast = factors.totp === null && passkeys.length === 1;
  const columns: readonly Column<Passkey>[] = [
    {
      header: "Passkey",
      cell: ({ name, host }) => (
        <div className="lines">
          <div>{name}</div>
          {host !== location.hostname && <small>Works at {host} only</small>}
        </div>
      ),
    },
    { header: "Added", cell: ({ added_at }) => <Moment at={added_at} />, isExtra: true },
    {
      header: "Last used",
      cell: ({ last_used_at: used }) => (used === null ? "Never" : <Moment at={used} />),
    },
    actionsColumn((passkey) => (
      <div className={classes.buttons}>
        <Button
          variant="default"
          size="compact-sm"
          aria-label={`Rename ${passkey.name}`}
          onClick={() => setRenaming(passkey)}
        >
          Rename
        </Button>
        <RemovePasskey passkey={passkey} isLast={isLast} />
      </div>
    )),
  ];
  return (
    <Panel
      title="Passkeys"
      about="Sign in with a fingerprint, a face, a PIN or a security key, with or without your password."
      actions={
        place.kind === "ready" && (
          <Button variant="default" onClick={onAdd}>
            Add passkey
          </Button>
        )
      }
      isFlush={passkeys.length > 0}
    >
      {place.kind !== "ready" && (
        <div className={passkeys.length > 0 ? "inset" : ""}>
          <PasskeyPlaceNotice place={place} />
        </div>
      )}
      {passkeys.length > 0 && (
        <DataTable
          caption="Your passkeys"
          columns={columns}
          rows={passkeys}
          rowKey={({ id }) => id}
        />
      )}
      {passkeys.length === 0 && place.kind === "ready" && <p className="soft">None.</p>}
      <Dialog of={renaming} onClose={() => setRenaming(undefined)}>
        {(passkey) => <RenamePasskey passkey={passkey} />}
      </Dialog>
    </Panel>
  );
}

function RenamePasskey({ passkey: { id, name } }: { readonly passkey: Passkey }) {
  const form = useForm({
    route: "PATCH /api/me/passkeys/:id",
    values: { name },
    toInput: (body) => ({ params: { id }, body }),
    onDone: () => say("Passkey renamed."),
  });
  return (
    <FormDialog title="Rename passkey" form={form} submit="Save">
      <TextInput label="Name" maxLength={100} {...form.text("name")} />
    </FormDialog>
  );
}

function RemovePasskey({
  passkey,
  isLast,
}: {
  readonly passkey: Passkey;
  readonly isLast: boolean;
}) {
  const { id, name } = passkey;
  return (
    <VerifiedButton
      question={`Remove the passkey “${name}”?`}
      consequence={
        isLast
          ? "Your password alone will sign you in. Your recovery codes stop working."
          : "It can no longer sign you in. Your device keeps its entry until you delete it there."
      }
      verb="Remove"
      route="DELETE /api/me/passkeys/:id"
      input={{ params: { id } }}
      onDone={() => say("Passkey removed.")}
      aria-label={`Remove ${name}`}
    >
      Remove
    </VerifiedButton>
  );
}
