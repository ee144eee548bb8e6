import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { useChange } from "../../../queries.ts";
import classes from "./page.module.css";
import { ShownLink } from "./shown-link.tsx";

interface InviteDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function InviteDialog({ isOpen, onClose }: InviteDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Invite an operator">
      <InviteForm onClose={onClose} />
    </Modal>
  );
}

/** Inside the dialog, so that it begins anew each time. */
function InviteForm({ onClose }: Pick<InviteDialogProps, "onClose">) {
  const [email, setEmail] = useState("");
  const invite = useChange("POST /api/people/invites");
  if (invite.data !== undefined) return <ShownLink made={invite.data} onClose={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate({ body: { email: email.trim() } });
      }}
    >
      <Stack>
        <p className={classes.words}>
          An operator sees and changes everything: providers, prices, all accounts and all people.
          To let somebody into one account only, invite them there.
        </p>
        <TextInput
          label="Email (optional)"
          description="Then only somebody with this address can use the link."
          type="email"
          autoComplete="off"
          data-autofocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(invite.error, "email")}
        />
        <FormProblem problem={invite.error} fields={["email"]} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Make the link
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
