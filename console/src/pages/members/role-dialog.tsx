import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import type { Reply } from "../../api.ts";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { useChange } from "../../queries.ts";
import { RoleChoice, roleWords } from "./role-choice.tsx";

export type Member = Reply<"GET /api/accounts/:account/members">["members"][number];

interface RoleDialogProps {
  readonly account: string;
  /** None: closed. */
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

export function RoleDialog({ account, member, onClose }: RoleDialogProps) {
  return (
    <Modal
      opened={member !== undefined}
      onClose={onClose}
      title={`The role of ${member === undefined ? "" : nameOf(member)}`}
      size="md"
    >
      {member !== undefined && <RoleForm account={account} member={member} onClose={onClose} />}
    </Modal>
  );
}

function RoleForm(props: RoleDialogProps & { readonly member: Member }) {
  const { account, member, onClose } = props;
  const [role, setRole] = useState(member.role);
  const change = useChange("PATCH /api/accounts/:account/members/:id", {
    onDone: () => {
      say(`${nameOf(member)} is now ${withArticle(roleWords[role].label)}.`);
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ params: { account, id: member.id }, body: { role } });
      }}
    >
      <Stack>
        <RoleChoice value={role} onChange={setRole} error={fieldError(change.error, "role")} />
        <FormProblem problem={change.error} fields={["role"]} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending} disabled={role === member.role}>
            Change the role
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export const nameOf = ({ name, email }: Member) => (name === "" ? email : name);
const withArticle = (label: string) => `${label === "Owner" ? "an" : "a"} ${label.toLowerCase()}`;
