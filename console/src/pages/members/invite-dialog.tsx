import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Reply } from "../../api.ts";
import { ShownOnce } from "../../components/code/shown-once.tsx";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { formatExact } from "../../format/moments.ts";
import { useChange } from "../../queries.ts";
import type { Role } from "../../session.tsx";
import { RoleChoice } from "./role-choice.tsx";

interface InviteDialogProps {
  readonly account: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function InviteDialog({ account, isOpen, onClose }: InviteDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Invite a member" size="md">
      <InviteForm account={account} onClose={onClose} />
    </Modal>
  );
}

/** Inside the dialog, so that it begins anew each time. */
function InviteForm({ account, onClose }: Pick<InviteDialogProps, "account" | "onClose">) {
  const [role, setRole] = useState<Role>("developer");
  const [email, setEmail] = useState("");
  const invite = useChange("POST /api/accounts/:account/invites");
  if (invite.data !== undefined) return <InviteLink invite={invite.data} onClose={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const given = email.trim();
        invite.mutate({ params: { account }, body: { role, ...(given && { email: given }) } });
      }}
    >
      <Stack>
        <RoleChoice value={role} onChange={setRole} error={fieldError(invite.error, "role")} />
        <TextInput
          label="Email (optional)"
          description="Then only somebody with this address can use the link."
          type="email"
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(invite.error, "email")}
        />
        <FormProblem problem={invite.error} fields={["role", "email"]} />
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

interface InviteLinkProps {
  readonly invite: Reply<"POST /api/accounts/:account/invites">;
  readonly onClose: () => void;
}

export function InviteLink({ invite, onClose }: InviteLinkProps) {
  return (
    <Stack>
      <ShownOnce secret={invite.link} what="the link">
        Copy the link now and send it yourself: no mail is sent, and it is not shown again.
      </ShownOnce>
      <p>
        One person can use it once, until <time>{formatExact(Date.parse(invite.expires_at))}</time>.
      </p>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
