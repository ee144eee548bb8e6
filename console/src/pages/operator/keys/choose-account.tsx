import { Button, Group, Select, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { DialogBody, useDialog } from "../../../components/form/dialog.tsx";
import { useAccounts } from "../../../session.tsx";

/** In a dialog: a key belongs to an account, and its own page has the form. */
export function ChooseAccount() {
  const dialog = useDialog();
  const navigate = useNavigate();
  const accounts = useAccounts();
  const [chosen, setChosen] = useState<string | null>(null);
  const account = chosen ?? (accounts.length === 1 ? (accounts[0]?.id ?? null) : null);
  return (
    <DialogBody title="Create key">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (account !== null)
            void navigate({ to: "/a/$account/keys", params: { account }, search: { new: "1" } });
        }}
      >
        <Stack>
          <Select
            label="Account"
            description="Calls with the key are charged to it."
            placeholder="Choose an account"
            data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            value={account}
            onChange={setChosen}
            searchable
            limit={50}
            nothingFoundMessage="No matches."
            data-autofocus
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={dialog?.close}>
              Cancel
            </Button>
            <Button type="submit" disabled={account === null}>
              Continue
            </Button>
          </Group>
        </Stack>
      </form>
    </DialogBody>
  );
}
